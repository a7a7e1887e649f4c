"""A world with its sessions: who talks with whom, forgetting, and what goes on when nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from ...state.companion import person_key
from ...state.companion.place import Place
from ...state.errors import MachineError, PerSimChatError
from ...state.settings import Settings
from ..threads import in_thread
from .forgetting import Forgotten, forget
from .open_world import OpenWorld
from .session import Companion

WATCH_S: Final = 20.0
"""Seconds between two looks at a clock that runs by itself."""


class World(OpenWorld):
    """An open world, and the sessions in it; `opened_world` opens it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._companions: dict[tuple[str, str], Companion] = {}
        self._opening = asyncio.Lock()

    async def look_after(self, *, clock: bool = True) -> None:
        """Work off in the background what nobody waits for: answers not digested, talks that are over.

        Args:
            clock: whether planned events and the agents' days go on, too, for those in a talk.
        """
        async with self.gate.beside():
            names = {one["id"]: one["name"] for one in await self.people()}
            for agent, tie in [(one, tie) for one in self.agents for tie in await self.records.ties(one)]:
                if tie.person in names:
                    companion = await self.companion(agent, names[tie.person])
                    moved = clock and tie.talk is not None and await self.has_moved_on(agent)
                    if companion.pending or tie.over or self.silent(tie) or moved:
                        companion.catch_up()

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        for companion in list(self._companions.values()):
            await companion.settled()

    async def stop(self) -> None:
        """Stop what is under way; the next opening goes on with it."""
        await asyncio.gather(*(companion.stop() for companion in self._companions.values()))

    async def watch(self) -> None:
        """While a clock runs by itself, let time pass in open talks: silence, planned events, the day."""
        while self.place.clock.mode == "wall":
            await asyncio.sleep(WATCH_S)
            with suppress(PerSimChatError):
                await self.look_after()

    async def companion(self, agent: str, person: str, *, introduced: bool | None = None) -> Companion:
        """The session of an agent and a person; one for each pair.

        Args:
            agent: its name, in full or in part.
            person: the person's name; persons are told apart without regard to case.
            introduced: whether they know each other by name when they meet; None: as settings and place say.

        Raises:
            InputError: there is no such agent, or the name of the person is empty or too long.
        """
        known = await self.person(person)
        pair = self.agent_named(agent), known["id"]
        async with self._opening:
            before = self._companions.get(pair)
            if before is None or person_key(before.person) != person_key(known["name"]):  # they have another name now
                made = Companion(self, pair[0], known, introduced=introduced)
                await in_thread(made.take_up)
                self._companions[pair] = made
            return self._companions[pair]

    async def forget(self, person: str, agent: str | None = None, *, mentions: bool = False) -> Forgotten:
        """Delete what the world holds of a person. What is under way is over first; what comes meanwhile waits.

        Args:
            person: the person's name.
            agent: who forgets; None: all agents.
            mentions: whether other people's memories that have the name go too.

        Raises:
            InputError: there is no such person or agent.
            MachineError: a file cannot be written; all is as it was.
        """
        async with self.gate.alone():
            who = (await self.person(person))["id"]
            await self.settled()
            await self.close()
            try:
                told = await asyncio.to_thread(forget, self.folder, person, agent, mentions=mentions)
            finally:
                await self.open(None, self.settings)
            for name in told.agents:
                self._companions.pop((name, who), None)
        return told


@asynccontextmanager
async def opened_world(
    folder: Path, place: Place | None = None, settings: Settings | None = None, *, reembedding: bool = False
) -> AsyncIterator[World]:
    """Open a world, and close it afterwards; a new one is made of the place.

    Closing ends no talk. It waits for what is under way; after an error or a signal it stops it instead, and the next
    opening goes on with it.

    Args:
        folder: the world's.
        place: for a new world; an old one has its own, which counts.
        settings: of its talks; None: those with which it was last opened.
        reembedding: whether memories that were kept with another embedding may be embedded again.

    Raises:
        InputError: another process works on it, the folder holds no world and no place is given, or its memories were
            kept with another embedding.
        MachineError: the machine stopped it.
    """
    world = World(folder)
    try:
        await world.open(place, settings, reembedding)
    except MachineError as error:
        raise error.before_the_start() from error
    try:
        await world.look_after(clock=False)
        watching = asyncio.create_task(world.watch(), name=f"clock of {world.name}")
        try:
            yield world
        finally:
            watching.cancel()
            await asyncio.wait([watching])
        await world.settled()
    finally:
        await world.stop()
        await world.close()
