"""An open world: its files, its place and its clock, and what happens there without anybody's doing.

The store holds the place as it is now. What is planned for a time at which the world was closed does not happen.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from ...graph.companion.companion import companion_graph
from ...graph.companion.records import PLACE, Records
from ...memory.recollection import discard
from ...memory.store import held_store, store
from ...nodes.companion.day_planning import is_behind
from ...personas.names import full_name
from ...state.companion import Happening, Tie, new_person_id, person_key, person_name
from ...state.companion.clock import time_in
from ...state.companion.events import changes_something, due, key_of, perceived, place_after
from ...state.companion.place import Place
from ...state.minds.memory import Memory
from ...state.minds.mind import Mind
from ...state.settings import Settings
from ..log import Log
from .events import Opened
from .folder import (
    WORLD,
    Store,
    Threads,
    companion_settings,
    is_world,
    locked,
    opened_file,
    opened_with,
    read_place,
    read_world,
)
from .personal_data import carried
from .reembedding import reembed, refusal
from .requests import DayLedger

_FIRED: Final = "fired"
"""Key of the record of the planned events that have happened and do not happen again."""


class Surroundings:
    """The surroundings of the agents of one world.

    Args:
        world: its id.
        store: LangGraph's.
        now: when the world was opened, ISO time.
    """

    def __init__(self, world: str, store: BaseStore, now: str) -> None:
        self._records, self._store, self._space = Records(world, store), store, (world, PLACE)
        self._since = now
        self._opened: Place | None = None
        self._known: dict[str, Place] = {}  # the place as each agent has seen it last
        self._waiting: dict[str, list[Happening]] = defaultdict(list)
        self._order = asyncio.Lock()

    async def noted(self, agent: str, events: Sequence[Happening]) -> list[Happening]:
        """Take in what a client says happens around an agent: objects change their states.

        Args:
            agent: its full name.
            events: what it perceives.

        Returns:
            The events without those that say what the agent knew already.
        """
        async with self._order:
            place = await self._place()
            return list(events) if place is None else await self._told(agent, place, events)

    async def passed(self, now: str) -> None:
        """Let time pass: planned events that are due happen, and wait for the agents that perceive them.

        Args:
            now: ISO time; a clock that is set back makes nothing happen.
        """
        async with self._order:
            since, self._since = self._since, now
            place = await self._place()
            if place is None or not place.events:
                return
            item = await self._store.aget(self._space, _FIRED)
            fired = list(item.value["keys"]) if item else []
            happens = due(place.events, since, now, fired)
            for event in happens:
                for agent in place.agents:
                    mind = await self._records.mind(agent.name)
                    at = (mind or {}).get("companion", {}).get("at") or place.home(agent)
                    self._waiting[agent.name] += await self._told(agent.name, place, perceived(event, place, at))
                place = await self._changed(place, event.happenings())
            once = [key_of(event) for event in happens if event.once]
            if once:
                await self._store.aput(self._space, _FIRED, {"keys": [*fired, *once]}, index=False)

    def is_due(self, place: Place, agent: str, now: str) -> bool:
        """Whether a planned event is due, or waits for an agent.

        Args:
            place: of the world.
            agent: its full name.
            now: ISO time.
        """
        return bool(self._waiting.get(agent) or due(place.events, self._since, now))

    def taken(self, agent: str) -> list[Happening]:
        """What has happened around an agent since it last perceived anything; it does not wait any longer."""
        return self._waiting.pop(agent, [])

    async def _place(self) -> Place | None:
        """The place as it is now."""
        place = await self._records.place()
        self._opened = self._opened or place
        return place

    async def _told(self, agent: str, place: Place, events: Iterable[Happening]) -> list[Happening]:
        """The events that are more than the agent knew of the place; the store has the place after them."""
        known = self._known.get(agent, self._opened or place)
        news = [one for one in events if changes_something(known, one)]
        self._known[agent] = place_after(known, news)
        await self._changed(place, news)
        return news

    async def _changed(self, place: Place, events: Sequence[Happening]) -> Place:
        after = place_after(place, events)
        if after != place:
            await self._records.keep_place(after)
        return after


_STEP_S: Final = 30
"""Seconds that a clock of steps moves at every occurrence."""
_CLOCK: Final = "clock"
"""Namespace and key of the clock's record: `time` of a game's clock, or `ahead_s` of the machine's."""


class Gate:
    """Lets some work side by side and others alone, in order of arrival; nobody may go in twice."""

    def __init__(self) -> None:
        self._gate, self._inside, self._empty = asyncio.Lock(), 0, asyncio.Event()
        self._empty.set()

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        """Once all changes that came before are over."""
        async with self._gate:
            self._inside += 1
            self._empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Once everything that came before is over; what comes after waits."""
        async with self._gate:
            await self._empty.wait()
            yield


class OpenWorld:
    """The files, the clock and the place of an open world, without its sessions.

    Attributes:
        folder: where it is kept.
        name: its id.
        place: its place, as it was when the world was opened; the store has its present state.
        settings: of all its talks.
        ledger: of all its requests.
        log: what has been said, and requests.
        graph: the companion's graph.
        threads: the newest checkpoints.
        store: LangGraph's, with its minds, ties, people and place.
        records: reads and writes these.
        surroundings: planned events, and the states of its objects.
        gate: those who use it side by side go in `beside`; while a person is forgotten, its files are closed.
    """

    name: str
    place: Place
    settings: Settings
    ledger: DayLedger
    log: Log
    graph: CompiledStateGraph[Any, Any, Any, Any]
    threads: Threads
    store: Store
    records: Records
    surroundings: Surroundings
    _clock: dict[str, Any]

    def __init__(self, folder: Path) -> None:
        self.folder, self.gate = folder, Gate()
        self._keeping = asyncio.Lock()
        self._open = ExitStack()

    # Beginning and end

    async def open(self, place: Place | None, settings: Settings | None, reembedding: bool = False) -> None:
        """Open what the folder holds; `opened_world` does so.

        Raises:
            InputError: as `opened_world`.
        """
        again = reembedding and is_world(self.folder)  # also by another model of the same name
        with ExitStack() as stack:
            known = await asyncio.to_thread(stack.enter_context, locked(self.folder, place, settings))
            self.place = await asyncio.to_thread(read_place, self.folder)
            used = settings or companion_settings(self.place, known.settings)
            if again or known.embedding != used.embedding:
                if not reembedding:
                    raise refusal(known, used.embedding, self.folder)
                await reembed(self.folder, known, used)
                known = await asyncio.to_thread(read_world, self.folder)
            await asyncio.to_thread(self._attach, stack, known, used)
            self._open = stack.pop_all()

    def _attach(self, stack: ExitStack, known: Opened, used: Settings) -> None:
        kept = stack.enter_context(opened_file(self.folder / WORLD))
        self.name, self.log, self.threads, self.store = known.world, kept.log, kept.threads, kept.store
        self.records = Records(self.name, self.store)
        self.log.append([opened_with(known, used)])
        own = used.companion.model_copy(update={"world": self.name})
        self.settings = used.model_copy(update={"store": str(self.folder / known.memories), "companion": own})
        self.graph = companion_graph(self.threads, self.store)
        found = self.store.get((self.name, _CLOCK), _CLOCK)
        self._clock = dict(found.value) if found else {}
        self.surroundings = Surroundings(self.name, self.store, self.now())
        stack.enter_context(held_store(self.settings.store))
        stack.callback(discard, self.name)
        self.ledger = DayLedger(self.log, f"world {self.folder}")

    async def close(self) -> None:
        """Close the folder's files; nothing may be under way."""
        await asyncio.to_thread(self._open.close)

    # Who is in it

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

    def memories(self, mind: Mind) -> dict[str, Memory]:
        """All memories of an agent by id, alive or not, saved or not. Blocks."""
        kept, agent = store(self.settings.store), mind["name"]
        saved = kept.load(self.name, agent, self.settings.embedding, kept.ids(self.name, agent))
        return {one: memory for one, (memory, _) in saved.items()} | {memory.id: memory for memory in carried(mind)}

    async def change_place(self, place: Place) -> None:
        """Replace the place: another agent, or other facts on one.

        Raises:
            MachineError: it cannot be kept.
        """
        self.place = place
        await self.records.keep_place(place)

    # The clock

    def now(self) -> str:
        """The time in the world, ISO to the second."""
        if self.place.clock.mode == "wall":
            now = datetime.now() + timedelta(seconds=self._clock.get("ahead_s", 0.0))
            return now.isoformat(timespec="seconds")
        return str(self._clock.get("time") or time_in(self.place.clock.start, where="clock.start"))

    async def advance(self, seconds: float) -> None:
        """Let time pass."""
        if self.place.clock.mode == "wall":
            await self._set_clock(ahead_s=self._clock.get("ahead_s", 0.0) + seconds)
        else:
            await self.set_time((datetime.fromisoformat(self.now()) + timedelta(seconds=seconds)).isoformat())

    async def set_time(self, time: str) -> None:
        """Set the clock.

        Args:
            time: ISO, or as the paper's clients write it.

        Raises:
            InputError: it is not a time.
        """
        at = time_in(time, where="time")
        if self.place.clock.mode == "wall":
            await self._set_clock(ahead_s=(datetime.fromisoformat(at) - datetime.now()).total_seconds())
        else:
            await self._set_clock(time=at)

    async def _set_clock(self, **clock: Any) -> None:
        self._clock = clock
        async with self._keeping:  # of several at once, the last one is kept last
            await self.store.aput((self.name, _CLOCK), _CLOCK, self._clock, index=False)

    async def tick(self) -> str:
        """The time of the next occurrence; a clock of steps moves by it."""
        if self.place.clock.mode == "steps":
            await self.advance(_STEP_S)
        return self.now()

    def silent(self, tie: Tie) -> bool:
        """Whether the open talk of a tie is over, because nobody has said anything for long."""
        if tie.talk is None:
            return False
        passed = datetime.fromisoformat(self.now()) - datetime.fromisoformat(tie.talk.last)
        return passed >= timedelta(minutes=self.settings.companion.silence_minutes)

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
