"""What each message of a game does, and what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast
from weakref import WeakValueDictionary

from persimchat.app.companion_udp.moving import Moves
from persimchat.app.companion_udp.personas import added_agent, changed_agent, with_parts
from persimchat.runs.companion.changing import add_agent, copy_world, move_agent, rename_person, set_time, update_agent
from persimchat.runs.companion.events import Answered, Event
from persimchat.runs.companion.turnstile import Turnstile
from persimchat.runs.companion.world import World, opened_world
from persimchat.runs.companion.worldfile import is_world
from persimchat.runs.folder.lock import is_held
from persimchat.state.clock import for_clients
from persimchat.state.companion import person_key
from persimchat.state.errors import PerSimChatError
from persimchat.state.game_messages import (
    AddedPersona,
    AddPersonaMessage,
    ChangedPersona,
    GameMessage,
    MoveMessage,
    Prompt,
    PromptMessage,
    Start,
    StartMessage,
    UpdateMetaMessage,
    UpdatePersonaMessage,
    UpdateUserMessage,
    is_sim_code,
)
from persimchat.state.place import Place
from persimchat.state.settings import Settings

AIMED: Final = 1_200
"""Bytes of a datagram that no network divides; a larger answer is divided by persona."""
MOST: Final = 8_192
"""The largest datagram that is sent."""
_MOST_TEXT: Final = 3_400
"""The most bytes of a text; escaped in JSON, it may have twice as many."""
_ENVELOPE: Final = 400
"""Bytes of a datagram besides `data`, at most: type, status, id."""

Data = dict[str, Any]


class Opened:
    """A world that a game has opened. A task of its own holds it, because one task must open and close it.

    Args:
        folder: the world's.
        place: of a new world.
        settings: of its talks.
    """

    def __init__(self, folder: Path, place: Place, settings: Settings) -> None:
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[World] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(folder, place, settings))

    async def world(self) -> World:
        """The open world.

        Raises:
            PerSimChatError: it could not be opened.
        """
        return await asyncio.shield(self._ready)

    async def close(self) -> None:
        """Close it, once it is settled."""
        self._leave.set()
        await self._task

    async def _hold(self, folder: Path, place: Place, settings: Settings) -> None:
        try:
            async with opened_world(folder, place, settings) as world:
                self._ready.set_result(world)
                await self._leave.wait()
        except PerSimChatError as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)


class Game:
    """The worlds of a server, and what its messages do to them.

    Args:
        default: the world that was there at the beginning; its owner closes it.
    """

    def __init__(self, default: World) -> None:
        self._default, self._place, self._world = default, default.place, default
        self._opened: Opened | None = None
        self._turnstile = Turnstile()
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
        match message:
            case PromptMessage(data=prompt):
                async with self._turnstile.beside(), self._world.gate.beside():
                    return [await self._said(self._world, prompt)]
            case MoveMessage(data=perceived):
                async with self._turnstile.beside(), self._world.gate.beside():
                    told, time = await self._moves.take(perceived)
                return divided(told, {"curr_time": time})
            case UpdateMetaMessage(data=meta):
                async with self._turnstile.beside(), self._world.gate.beside():
                    await set_time(self._world, meta.curr_time or "", meta.sec_per_step)
                    self._moves.time_passed()
                    return [{"curr_time": for_clients(self._world.now())}]
        async with self._turnstile.alone():
            if isinstance(message, StartMessage):
                return [await self._start(message.data)]
            await self._moves.stop()
            async with self._world.gate.alone():
                match message:
                    case UpdatePersonaMessage(data=changed):
                        return [await self._update(changed)]
                    case UpdateUserMessage(data=user):
                        self._moves = Moves(self._world)  # it knows people by their names
                        return [{"name": await rename_person(self._world, user.old_name, user.name)}]
                    case AddPersonaMessage(data=added):
                        return [await self._add(added)]
        raise AssertionError(f"no answer to {type(message).__name__}")

    async def _said(self, world: World, prompt: Prompt) -> Data:
        agent = world.agent_named(prompt.persona_name)
        pair = agent, person_key(prompt.user_name)
        async with self._pairs.setdefault(pair, asyncio.Lock()):
            companion = await world.companion(agent, prompt.user_name, introduced=False)
            self._moves.talked(agent, prompt.user_name)
            answered: Answered | None = None
            async with aclosing(cast(AsyncGenerator[Event, None], companion.say(prompt.message))) as events:
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
            opened = Opened(folder, self._place, self._default.settings)
            try:
                world = await opened.world()
            except asyncio.CancelledError:
                await opened.close()
                raise
            await self._go(world, opened)
        return {"sim_code": start.sim_code, "fork_sim_code": copied}

    async def _update(self, changed: ChangedPersona) -> Data:
        world, scratch = self._world, changed.scratch_data
        name = world.agent_named(changed.name)
        after = changed_agent(world.place.agent(name), scratch, world.place)
        await update_agent(world, after)
        if scratch.curr_location is not None:
            await move_agent(world, name, after.at)
        return {"name": name}

    async def _add(self, added: AddedPersona) -> Data:
        world = self._world
        place = with_parts(world.place, added.spatial_data)
        agent = added_agent(added, place)
        await add_agent(world, agent, place)
        return {"name": agent.name}

    async def _go(self, world: World, opened: Opened | None) -> None:
        """Go to another world, and close the one that the game had opened."""
        before = self._opened
        await self._moves.stop()
        self._world, self._opened, self._moves = world, opened, Moves(world)
        self._pairs.clear()
        if before is not None:
            await before.close()


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
