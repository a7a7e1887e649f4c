"""Passes the events of one run to any number of followers; a late follower gets the past events first.

The run has a task of its own, so it depends neither on the number of followers nor on their speed.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from .events import (
    Event,
    JudgeMindChanged,
    MindChanged,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    Totals,
    TurnEnded,
    Uttered,
)
from .folder.reading import stopped_event

_AT_ONCE: Final = 20
"""Past events that a follower gets before other tasks have their turn."""

_EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Event)


class _Link:
    """An event and the one that follows it.

    A follower holds the link that it has reached, so links that all followers have read are freed.
    """

    __slots__ = ("event", "next")

    def __init__(self, event: Event | None = None) -> None:
        self.event = event
        self.next: _Link | None = None


def _packed(event: Event) -> Event | bytes:
    """An event as it is kept. Minds are compressed: 1,000 utterances of four agents would take 370 MB."""
    if isinstance(event, MindChanged | JudgeMindChanged):
        return zlib.compress(event.model_dump_json().encode(), level=1)
    return event


def _unpacked(kept: Event | bytes) -> Event:
    return _EVENT.validate_json(zlib.decompress(kept)) if isinstance(kept, bytes) else kept


class Broadcast:
    """Runs an event stream and passes its events to all subscribers. Make and use it in one event loop.

    It keeps every event but `speaking` and `token`: with four agents and the offline model, about 23 MB for 1,000
    utterances, nearly all of it minds.

    Args:
        events: the events of a run, from `run_simulation`, `resume_run` or `astream_events`.
        out: the folder of runs in which the run is kept, if it is; after `cancel`, `stopped` is read from there.
    """

    def __init__(self, events: AsyncGenerator[Event, None], *, out: Path | None = None) -> None:
        self._out = out
        self._past: list[Event | bytes] = []
        self._speaking: Speaking | None = None
        self._tokens: list[Token] = []
        self._last = _Link()
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(events))
        self._task.add_done_callback(lambda _: self._news.set())

    def subscribe(self) -> AsyncGenerator[Event, None]:
        """The past events, and then new events as they come.

        The past has no `speaking` and `token` of complete utterances. The words so far of the utterance in progress are
        one `token`.

        Raises:
            PerSimChatError: the run's own error, after the last event, if the run has failed.
        """
        return self._follow(len(self._past), self._being_made(), self._last)

    async def wait(self) -> None:
        """Wait until the run is over; cancelling the wait does not affect the run.

        Raises:
            PerSimChatError: the run's error, if it has failed.
        """
        await asyncio.wait([self._task])
        self._raise_error()

    def cancel(self) -> None:
        """Stop the run at once. It counts as stopped by the user; all followers get `stopped`."""
        self._task.cancel()

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self._task.done()

    async def _run(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._publish(event)
        except asyncio.CancelledError:
            stopped = await self._stopped()
            if stopped is None:
                raise
            self._publish(stopped)

    def _publish(self, event: Event) -> None:
        match event:
            case Speaking():  # also if the model is asked again, which voids its first words
                self._speaking, self._tokens = event, []
            case Token():
                self._tokens.append(event)
            case _:
                if isinstance(event, Uttered | Stopped) or (isinstance(event, Silenced) and event.step == "speak"):
                    self._speaking, self._tokens = None, []
                self._past.append(_packed(event))
        self._last.next = _Link(event)
        self._last = self._last.next
        self._news.set()
        self._news = asyncio.Event()

    def _being_made(self) -> list[Event]:
        """The events of the utterance in progress, its words so far as one `token`."""
        made: list[Event] = [self._speaking] if self._speaking else []
        if self._tokens:
            made.append(self._tokens[0].model_copy(update={"text": "".join(token.text for token in self._tokens)}))
        return made

    async def _follow(self, length: int, made: list[Event], link: _Link) -> AsyncGenerator[Event, None]:
        for number in range(length):
            if number and number % _AT_ONCE == 0:
                await asyncio.sleep(0)
            yield _unpacked(self._past[number])
        for event in made:
            yield event
        while True:
            while link.next is None:
                if self._task.done():
                    self._raise_error()
                    return
                await self._news.wait()
            link = link.next
            if link.event is not None:
                yield link.event

    def _raise_error(self) -> None:
        """Raise the run's error; cancelling is not an error."""
        if not self._task.cancelled():
            self._task.result()

    async def _stopped(self) -> Stopped | None:
        """The last event of a cancelled run; None if it was sent already, or if the run has not begun."""
        started = self._past[0] if self._past else None
        if not isinstance(started, Started) or isinstance(self._past[-1], Stopped):
            return None
        if self._out is not None:
            return await asyncio.to_thread(stopped_event, self._out / started.run)
        turns = (event.turn for event in reversed(self._past) if isinstance(event, Uttered))
        totals = (event.totals for event in reversed(self._past) if isinstance(event, TurnEnded))
        return Stopped(
            run=started.run,
            reason="stopped",
            source="user",
            turn=next(turns, 0),
            totals=next(totals, Totals()),
            usage=[],
        )
