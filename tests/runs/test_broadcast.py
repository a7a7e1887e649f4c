"""Many follow one run: whoever joins gets everything once, whenever they join, and nobody disturbs anybody."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback.answering import Fault
from loopback.server import LoopbackServer
from talks import end_of

import persimchat
from persimchat.runs.broadcast import Broadcast
from persimchat.runs.events import (
    Event,
    HandRaised,
    MindChanged,
    MindRecord,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    Totals,
    TurnEnded,
    Uttered,
)
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.state.errors import InputError, ModelError

STARTED = Started(run="r", topic="Tea?", participants=["A", "B"], models={}, max_messages=9)
STOPPED = Stopped(run="r", reason="message_limit", turn=9, totals=Totals(), usage=[])


def speaking(turn: int, speaker: str = "A") -> Speaking:
    return Speaking(turn=turn, speaker=speaker, need_to_talk={})


def token(turn: int, text: str, speaker: str = "A") -> Token:
    return Token(turn=turn, speaker=speaker, text=text)


def uttered(turn: int) -> Uttered:
    return Uttered(turn=turn, speaker="A", text="x")


def changed(turn: int) -> MindChanged:
    return MindChanged(record=MindRecord(turn=turn, agent="Žofie", did="plan", emotion={"anger": 1}))


def without_making(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, Speaking | Token)]


async def all_of(broadcast: Broadcast) -> list[Event]:
    return [event async for event in broadcast.subscribe()]


class Stage:
    """A stream of events that are given one by one, when the test says so."""

    def __init__(self) -> None:
        self._given: asyncio.Queue[Event | BaseException | None] = asyncio.Queue()
        self.closed = False

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            while (event := await self._given.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            self.closed = True

    async def give(self, *events: Event | BaseException | None) -> None:
        """Give events, and wait until everybody has had their turn with them."""
        for event in events:
            self._given.put_nowait(event)
        for _ in range(3 * len(events) + 3):
            await asyncio.sleep(0)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.proof
async def test_everybody_gets_a_real_run(tmp_path: Path) -> None:
    broadcast = Broadcast(persimchat.astream_events("Tea?", 3, out=tmp_path, model="offline", max_messages=3))
    early = asyncio.create_task(all_of(broadcast))
    joined: list[asyncio.Task[list[Event]]] = []
    async with aclosing(broadcast.subscribe()) as events:
        async for event in events:
            if isinstance(event, Uttered | Token):
                joined.append(asyncio.create_task(all_of(broadcast)))
    await broadcast.wait()
    assert broadcast.done
    whole = await early
    assert [type(event) for event in (whole[0], whole[-1])] == [Started, Stopped]
    assert any(isinstance(event, Token) for event in whole)
    assert len(joined) > 3
    for late in [*joined, asyncio.create_task(all_of(broadcast))]:
        assert without_making(await late) == without_making(whole)
    assert await all_of(broadcast) == without_making(whole)  # nothing is being made any more
    past = await asyncio.to_thread(lambda: list(past_events(read_run(next(tmp_path.iterdir())))))
    assert [event.event for event in past] == [event.event for event in without_making(whole)]


async def test_words_that_are_asked_for_again_are_forgotten(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    await stage.give(STARTED, speaking(1), token(1, "Void"), speaking(1), token(1, "Tea"))
    first = broadcast.subscribe()
    await stage.give(Silenced(turn=1, agent="A", step="speak", why="503"))
    second = broadcast.subscribe()
    await stage.give(STOPPED, None)
    silenced = Silenced(turn=1, agent="A", step="speak", why="503")
    assert [e async for e in first] == [STARTED, speaking(1), token(1, "Tea"), silenced, STOPPED]
    assert [e async for e in second] == [STARTED, silenced, STOPPED]


async def test_the_run_goes_on_without_anybody_and_whoever_leaves(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    await stage.give(STARTED)
    leaves, stays = broadcast.subscribe(), asyncio.create_task(all_of(broadcast))
    cancelled = asyncio.create_task(all_of(broadcast))
    assert await anext(leaves) == STARTED
    await leaves.aclose()
    await stage.give(uttered(1))
    cancelled.cancel()
    waits = asyncio.create_task(broadcast.wait())
    await stage.give(uttered(2))
    waits.cancel()
    await stage.give(uttered(3))
    assert cancelled.cancelled() and waits.cancelled()
    assert not broadcast.done
    await stage.give(STOPPED, None)
    assert await stays == await all_of(broadcast) == [STARTED, uttered(1), uttered(2), uttered(3), STOPPED]


async def test_the_slow_get_everything_and_hold_nobody_up(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    slow = broadcast.subscribe()
    pieces = [token(1, str(number)) for number in range(500)]
    await stage.give(STARTED, speaking(1), *pieces, uttered(1), changed(1), STOPPED, None)
    assert await all_of(broadcast) == [STARTED, uttered(1), changed(1), STOPPED]
    assert [event async for event in slow] == [STARTED, speaking(1), *pieces, uttered(1), changed(1), STOPPED]


async def test_tokens_are_kept_only_for_those_who_still_read_them(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    slow = broadcast.subscribe()
    await stage.give(STARTED, speaking(1))
    piece = token(1, "Tea")
    kept = weakref.ref(piece)
    await stage.give(piece, uttered(1), changed(1))
    del piece
    gc.collect()
    assert kept() is not None
    await slow.aclose()
    del slow
    gc.collect()
    assert kept() is None
    await stage.give(None)
    await broadcast.wait()


async def test_an_error_reaches_everybody(tmp_path: Path) -> None:
    with LoopbackServer(answer=lambda body: Fault(401, {"error": {"message": "bad key"}})) as server:
        events = persimchat.astream_events("Tea?", 2, out=tmp_path, model=server.model(), max_messages=2)
        broadcast = Broadcast(events)
        seen: list[list[Event]] = [[], []]
        for place in (0, 1):
            with pytest.raises(ModelError):
                async for event in broadcast.subscribe():
                    seen[place].append(event)
        with pytest.raises(ModelError):
            await broadcast.wait()
    assert seen[0] == seen[1]
    assert end_of(seen[0]).reason == "error"


async def test_an_error_before_the_first_event() -> None:
    options: dict[str, Any] = {"mode": "debate", "baseline": "mad", "max_messages": 1}
    broadcast = Broadcast(persimchat.astream_events("Tea?", 2, model="offline", **options))
    with pytest.raises(InputError):
        await all_of(broadcast)


async def test_a_cancelled_run_counts_as_stopped(tmp_path: Path) -> None:
    events = persimchat.astream_events("Tea?", 3, out=tmp_path, model="offline", max_messages=50)
    broadcast = Broadcast(events, out=tmp_path)
    seen: list[Event] = []
    async for event in broadcast.subscribe():
        seen.append(event)
        if isinstance(event, Uttered) and event.turn == 2:
            broadcast.cancel()
    await broadcast.wait()
    folder = next(tmp_path.iterdir())
    stopped = end_of(seen)
    assert (stopped.reason, stopped.source, stopped.folder) == ("stopped", "user", str(folder))
    assert stopped.usage
    assert (
        without_making(seen)[1:]
        == [
            live if isinstance(live, TurnEnded) else past
            for live, past in zip(without_making(seen), past_events(read_run(folder)), strict=True)
        ][1:]
    )


async def test_a_cancelled_run_without_a_folder(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    totals = Totals(calls=7)
    await stage.give(STARTED, uttered(1), TurnEnded(turn=1, max_messages=9, totals=totals), speaking(2), token(2, "Te"))
    broadcast.cancel()
    await broadcast.wait()
    assert stage.closed
    assert (await all_of(broadcast))[-1] == Stopped(
        run="r", reason="stopped", source="user", turn=1, totals=totals, usage=[]
    )


@pytest.mark.parametrize("given", [(), (STARTED, STOPPED)], ids=["nothing", "everything"])
async def test_cancelled_before_the_first_and_after_the_last_event(stage: Stage, given: tuple[Event, ...]) -> None:
    broadcast = Broadcast(stage.events())
    await stage.give(*given)
    broadcast.cancel()
    await broadcast.wait()
    assert await all_of(broadcast) == list(given)


async def test_cancelled_at_once(stage: Stage) -> None:
    broadcast = Broadcast(stage.events())
    follower = asyncio.create_task(all_of(broadcast))
    broadcast.cancel()
    await broadcast.wait()
    assert await follower == []
    broadcast.cancel()


MAKE: dict[str, Callable[[int], Event]] = {
    "mind": changed,
    "ended": lambda turn: TurnEnded(turn=turn, max_messages=9, totals=Totals()),
    "hand": lambda turn: HandRaised(turn=turn, agent="B", raised=True),
    "silenced": lambda turn: Silenced(turn=turn, agent="B", step="think", why="503"),
}


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """A run's events: utterances, some of them begun more than once, with anything in between."""
    text = st.text("ab č", max_size=3)
    others = st.lists(st.sampled_from(sorted(MAKE)), max_size=3)
    events: list[Event] = [STARTED]
    for turn in range(1, draw(st.integers(0, 4)) + 1):
        for _ in range(draw(st.integers(0, 2))):
            events.append(speaking(turn))
            for piece in draw(st.lists(text, max_size=4)):
                events.append(token(turn, piece))
                events += [MAKE["hand"](turn)] * draw(st.integers(0, 1))
        events.append(uttered(turn))
        events += [MAKE[kind](turn) for kind in draw(others)]
    return [*events, STOPPED]


def as_joined(events: list[Event], at: int) -> list[Event]:
    """What somebody is to get who joins after `at` events, said in another way: looking back from there."""
    making: list[Event] = []
    for event in events[:at]:
        if isinstance(event, Speaking):
            making = [event]
        elif isinstance(event, Token):
            making = [*making[:1], token(event.turn, (making[1].text if len(making) > 1 else "") + event.text)]  # type: ignore[union-attr]
        elif isinstance(event, Uttered | Stopped):
            making = []
    return [*without_making(events[:at]), *making, *events[at:]]


@given(events=runs(), data=st.data())
def test_nothing_is_lost_or_doubled_whenever_one_joins(events: list[Event], data: Any) -> None:
    joins = data.draw(st.lists(st.tuples(st.integers(0, len(events)), st.integers(0, 3)), min_size=1, max_size=5))

    async def follow(broadcast: Broadcast, pause: int) -> list[Event]:
        seen: list[Event] = []
        async for event in broadcast.subscribe():
            seen.append(event)
            for _ in range(pause):
                await asyncio.sleep(0)
        return seen

    async def play() -> None:
        stage, tasks = Stage(), []
        broadcast = Broadcast(stage.events())
        for number in range(len(events) + 1):
            for at, pause in joins:
                if at == number:
                    tasks.append((at, asyncio.create_task(follow(broadcast, pause))))
            await stage.give(*events[number : number + 1])
        await stage.give(None)
        for at, task in tasks:
            seen = await task
            assert without_making(seen) == without_making(events)
            assert seen == as_joined(events, at)

    asyncio.run(play())
