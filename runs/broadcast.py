"""One run, any number of followers: whoever joins late gets the past first.

The run goes on in a task of its own, whether anybody follows it or not, and however slowly they do.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from persimchat.runs.events import (
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
from persimchat.runs.folder.past import stopped_event

_AT_ONCE: Final = 20
"""Events of the past that a follower is given before others have their turn."""

_EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Event)


class _Link:
    """An event and the one that follows it.

    A follower holds the link that it has reached, so what nobody has still to read is not kept.
    """

    __slots__ = ("event", "next")

    def __init__(self, event: Event | None = None) -> None:
        self.event = event
        self.next: _Link | None = None


def _packed(event: Event) -> Event | bytes:
    """An event as it is kept: minds, which would take 370 MB for 1,000 utterances of four, are compressed."""
    if isinstance(event, MindChanged | JudgeMindChanged):
        return zlib.compress(event.model_dump_json().encode(), level=1)
    return event


def _unpacked(kept: Event | bytes) -> Event:
    return _EVENT.validate_json(zlib.decompress(kept)) if isinstance(kept, bytes) else kept


class Broadcast:
    """Runs an event stream and passes it on to everybody who subscribes. To be made and used in one event loop.

    Every event but `speaking` and `token` is kept as long as the broadcast: with four agents and the offline model some
    23 MB for 1,000 utterances, nearly all of it minds.

    Args:
        events: of a run: `run_simulation`, `resume_run`, `astream_events`.
        out: the folder of runs that the run was given, if it was: after `cancel`, its `stopped` is read from there.
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
        """Everything that has happened, and then what happens.

        Of utterances that are complete at this moment, `speaking` and `token` are left out; of the one that is being
        made, what was said so far comes as one `token`.

        Raises:
            PerSimChatError: after the last event, where the run has failed: the run's own error, for everybody.
        """
        return self._follow(len(self._past), self._being_made(), self._last)

    async def wait(self) -> None:
        """Wait until the run is over; whoever waits can be cancelled, which does nothing to the run.

        Raises:
            PerSimChatError: the run's error, where it has failed.
        """
        await asyncio.wait([self._task])
        self._raise_error()

    def cancel(self) -> None:
        """Stop the run now. It counts as stopped by the user; everybody gets `stopped`."""
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
            case Speaking():  # also where the model is asked again: what it said first is void
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
        """The utterance that is being made, as far as it is."""
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
        """Raise what the run has failed with; that it was cancelled is no error."""
        if not self._task.cancelled():
            self._task.result()

    async def _stopped(self) -> Stopped | None:
        """The last event of a run that was cancelled; None where it has had it, or has not begun."""
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
