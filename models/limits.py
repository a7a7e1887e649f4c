"""How many requests are under way at the same time, how often they start, and how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from langchain_core.rate_limiters import InMemoryRateLimiter
from langgraph.config import get_stream_writer

from persimchat.models.failures import retry_after_s
from persimchat.models.loops import PerLoop
from persimchat.state.settings import Settings

_SLOTS: PerLoop[asyncio.Semaphore] = PerLoop()
_RATES: PerLoop[InMemoryRateLimiter] = PerLoop()

LONGEST_PAUSE_S: Final = 60.0
"""However long a server asks to be left alone, it is asked again after so many seconds."""

TOLD_FROM_S: Final = 5.0
"""A pause that holds a run up by so many seconds more is told."""
LONGEST_TOLD_S: Final = 1e9
"""Seconds beyond which what a server asks for is no figure any more."""


@dataclass
class Pause:
    """Until when one model's server wants to be left alone, in seconds of the event loop's clock."""

    until: float = 0.0


_PAUSES: PerLoop[Pause] = PerLoop()


def pause(model: Hashable, seconds: float) -> float:
    """Let no request to a model start for so many seconds: its server asked for it (HTTP 429, Retry-After).

    Args:
        model: which model, as given to `slot`.
        seconds: how long; no longer than `LONGEST_PAUSE_S`.

    Returns:
        How many seconds this adds to the pause that there was.
    """
    held, now = _PAUSES.get(model, Pause), asyncio.get_running_loop().time()
    before = max(held.until, now)
    held.until = max(before, now + (min(seconds, LONGEST_PAUSE_S) if seconds >= 0 else 0.0))
    return held.until - before


def pause_asked_for(error: BaseException, model: Hashable, name: str) -> None:
    """Leave a server alone for as long as its refusal asks, and tell the run's followers where that is long.

    Args:
        error: what the request raised.
        model: which model, as given to `slot`.
        name: the model's name, as the user wrote it.
    """
    seconds = retry_after_s(error)
    if seconds is None or pause(model, seconds) < TOLD_FROM_S:
        return
    waits = {"model": name, "asked_s": min(seconds, LONGEST_TOLD_S), "wait_s": min(seconds, LONGEST_PAUSE_S)}
    with suppress(RuntimeError):  # outside of a graph nobody listens
        get_stream_writer()({"waiting": waits})


@dataclass(frozen=True)
class Room:
    """What a request takes of a context that all requests to one server share.

    Attributes:
        server: which one.
        size: tokens of its context.
        taken: of these, tokens of the request's prompt and answer; all of them where they are more.
    """

    server: Hashable
    size: int
    taken: int


class _Shared:
    """A context that requests share: they are let in in the order in which they came, each when there is room."""

    def __init__(self, size: int) -> None:
        self._free, self._next, self._freed = size, asyncio.Lock(), asyncio.Event()

    @asynccontextmanager
    async def held(self, tokens: int) -> AsyncIterator[None]:
        async with self._next:
            while self._free < tokens:
                self._freed.clear()
                await self._freed.wait()
            self._free -= tokens
        try:
            yield
        finally:
            self._free += tokens
            self._freed.set()


_ROOMS: PerLoop[_Shared] = PerLoop()


@asynccontextmanager
async def slot(
    settings: Settings,
    *,
    model: Hashable,
    at_once: int | None = None,
    after: Hashable = None,
    room: Room | None = None,
) -> AsyncIterator[None]:
    """Hold one of the shared slots for one request; its time limit counts from here, not from the wait.

    Args:
        settings: `max_concurrency`, `concurrent`, `requests_per_second` and `timeout_s` count.
        model: which model is asked; a pause that its server asked for is waited for first.
        at_once: how many requests this model works at, where that is less than all models together may have.
        after: requests to this model that name the same thing here are made one after another, in the order in which
            they came; None for those that need not be.
        room: what it takes of a context that is shared, and is waited for; None where requests share none.

    Raises:
        TimeoutError: the request took longer than `settings.timeout_s`.
    """
    held = _PAUSES.get(model, Pause)
    while (rest := held.until - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(rest)
    size = settings.max_concurrency if settings.concurrent else 1
    async with AsyncExitStack() as stack:
        if after is not None:
            await stack.enter_async_context(_SLOTS.get(("after", model, after), lambda: asyncio.Semaphore(1)))
        if at_once is not None:
            own = _SLOTS.get(("own", model, at_once), lambda: asyncio.Semaphore(at_once))
            await stack.enter_async_context(own)
        if room is not None:
            shared = _ROOMS.get((room.server, room.size), lambda: _Shared(room.size))
            await stack.enter_async_context(shared.held(min(room.taken, room.size)))
        await stack.enter_async_context(_SLOTS.get(("shared", size), lambda: asyncio.Semaphore(size)))
        if settings.requests_per_second is not None:
            await _rate(settings.requests_per_second).aacquire(blocking=True)
        await stack.enter_async_context(asyncio.timeout(settings.timeout_s))
        yield


def _rate(per_second: float) -> InMemoryRateLimiter:
    # The limiter polls. Looking ten times as often as requests may start keeps the rate within a tenth of what is
    # allowed, never above it.
    every = min(0.1, max(0.001, 0.1 / per_second))
    return _RATES.get(
        per_second, lambda: InMemoryRateLimiter(requests_per_second=per_second, check_every_n_seconds=every)
    )
