"""MOVEMESSAGEs: where agents are and what they perceive; those that wait for one under way are united."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

from ...runs.companion.changing import add_agent, copy_world, move_agent, rename_person, set_time, update_agent
from ...runs.companion.events import Answered
from ...runs.companion.folder import is_world
from ...runs.companion.open_world import Gate
from ...runs.companion.session import Companion
from ...runs.companion.world import World, opened_world
from ...runs.folder.lock import is_held
from ...state.companion import CompanionMind, Happening, person_key
from ...state.companion.clock import for_clients
from ...state.companion.day import action_at
from ...state.companion.game_messages import (
    AddedPersona,
    ChangedPersona,
    ChangedUser,
    GameEvent,
    GameMessage,
    Meta,
    Perceived,
    Prompt,
    Start,
    is_sim_code,
)
from ...state.errors import PerSimChatError
from .personas import added_agent, address_of, changed_agent, with_parts

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
            await world.advance(batch.steps * world.place.clock.sec_per_step)
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
        async with aclosing(companion.happen(events)) as course:
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


# What each message of a game does, and what is answered


AIMED: Final = 1_200
"""Bytes of a datagram that no network divides; a larger answer is divided by persona."""
MOST: Final = 8_192
"""The largest datagram that is sent."""
_MOST_TEXT: Final = 3_400
"""The most bytes of a text; escaped in JSON, it may have twice as many."""
_ENVELOPE: Final = 400
"""Bytes of a datagram besides `data`, at most: type, status, id."""

Data = dict[str, Any]


class Game:
    """The worlds of a server, and what its messages do to them.

    Args:
        default: the world that was there at the beginning; its owner closes it.
    """

    def __init__(self, default: World) -> None:
        self._default, self._place, self._world = default, default.place, default
        self._opened: AsyncExitStack | None = None
        self._gate = Gate()
        self._pairs: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._moves = Moves(default)

    @classmethod
    @asynccontextmanager
    async def open(cls, default: World) -> AsyncIterator[Game]:
        """A game that closes what it has opened."""
        game = cls(default)
        try:
            yield game
        finally:
            await game._go(default, None)

    async def answer(self, message: GameMessage) -> Sequence[Data]:
        """Do what a message says; the `data` of each datagram of the answer.

        Raises:
            PerSimChatError: it cannot be done.
        """
        match message.data:
            case Prompt() | Meta() | [*_] as data:
                async with self._gate.beside(), self._world.gate.beside():
                    return await self._carried_out(data)
            case Start() as start:
                async with self._gate.alone():
                    return [await self._start(start)]
            case data:
                async with self._gate.alone():
                    await self._moves.stop()
                    async with self._world.gate.alone():
                        return await self._carried_out(data)

    async def _carried_out(self, data: Any) -> Sequence[Data]:
        world = self._world
        match data:
            case Prompt():
                return [await self._said(world, data)]
            case [*perceived]:
                told, time = await self._moves.take(perceived)
                return divided(told, {"curr_time": time})
            case Meta():
                await set_time(world, data.curr_time or "", data.sec_per_step)
                self._moves.time_passed()
                return [{"curr_time": for_clients(world.now())}]
            case ChangedPersona(scratch_data=scratch):
                name = world.agent_named(data.name)
                after = changed_agent(world.place.agent(name), scratch, world.place)
                await update_agent(world, after)
                if scratch.curr_location is not None:
                    await move_agent(world, name, after.at)
                return [{"name": name}]
            case ChangedUser():
                self._moves = Moves(world)  # it knows people by their names
                return [{"name": await rename_person(world, data.old_name, data.name)}]
            case AddedPersona():
                place = with_parts(world.place, data.spatial_data)
                agent = added_agent(data, place)
                await add_agent(world, agent, place)
                return [{"name": agent.name}]
        raise AssertionError(f"no answer to {type(data).__name__}")

    async def _said(self, world: World, prompt: Prompt) -> Data:
        agent = world.agent_named(prompt.persona_name)
        pair = agent, person_key(prompt.user_name)
        async with self._pairs.setdefault(pair, asyncio.Lock()):
            companion = await world.companion(agent, prompt.user_name, introduced=False)
            self._moves.talked(agent, prompt.user_name)
            answered: Answered | None = None
            async with aclosing(companion.say(prompt.message)) as events:
                async for event in events:
                    if isinstance(event, Answered):
                        answered = event
                        if event.appraised:
                            break
        assert answered is not None, "an exchange without an error has an answer"
        return {
            "utt": within(answered.utterance),
            "emotion": answered.emotion,
            "trust_level": answered.trust,
            "end": answered.end,
        }

    async def _start(self, start: Start) -> Data:
        home, here = self._default.folder.resolve(), self._world.folder.resolve()
        folder = home.with_name(start.sim_code)
        copied: str | None = None
        if folder == home:
            await self._go(self._default, None)
        elif folder != here:
            if start.fork_sim_code == here.name:
                await self._go(self._default, None)  # a world is copied when it is closed
            copied = await asyncio.to_thread(_copied, folder, start.fork_sim_code)
            opened = AsyncExitStack()
            world = await opened.enter_async_context(opened_world(folder, self._place, self._default.settings))
            await self._go(world, opened)
        return {"sim_code": start.sim_code, "fork_sim_code": copied}

    async def _go(self, world: World, opened: AsyncExitStack | None) -> None:
        """Go to another world, and close the one that the game had opened."""
        before = self._opened
        await self._moves.stop()
        self._world, self._opened, self._moves = world, opened, Moves(world)
        self._pairs.clear()
        if before is not None:
            await before.aclose()


def divided(told: dict[str, dict[str, str]], meta: dict[str, str]) -> list[Data]:
    """The parts of a MoveResponse: as many personas in each as go into one datagram, and one at least."""
    parts: list[Data] = []
    for name, one in told.items():
        own = {name: {key: within(text) for key, text in one.items()}}
        joined = {"persona": {**(parts[-1]["persona"] if parts else {}), **own}, "meta": meta}
        if parts and len(json.dumps(joined, ensure_ascii=False).encode()) <= AIMED - _ENVELOPE:
            parts[-1] = joined
        else:
            parts.append({"persona": own, "meta": meta})
    return parts


def within(text: str) -> str:
    """A text that goes into one datagram."""
    if len(text.encode()) <= _MOST_TEXT:
        return text
    return text.encode()[: _MOST_TEXT - 3].decode(errors="ignore") + "…"


def _copied(folder: Path, fork: str | None) -> str | None:
    """Make a new world a copy of another one, if that is known and closed; its name, or None. Blocks."""
    if folder.exists() or fork is None or not is_sim_code(fork):
        return None
    source = folder.with_name(fork)
    if not is_world(source) or is_held(source):
        return None
    copy_world(source, folder)
    return fork
