"""From a request to the agent's answer: what is new is said in the pair's session, and the answer comes in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, cast

from persimchat.app.web.v1.answers import Done
from persimchat.app.web.v1.bodies import LONGEST_INSTRUCTIONS, ChatRequest, Message
from persimchat.app.web.v1.cutting import Cut
from persimchat.app.web.v1.history import COMPARED, Window, compare, digest, unasked
from persimchat.prompts.blocks import estimated_tokens
from persimchat.runs.companion.events import Answered, Event, Speaking, Token
from persimchat.runs.companion.plain import plain_answer
from persimchat.runs.companion.session import Companion
from persimchat.runs.companion.world import World
from persimchat.state.errors import ModelError
from persimchat.state.plain_text import shortened

_UNASKED: Final = 4
"""The last exchanges among which words that nobody asked for are looked for."""
_WINDOWS: Final = 1_000
"""For so many pairs and talks the last answers are remembered."""


@dataclass
class _Pair:
    """One agent and one person: their requests are answered one after another."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Talking:
    """Lets clients talk with the agents of a world.

    Args:
        world: the world.
        instructed: whether a client's system messages reach the agent, as data.
    """

    def __init__(self, world: World, *, instructed: bool) -> None:
        self._world, self._instructed = world, instructed
        self._pairs: dict[tuple[str, str], _Pair] = {}
        self._windows: dict[tuple[str, str, str], Window] = {}
        self._answers: set[asyncio.Task[None]] = set()

    async def plain(self, request: ChatRequest, person: str) -> AsyncGenerator[str | Done, None]:
        """The bare model's answer, which nobody remembers; comes as a whole.

        Args:
            request: what the client sends.
            person: the name of the person for whom it asks.

        Raises:
            ModelError: the model failed.
            BudgetExhausted: the world's budget of the day is used up.
        """
        said = [(message.role, message.words) for message in request.messages if message.words]
        async with self._world.gate.beside():
            answer = await plain_answer(
                self._world,
                said,
                person=(await self._world.person(person))["id"],
                tokens=request.cut,
                temperature=request.temperature,
                seed=request.seed,
            )
        cut = Cut(request.stops, request.cut)
        text = cut.take(answer) + cut.rest()
        if text:
            yield text
        yield _done(cut, request, {})

    async def words(
        self, request: ChatRequest, *, agent: str, person: str, talk: str
    ) -> AsyncGenerator[str | Done, None]:
        """An agent's answer. It comes to its end even if the client stops reading, which may ask for another then.

        Args:
            request: what the client sends.
            agent: the agent's full name.
            person: the person's name.
            talk: the client's name for its talk; empty for the pair's open one.

        Yields:
            The words as they come, then the end.

        Raises:
            InputError: there is nothing new in the request.
            ModelError: the model failed; the person's words are kept.
            BudgetExhausted: the world's budget of the day is used up.
        """
        pieces: asyncio.Queue[str | Done | None] = asyncio.Queue()

        async def answering() -> None:
            try:
                async with self._world.gate.beside(), aclosing(self._words(request, agent, person, talk)) as found:
                    async for piece in found:
                        pieces.put_nowait(piece)
            finally:
                pieces.put_nowait(None)

        task = asyncio.create_task(answering())
        self._answers.add(task)
        task.add_done_callback(self._seen)
        while (piece := await pieces.get()) is not None:
            yield piece
        await task  # raises why there is no answer

    def _seen(self, task: asyncio.Task[None]) -> None:
        """Look at an error that no client may wait for, so that asyncio does not report it."""
        self._answers.discard(task)
        if not task.cancelled():
            task.exception()

    async def _words(
        self, request: ChatRequest, agent: str, person: str, talk: str
    ) -> AsyncGenerator[str | Done, None]:
        new = request.words()
        companion = await self._world.companion(agent, person)
        window = self._window(agent, companion.person_id, talk)
        async with self._pairs.setdefault((agent, companion.person_id), _Pair()).turn:
            shown, tries, before = await self._prepared(companion, request.said, window)
            cut, spoken, answered = Cut(request.stops, request.cut), "", None
            events = companion.say(
                new,
                talk=talk,
                seed=(request.seed or 0) % 2**31 + tries,
                temperature=request.temperature,
                shown=shown,
                instructions=self._instructions(request),
            )
            async with aclosing(cast("AsyncGenerator[Event, None]", events)):
                async for event in events:
                    if isinstance(event, Token) and request.stream:
                        text = cut.take(event.text if spoken else before + event.text)
                        spoken += event.text
                        if text:
                            yield text
                    elif isinstance(event, Speaking) and spoken:  # the first words were unusable; these are others
                        spoken = ""
                        if text := cut.take("\n\n"):
                            yield text
                    elif isinstance(event, Answered):
                        answered = event
                        break  # the judgements of what was said go on by themselves
            if answered is None:
                raise ModelError("the agent has not answered", agent=agent, model="", remedy="Try again.")
            rest = answered.utterance.removeprefix(spoken) if answered.utterance.startswith(spoken) else ""
            text = cut.take(rest if spoken else before + rest) + cut.rest()
            window.told(answered.id, cut.text, digest(request.said[:-1]), tries)
        if text:
            yield text
        about = {"emotion": answered.emotion, "trust": answered.trust, "end": answered.end, "talk": answered.talk}
        yield _done(cut, request, about)

    async def _prepared(
        self, companion: Companion, lines: Sequence[Message], window: Window
    ) -> tuple[Sequence[Any], int, str]:
        """Take the last exchange back if the client wants that.

        Returns:
            The lines to show, how often an answer was tried, and what comes before it: what the agent said unasked.
        """
        exchanges = await companion.exchanges(COMPARED if len(lines) > 1 else _UNASKED)
        found = compare(lines, exchanges, window, person=companion.person, agent=companion.agent)
        taken_back = found.again and await companion.retract()
        if taken_back:
            exchanges = await companion.exchanges(_UNASKED)
        new = "".join(f"{words}\n\n" for words in unasked(exchanges, self._world.now()))
        return found.shown, window.tries + 1 if taken_back and found.same else 0, new

    def _instructions(self, request: ChatRequest) -> str:
        text = request.instructions if self._instructed else ""
        return shortened(text, LONGEST_INSTRUCTIONS) if text else ""

    def _window(self, agent: str, person: str, talk: str) -> Window:
        window = self._windows.pop((agent, person, talk), None) or Window()
        self._windows[agent, person, talk] = window
        while len(self._windows) > _WINDOWS:
            del self._windows[next(iter(self._windows))]
        return window


def _done(cut: Cut, request: ChatRequest, about: dict[str, Any]) -> Done:
    given = sum(estimated_tokens(message.words) for message in request.messages)
    return Done(cut.text, cut.reason, given, cut.tokens, about)
