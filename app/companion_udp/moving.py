"""MOVEMESSAGEs: where agents are and what they perceive; those that wait for one under way are united."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, cast

from persimchat.app.companion_udp.personas import address_of
from persimchat.runs.companion.changing import move_agent
from persimchat.runs.companion.events import Answered, Event
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import World
from persimchat.state.clock import for_clients
from persimchat.state.companion import CompanionMind, Happening
from persimchat.state.day import action_at
from persimchat.state.errors import PerSimChatError
from persimchat.state.game_messages import GameEvent, Perceived

_PASSING_S: Final = 60
"""Seconds of the world's time after which agents are told that time has passed."""

Told = dict[str, str]
"""What an agent does: `plan`, and `chat`, its unasked words."""


@dataclass
class _Batch:
    """What came in since the last batch began.

    Attributes:
        at: the newest address of each agent, by full name; empty where none was given.
        events: what each perceives, without repetitions.
    """

    done: asyncio.Future[tuple[dict[str, Told], str]]
    steps: int = 0
    at: dict[str, str] = field(default_factory=dict)
    events: dict[str, dict[Happening, None]] = field(default_factory=dict)


class Moves:
    """The moves of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._order = asyncio.Lock()
        self._next: _Batch | None = None
        self._listeners: dict[str, str] = {}
        self._records = world.records
        self._passing: dict[str, asyncio.Task[None]] = {}
        self._passed: dict[str, str] = {}

    def talked(self, agent: str, person: str) -> None:
        """A person talks with an agent, and is from now on the one to whom it speaks unasked."""
        self._leave_the_forgotten()
        self._listeners[agent] = person

    async def take(self, perceived: Sequence[Perceived]) -> tuple[dict[str, Told], str]:
        """Let agents be where a game says, and perceive what it says.

        Returns:
            What each agent does, by the name that the game uses, and the world's time.

        Raises:
            InputError: an agent or a location is unknown; nothing is done then.
            PerSimChatError: a model or the machine failed.
        """
        names = {one.name: self._world.agent_named(one.name) for one in perceived}
        addresses = [self._address(names[one.name], one) for one in perceived]
        first = self._next is None
        batch = self._next = self._next or _Batch(asyncio.get_running_loop().create_future())
        batch.steps += 1
        for one, address in zip(perceived, addresses, strict=True):
            agent = names[one.name]
            batch.at[agent] = address or batch.at.get(agent, "")
            batch.events.setdefault(agent, {}).update(dict.fromkeys(map(_happening, one.events)))
        if first:
            await self._carry_out(batch)
        told, time = await batch.done
        return {name: told[agent] for name, agent in names.items()}, time

    def time_passed(self) -> None:
        """Tell the agents that time has passed, if it is long enough; they go on by themselves."""
        now = self._world.now()
        self._leave_the_forgotten()
        for agent in self._listeners:
            passed = datetime.fromisoformat(now) - datetime.fromisoformat(self._passed.get(agent, "0001-01-01"))
            if abs(passed.total_seconds()) >= _PASSING_S and (
                agent not in self._passing or self._passing[agent].done()
            ):
                self._passed[agent] = now
                self._passing[agent] = asyncio.create_task(self._pass_time(agent))

    async def stop(self) -> None:
        """Wait until nothing of it is under way."""
        await asyncio.gather(*self._passing.values())

    async def _carry_out(self, batch: _Batch) -> None:
        async with self._order:
            self._next = None
            try:
                batch.done.set_result(await self._told(batch))
            except Exception as error:  # noqa: BLE001  # all who wait for it get it
                batch.done.set_exception(error)
            finally:
                batch.done.cancel()  # changes nothing unless this task is cancelled

    async def _told(self, batch: _Batch) -> tuple[dict[str, Told], str]:
        world = self._world
        if world.place.clock.mode == "game":
            world.advance(batch.steps * world.place.clock.sec_per_step)
        self._leave_the_forgotten()
        for agent, address in batch.at.items():
            if agent not in self._listeners:
                self._listeners[agent] = await self._listener(agent)
            if address:
                await move_agent(world, agent, address)
        told = await asyncio.gather(*(self._does(agent, list(batch.events[agent])) for agent in batch.at))
        self.time_passed()
        return dict(zip(batch.at, told, strict=True)), for_clients(world.now())

    async def _does(self, agent: str, events: list[Happening]) -> Told:
        chat = ""
        companion = await self._companion(agent)
        async with aclosing(cast(AsyncGenerator[Event, None], companion.happen(events))) as course:
            async for event in course:
                if isinstance(event, Answered):
                    chat = event.utterance
                    break
        world, mind = self._world, await self._world.mind(agent)
        own = mind["companion"] if mind is not None else CompanionMind()
        plan = action_at(world.place.world, agent, own, world.now(), companion.person_id)
        return {"plan": plan, "chat": chat}

    def _leave_the_forgotten(self) -> None:
        """Name nobody any more once somebody was forgotten, for which the world's files were opened anew."""
        if self._records is not self._world.records:
            self._records = self._world.records
            self._listeners.clear()

    async def _companion(self, agent: str) -> Companion:
        return await self._world.companion(agent, self._listeners[agent], introduced=False)

    async def _pass_time(self, agent: str) -> None:
        with suppress(PerSimChatError):  # told at the next words
            async with self._world.gate.beside():
                await (await self._companion(agent)).pass_time()

    async def _listener(self, agent: str) -> str:
        """With whom the agent talked last; with nobody: the person of the settings."""
        ties = await self._world.records.ties(agent)
        last = max(ties, key=lambda tie: tie.talk.last if tie.talk else tie.last_met or tie.first_met, default=None)
        return last.name if last else self._world.settings.companion.person

    def _address(self, agent: str, perceived: Perceived) -> str:
        if perceived.curr_location is None:
            return ""
        place = self._world.place
        return address_of(place, perceived.curr_location, place.agent(agent).at)


def _happening(event: GameEvent) -> Happening:
    """An event; a subject with a colon is an address, every other one is somebody (the paper's code)."""
    return Happening(
        subject=event.action_event_subject,
        predicate=event.action_event_predicate or "is",
        object=event.action_event_object or "idle",
        description=event.action_event_description,
        person=":" not in event.action_event_subject,
    )
