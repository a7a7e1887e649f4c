"""How many requests are under way at the same time, how often they start, and how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from langchain_core.rate_limiters import InMemoryRateLimiter

from persimchat.models.loops import PerLoop
from persimchat.state.settings import Settings

_SLOTS: PerLoop[asyncio.Semaphore] = PerLoop()
_RATES: PerLoop[InMemoryRateLimiter] = PerLoop()

LONGEST_PAUSE_S: Final = 60.0
"""However long a server asks to be left alone, it is asked again after so many seconds."""


@dataclass
class Pause:
    """Until when one model's server wants to be left alone, in seconds of the event loop's clock."""

    until: float = 0.0


_PAUSES: PerLoop[Pause] = PerLoop()


def pause(model: Hashable, seconds: float) -> None:
    """Let no request to a model start for so many seconds: its server asked for it (HTTP 429, Retry-After).

    Args:
        model: which model, as given to `slot`.
        seconds: how long; no longer than `LONGEST_PAUSE_S`.
    """
    held = _PAUSES.get(model, Pause)
    held.until = max(held.until, asyncio.get_running_loop().time() + min(seconds, LONGEST_PAUSE_S))


@asynccontextmanager
async def slot(settings: Settings, *, model: Hashable, alone: str = "") -> AsyncIterator[None]:
    """Hold one of the shared slots for one request; its time limit counts from here, not from the wait.

    Args:
        settings: `max_concurrency`, `concurrent`, `requests_per_second` and `timeout_s` count.
        model: which model is asked; a pause that its server asked for is waited for first.
        alone: a model that serves one request at a time (a local file), by name.

    Raises:
        TimeoutError: the request took longer than `settings.timeout_s`.
    """
    held = _PAUSES.get(model, Pause)
    while (rest := held.until - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(rest)
    size = settings.max_concurrency if settings.concurrent else 1
    async with AsyncExitStack() as stack:
        if alone:
            await stack.enter_async_context(_SLOTS.get(("alone", alone), lambda: asyncio.Semaphore(1)))
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
