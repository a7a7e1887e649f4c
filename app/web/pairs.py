"""One agent and one person, as every page of the two shows them: what they say, the tie, and the memories.

The talks belong to the server: without a tab, an answer is finished and digested, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from ...reports.world_export import remembered
from ...runs.companion.events import Answered, Event, Speaking, TalkOver, Token
from ...runs.companion.forgetting import Forgotten
from ...runs.companion.open_world import Gate
from ...runs.companion.session import Companion
from ...runs.companion.world import World
from ...state.companion import CompanionMind, Exchange, Happening, Label, Tie, person_key
from ...state.errors import PerSimChatError
from .crisis import speaks_of_harm

LOADED: Final = 1_000
"""The most exchanges of a pair that pages show, the last ones."""


class Pair:
    """One agent and one person, as every page of the two shows them.

    Args:
        companion: the session of the two.

    Attributes:
        exchanges: in order, without those that were taken back.
        tie: what the agent knows of the person; None if they have never talked.
        mind: what the agent's mind carries as a companion.
        said: the person's words that are being answered; empty if none are.
        words: the agent's words so far.
        emotion: the agent's, in one word.
        trust: 0–10.
        answering: whether an answer is under way.
        ending: whether the talk is being ended.
        care: whether words of the person were of self-harm or violence, and nobody has closed the notice.
        over: how the last talk ended; None while one is open.
        problem: why the last request failed; empty if it did not.
        gone: whether the agent has forgotten the person.
        revision: changes with everything above.
    """

    def __init__(self, companion: Companion) -> None:
        self.companion = companion
        self.exchanges: Sequence[Exchange] = ()
        self.tie: Tie | None = None
        self.mind: CompanionMind = {}
        self.said = ""
        self.words = ""
        self.emotion: Label = "neutral"
        self.trust = 5
        self.answering = False
        self.ending = False
        self.care = False
        self.over: TalkOver | None = None
        self.problem = ""
        self.gone = False
        self.revision = 0
        self._reading = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Read what has been said, and what the agent knows."""
        companion, world = self.companion, self.companion.world
        async with self._reading:
            said = await companion.exchanges(LOADED)
            self.tie = await companion.tie()
            mind = await world.mind(companion.agent) or {}
        self.exchanges = said
        self.mind = mind.get("companion", {})
        self.emotion = self.mind.get("label", "neutral")
        if self.tie is not None:
            self.trust = self.tie.trust
        self.revision += 1

    def say(self, text: str) -> None:
        """Say something to the agent; nothing happens while it is answering."""
        words = text.strip()
        if words and not self.answering:
            self.said, self.over = words, None
            self.care = self.care or speaks_of_harm(words)
            self._begin(self.companion.say(words))

    def happen(self, sentence: str) -> None:
        """Let something happen, which the agent perceives; nothing happens while it is answering."""
        what = sentence.strip()
        if what and not self.answering:
            event = Happening(subject="event", predicate="is", object=what[:200], description=what[:500])
            self._begin(self.companion.happen([event]))

    def end(self) -> None:
        """End the open talk; nothing happens while the agent is answering."""
        if not self.answering:
            self.ending = True
            self._begin(self.companion.end())

    async def change(self, how: Callable[..., Awaitable[object]], *given: object) -> None:
        """Have a fact pinned, edited or forgotten, and read again what is known.

        Args:
            how: one of the functions that do so, which takes the session of the two first.
            given: what it takes beside it.
        """
        async with self._gate.beside():
            await how(self.companion, *given)
            await self.load()

    async def talks(self) -> list[tuple[str, str]]:
        """The talks that are over: when they ended (ISO time), and their summaries."""
        companion = self.companion
        async with self._gate.beside():
            found = await remembered(companion)
        return [(one["at"], one["theme"]) for one in found["talks"]]

    async def refresh(self) -> None:
        """Read again what the world's clock or another client may have changed, between answers."""
        if not self.answering and not self.gone:
            async with self._gate.beside():
                await self.load()

    def close_care(self) -> None:
        """Close the notice of where help is."""
        self.care = False
        self.revision += 1

    async def pause(self) -> None:
        """Take no words, and wait until nothing is under way; `go_on` ends it."""
        self.answering = True
        self.revision += 1
        if self._tasks:
            await asyncio.wait(self._tasks)
        self.answering = True  # an answer that ended meanwhile has reset it

    def go_on(self, companion: Companion) -> None:
        """Take words again.

        Args:
            companion: the session of the two, from now on.
        """
        self.companion, self.answering = companion, False
        self.revision += 1

    def leave(self) -> None:
        """Keep nothing of what was said: the agent has forgotten the person."""
        self.exchanges, self.tie, self.over, self.gone = (), None, None, True
        self.said = self.words = self.problem = ""
        self.revision += 1

    @property
    def _gate(self) -> Gate:
        return self.companion.world.gate

    def _begin(self, events: AsyncIterator[Event]) -> None:
        self.answering, self.words, self.problem = True, "", ""
        self.revision += 1
        task = asyncio.get_running_loop().create_task(self._follow(events))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, events: AsyncIterator[Event]) -> None:
        """Show what the agent does, to the end of its digest; the next words may come before that."""
        async with self._gate.beside():
            await self._shown(events)

    async def _shown(self, events: AsyncIterator[Event]) -> None:
        answered = False
        try:
            async for event in events:
                if isinstance(event, Answered) and not answered:
                    answered = True
                    await self._settle()
                elif isinstance(event, Speaking) and not answered:
                    self.emotion, self.trust, self.words = event.emotion, event.trust, ""
                elif isinstance(event, Token) and not answered:
                    self.words += event.text
                elif isinstance(event, TalkOver):
                    self.over = event
                self.revision += 1
        except PerSimChatError as error:
            self.problem = str(error)
        finally:
            if not answered:
                await self._settle()
        await self.load()

    async def _settle(self) -> None:
        """The answer stands among the exchanges, or there is none; the next words may come."""
        try:
            await self.load()
        finally:
            self.words = ""
            if not self.problem:
                self.said = ""
            self.answering = self.ending = False
            self.revision += 1


class Pairs:
    """The pairs of the world that is open, each once."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], Pair] = {}

    async def of(self, world: World, agent: str, person: str) -> Pair:
        """The pair of an agent and a person.

        Args:
            world: the world that is open.
            agent: its name, or what stands for it.
            person: the person's name.

        Raises:
            InputError: there is no such agent, or the person's name is invalid.
        """
        key = (world.agent_named(agent), person_key(person))
        if key not in self._pairs:
            async with world.gate.beside():
                pair = Pair(await world.companion(key[0], person))
                await pair.load()
                self._pairs.setdefault(key, pair)
        return self._pairs[key]

    async def forget(self, world: World, agent: str, person: str) -> Forgotten:
        """Have an agent forget a person; pages of the two say so.

        Args:
            world: the world that is open.
            agent: its name.
            person: the person's name.

        Raises:
            InputError: they have never talked.
            MachineError: a file cannot be written.
        """
        for pair in list(self._pairs.values()):  # the world's files are closed meanwhile
            await pair.pause()
        try:
            forgotten = await world.forget(person, agent)
            if (gone := self._pairs.pop((agent, person_key(person)), None)) is not None:
                gone.leave()
        finally:
            async with world.gate.beside():
                for pair in list(self._pairs.values()):
                    pair.go_on(await world.companion(pair.companion.agent, pair.companion.person))
        return forgotten
