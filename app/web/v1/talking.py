"""Compares the history that a client sends with the transcript, which alone is true."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final, Literal, TypeVar

from ....graph.companion.attending import LONGEST_MESSAGE
from ....prompts.blocks import estimated_tokens
from ....runs.companion.events import Answered, Speaking, Token
from ....runs.companion.requests import plain_answer
from ....runs.companion.session import Companion
from ....runs.companion.world import World
from ....state.companion import Exchange
from ....state.errors import ModelError
from ....state.plain_text import shortened
from .bodies import LONGEST_INSTRUCTIONS, ChatRequest, Done, Message

COMPARED: Final = 200
"""The last exchanges with which a client's lines are compared."""
SHOWN: Final = 24
"""The most lines of an unknown history that an agent gets."""
_SENT: Final = 8
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_NEW_MINUTES: Final = 10
"""Words that nobody asked for come with the next answer if they are not older; else they stay a memory."""


def put_last(kept: dict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Keep a value as the latest; of more than so many, those that were put longest ago are forgotten."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]


@dataclass
class Window:
    """What this server last told a client of one pair and talk.

    Attributes:
        before: digest of the history that came with the last exchange.
        exchange: id of that exchange.
        tries: how often the same words were answered again.
        sent: what clients saw of the last answers, by exchange; it may be cut, or differ in wording.
    """

    before: str = ""
    exchange: str = ""
    tries: int = 0
    sent: dict[str, str] = field(default_factory=dict)

    def told(self, exchange: str, text: str, before: str, tries: int) -> None:
        """Note what a client saw of an answer."""
        self.before, self.exchange, self.tries = before, exchange, tries
        put_last(self.sent, exchange, text, _SENT)


@dataclass(frozen=True)
class Compared:
    """What a request means.

    Attributes:
        again: whether the last exchange is taken back: the client wants another answer, or has changed its words.
        same: whether the words are the same as then.
        shown: lines that the transcript does not have, as `speaker` and `text`.
    """

    again: bool
    same: bool
    shown: tuple[Mapping[str, str], ...]


def digest(lines: Sequence[Message]) -> str:
    """What tells one history from another."""
    told = [(line.role, _bare(line.words)) for line in lines]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


def compare(
    lines: Sequence[Message], exchanges: Iterable[Exchange], window: Window, *, person: str, agent: str
) -> Compared:
    """Compare a client's history with the transcript.

    The last exchange is taken back if the client has an answer before it and not its own. With other words, the client
    must besides have sent the very history that it sent then: it could be another window.

    Args:
        lines: the client's lines, the new words last.
        exchanges: the pair's last exchanges, in order.
        window: what this server last told the client.
        person: the person's name.
        agent: the agent's name.
    """
    *earlier, new = lines
    known = [exchange for exchange in exchanges if exchange["said"]]
    answers = [line.words for line in earlier if line.role == "assistant"]
    again = same = False
    if known and answers and not _is_answer(answers[-1], known[-1], window):
        same = _bare(new.words) == _bare(known[-1]["said"])
        follows = len(known) > 1 and _is_answer(answers[-1], known[-2], window)
        repeats = window.exchange == known[-1]["id"] and window.before == digest(earlier)
        again = (repeats or follows) if same else (repeats and follows)
    shown = _unknown(earlier, known, window, person=person, agent=agent)
    return Compared(again, again and same, shown)


def unasked(exchanges: Sequence[Exchange], now: str) -> list[str]:
    """What the agent has said unasked since the person's last words, and not too long ago: no client has it yet.

    Args:
        exchanges: the pair's last ones, in order.
        now: the time in the world, ISO.
    """
    since = datetime.fromisoformat(now) - timedelta(minutes=_NEW_MINUTES)
    last = takewhile(lambda one: not one["said"], reversed(exchanges))
    return [one["utterance"] for one in last if one["utterance"] and datetime.fromisoformat(one["at"]) >= since][::-1]


def _unknown(
    lines: Sequence[Message], known: Sequence[Exchange], window: Window, *, person: str, agent: str
) -> tuple[Mapping[str, str], ...]:
    said = {_bare(exchange["said"]) for exchange in known}
    answered = {_bare(exchange["utterance"]) for exchange in known} | {_bare(text) for text in window.sent.values()}
    found = [
        {"speaker": person if line.role == "user" else agent, "text": shortened(line.words, LONGEST_MESSAGE)}
        for line in lines[-2 * SHOWN :]
        if _bare(line.words) not in (said if line.role == "user" else answered)
    ]
    return tuple(found[-SHOWN:])


def _is_answer(text: str, exchange: Exchange, window: Window) -> bool:
    """Whether a line of a client is the answer of an exchange."""
    return _bare(text) in (_bare(exchange["utterance"]), _bare(window.sent.get(exchange["id"], exchange["utterance"])))


def _bare(text: str) -> str:
    return " ".join(text.split())


# Cuts an answer where a client wants it to end: before a text, or after a number of tokens


_BYTES_A_TOKEN: Final = 4
"""As in `estimated_tokens`."""


class Cut:
    """Takes an answer piece by piece, and gives what a client may see of it.

    Attributes:
        text: what was given so far.
        reason: why it ended; "stop" also for an answer that came to its own end.
        over: whether the rest is not given.

    Args:
        stops: texts before which it ends.
        tokens: the most tokens, estimated; None for no limit.
    """

    def __init__(self, stops: Sequence[str] = (), tokens: int | None = None) -> None:
        self._stops = [stop for stop in stops if stop]
        self._bytes = None if tokens is None else tokens * _BYTES_A_TOKEN
        self._held = ""
        self._given = 0
        self.text = ""
        self.reason: Literal["stop", "length"] = "stop"
        self.over = False

    def take(self, piece: str) -> str:
        """What may be seen of another piece; the beginning of a stop text is held back."""
        if self.over:
            return ""
        self._held += piece
        found = [at for at in map(self._held.find, self._stops) if at >= 0]
        if found:
            return self._let(self._held[: min(found)], over=True)
        keep = max((_begun(self._held, stop) for stop in self._stops), default=0)
        return self._let(self._held[: len(self._held) - keep], rest=self._held[len(self._held) - keep :])

    def rest(self) -> str:
        """What was held back, when the answer is complete."""
        return "" if self.over else self._let(self._held)

    @property
    def tokens(self) -> int:
        """Estimated tokens of what was given; 0 for nothing."""
        return estimated_tokens(self.text) if self.text else 0

    def _let(self, text: str, *, rest: str = "", over: bool = False) -> str:
        self._held, self.over = rest, over
        if self._bytes is not None and len(data := text.encode()) > self._bytes - self._given:
            text = data[: self._bytes - self._given].decode(errors="ignore")
            self.reason, self.over, self._held = "length", True, ""
        self._given += len(text.encode())
        self.text += text
        return text


def _begun(text: str, stop: str) -> int:
    """How many characters at the end of a text begin a stop text."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


# From a request to the agent's answer: what is new is said in the pair's session, and the answer comes in piece


_UNASKED: Final = 4
"""The last exchanges among which words that nobody asked for are looked for."""
_WINDOWS: Final = 1_000
"""For so many pairs and talks the last answers are remembered."""


class Talking:
    """Lets clients talk with the agents of a world.

    Args:
        world: the world.
        instructed: whether a client's system messages reach the agent, as data.
    """

    def __init__(self, world: World, *, instructed: bool) -> None:
        self._world, self._instructed = world, instructed
        self._turns: dict[tuple[str, str], asyncio.Lock] = {}  # requests of a pair are answered one after another
        self._windows: dict[tuple[str, str, str], Window] = {}
        self._told: dict[tuple[str, str, str], str] = {}  # by agent, person's name and talk
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
                self._world.ledger,
                self._world.settings,
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

    def instructions(self, agent: str, person: str, talk: str) -> str:
        """The system messages that came with the last words of a talk; empty if there were none."""
        return self._told.get((agent, person, talk), "")

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
        put_last(self._told, (agent, person, talk), request.instructions, _WINDOWS)
        companion = await self._world.companion(agent, person)
        window = self._window(agent, companion.person_id, talk)
        async with self._turns.setdefault((agent, companion.person_id), asyncio.Lock()):
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
            async with aclosing(events):
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
        window = self._windows.get((agent, person, talk)) or Window()
        put_last(self._windows, (agent, person, talk), window, _WINDOWS)
        return window


def _done(cut: Cut, request: ChatRequest, about: dict[str, Any]) -> Done:
    given = sum(estimated_tokens(message.words) for message in request.messages)
    return Done(cut.text, cut.reason, given, cut.tokens, about)
