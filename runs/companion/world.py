"""A world: one place with its agents, the people who talk with them, its clock and all memories, in one folder.

One process works on a world. All its talks share one event loop: many pairs talk at once, and the digests of one agent
run one after the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.store.sqlite.aio import AsyncSqliteStore

from persimchat.graph.companion.companion import companion_graph
from persimchat.graph.companion.records import Records
from persimchat.memory.recollection import discard
from persimchat.memory.store import held_store
from persimchat.nodes.day_planning import is_behind
from persimchat.personas.names import full_name
from persimchat.runs.companion.budget import DayLedger, beside, made_on
from persimchat.runs.companion.exchanges import ExchangesFile
from persimchat.runs.companion.reembedding import MEMORIES, reembed, refusal
from persimchat.runs.companion.renewing import settle
from persimchat.runs.companion.stores import ThreadSaver, opened_stores
from persimchat.runs.companion.surroundings import Surroundings
from persimchat.runs.companion.turnstile import Turnstile
from persimchat.runs.companion.worldfile import (
    known_world,
    local_time,
    locked,
    make_room,
    opened_with,
    write_place,
    write_world,
)
from persimchat.runs.folder.calls import CallsFile
from persimchat.state.clock import time_in
from persimchat.state.companion import Tie, new_person_id, person_key, person_name
from persimchat.state.errors import MachineError, PerSimChatError
from persimchat.state.mind import Mind
from persimchat.state.place import Place
from persimchat.state.settings import Settings

if TYPE_CHECKING:
    from persimchat.runs.companion.forgetting import Forgotten
    from persimchat.runs.companion.session import Companion

_STEP_S: Final = 30
"""Seconds that a clock of steps moves at every occurrence."""
WATCH_S: Final = 20.0
"""Seconds between two looks at a clock that runs by itself."""


class World:
    """An open world.

    Attributes:
        folder: where it is kept.
        name: its id.
        place: its place, as it was when the world was opened; the store has its present state.
        settings: of all its talks.
        ledger: of all its requests.
        graph: the companion's graph.
        saver: the checkpoints of its threads.
        store: LangGraph's, with its minds, ties, people and place.
        records: reads and writes these.
        said: its exchanges that are over.
        surroundings: planned events, and the states of its objects.
        gate: those who use it side by side go in `beside`; while a person is forgotten, its files are closed.
    """

    ledger: DayLedger
    graph: CompiledStateGraph[Any, Any, Any, Any]
    saver: ThreadSaver
    store: AsyncSqliteStore
    records: Records
    said: ExchangesFile
    surroundings: Surroundings

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gate = Turnstile()
        self._companions: dict[tuple[str, str], Companion] = {}
        self._open = AsyncExitStack()

    @property
    def agents(self) -> list[str]:
        """The full names of its agents."""
        return [agent.name for agent in self.place.agents]

    def agent_named(self, name: str) -> str:
        """The full name of an agent.

        Args:
            name: in full or in part; empty: the agent of the settings, else the first of the place.

        Raises:
            InputError: there is no such agent, or several; the error names the nearest.
        """
        wanted = name.strip() or self.settings.companion.agent
        return full_name(wanted, self.agents, what="agent", where=f"world {self.name}") if wanted else self.agents[0]

    async def companion(self, agent: str, person: str, *, introduced: bool | None = None) -> Companion:
        """The session of an agent and a person; one for each pair.

        Args:
            agent: its name, in full or in part.
            person: the person's name; persons are told apart without regard to case.
            introduced: whether they know each other by name when they meet; None: as settings and place say.

        Raises:
            InputError: there is no such agent, or the name of the person is empty or too long.
        """
        from persimchat.runs.companion.session import Companion

        known = await self.person(person)
        pair = self.agent_named(agent), known["id"]
        before = self._companions.get(pair)
        if before is None or person_key(before.person) != person_key(known["name"]):  # the person has another name now
            made = Companion(self, pair[0], known, introduced=introduced)
            await made.load()
            if self._companions.get(pair) is before:
                self._companions[pair] = made
        return self._companions[pair]

    async def person(self, name: str) -> dict[str, str]:
        """`id` and `name` of a person: the one known, or a new one, who is written down at the first words.

        Raises:
            InputError: the name is empty or too long.
        """
        shown = person_name(name)
        found = await self.store.aget((self.name, "people"), person_key(shown))
        return dict(found.value) if found else {"id": new_person_id(shown), "name": shown}

    async def people(self) -> list[dict[str, str]]:
        """All who have talked with an agent, `id` and `name`, by name."""
        return await self.records.people()

    async def tie(self, agent: str, person: str) -> Tie | None:
        """What an agent knows of a person; None if they have never talked.

        Args:
            agent: its name, in full or in part.
            person: the person's name, or id.
        """
        who = self.agent_named(agent)
        return await self.records.tie(who, person) or await self.records.tie(who, (await self.person(person))["id"])

    async def mind(self, agent: str) -> Mind | None:
        """The mind of an agent; None before its first talk."""
        return await self.records.mind(self.agent_named(agent))

    # The clock

    def now(self) -> str:
        """The time in the world, ISO to the second."""
        if self.place.clock.mode == "wall":
            return local_time(datetime.now() + timedelta(seconds=self._file.ahead_s))
        return self._file.time or time_in(self.place.clock.start, where="clock.start")

    def advance(self, seconds: float) -> None:
        """Let time pass.

        Raises:
            MachineError: the time cannot be kept.
        """
        if self.place.clock.mode == "wall":
            self._keep(ahead_s=self._file.ahead_s + seconds)
        else:
            self._keep(time=local_time(datetime.fromisoformat(self.now()) + timedelta(seconds=seconds)))

    def set_time(self, time: str) -> None:
        """Set the clock.

        Args:
            time: ISO, or as the paper's clients write it.

        Raises:
            InputError: it is not a time.
            MachineError: the time cannot be kept.
        """
        at = time_in(time, where="time")
        if self.place.clock.mode == "wall":
            self._keep(ahead_s=(datetime.fromisoformat(at) - datetime.now()).total_seconds())
        else:
            self._keep(time=at)

    def tick(self) -> str:
        """The time of the next occurrence; a clock of steps moves by it."""
        if self.place.clock.mode == "steps":
            self.advance(_STEP_S)
        return self.now()

    async def has_moved_on(self, agent: str) -> bool:
        """Whether time brings an agent something: a planned event, a day to plan, an entry of its day that begins.

        It brings nothing any more when so many of the day's requests are made that nobody speaks unasked.

        Args:
            agent: its full name.
        """
        if not self.ledger.may_speak_unasked(self.settings):
            return False
        if self.surroundings.is_due(self.place, agent, self.now()):
            return True
        mind = await self.records.mind(agent)
        return mind is not None and is_behind(mind["companion"], self.place, self.place.agent(agent), self.now())

    async def change_place(self, place: Place) -> None:
        """Replace the place: another agent, or other facts on one.

        Raises:
            MachineError: it cannot be kept.
        """
        await asyncio.to_thread(write_place, self.folder, place)
        self.place = place
        await self.records.keep_place(place)

    # Beginning and end

    async def open(self, place: Place | None, settings: Settings | None, reembedding: bool = False) -> None:
        """Open what the folder holds; `opened_world` does so.

        Raises:
            InputError: as `opened_world`.
        """
        folder = self.folder
        async with AsyncExitStack() as stack:
            await asyncio.to_thread(make_room, folder, place)
            await asyncio.to_thread(stack.enter_context, locked(folder))
            await asyncio.to_thread(settle, folder)
            file, self.place, used = await asyncio.to_thread(known_world, folder, place, settings)
            self.name = file.world
            own = used.companion.model_copy(update={"world": file.world})
            used = used.model_copy(update={"store": str(folder / MEMORIES), "companion": own})
            if file.embedding != used.embedding:
                if not reembedding:
                    raise refusal(file, used.embedding, folder)
                file = await reembed(folder, file, used)
            self.settings, self._file = used, opened_with(file, used)
            await asyncio.to_thread(write_world, folder, self._file)
            self.saver, self.store = await stack.enter_async_context(opened_stores(folder))
            self.records = Records(self.name, self.store)
            self.graph = companion_graph(self.saver, self.store)
            self.surroundings = Surroundings(self.name, self.store, self.now())
            await asyncio.to_thread(stack.enter_context, held_store(used.store))
            stack.callback(discard, self.name)
            sink = await asyncio.to_thread(CallsFile, folder, beside)
            stack.callback(sink.close)
            self.said = await asyncio.to_thread(ExchangesFile, folder)
            stack.callback(self.said.close)
            made = await asyncio.to_thread(made_on, folder, datetime.now().date().isoformat())
            self.ledger = DayLedger(sink, made, f"world {folder}")
            if await self.records.place() is None:
                await self.records.keep_place(self.place)
            self._open = stack.pop_all()

    async def close(self) -> None:
        """Close the folder's files; nothing may be under way."""
        await self._open.aclose()

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
        from persimchat.runs.companion.forgetting import forget

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

    async def recover(self) -> None:
        """Work off what an earlier process left: answers that are not digested, talks that are over."""
        for companion in await self._unfinished():
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
            async with self.gate.beside():
                for companion in list(self._companions.values()):
                    with suppress(PerSimChatError):
                        await self._watched(companion)

    async def _watched(self, companion: Companion) -> None:
        tie = await companion.tie()
        if tie is None or tie.talk is None:
            return
        if self.silent(tie) or await self.has_moved_on(companion.agent):
            companion.catch_up()

    async def _unfinished(self) -> list[Companion]:
        names = {one["id"]: one["name"] for one in await self.people()}
        found: list[Companion] = []
        for agent, tie in [(name, tie) for name in self.agents for tie in await self.records.ties(name)]:
            if tie.person not in names:
                continue
            companion = await self.companion(agent, names[tie.person])
            if companion.pending or tie.over or (tie.talk is not None and self.silent(tie)):
                found.append(companion)
        return found

    def silent(self, tie: Tie) -> bool:
        """Whether the open talk of a tie is over, because nobody has said anything for long."""
        if tie.talk is None:
            return False
        passed = datetime.fromisoformat(self.now()) - datetime.fromisoformat(tie.talk.last)
        return passed >= timedelta(minutes=self.settings.companion.silence_minutes)

    def _keep(self, **changed: Any) -> None:
        self._file = self._file.model_copy(update=changed)
        write_world(self.folder, self._file)


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
        await world.recover()
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
