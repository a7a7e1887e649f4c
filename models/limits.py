"""How many requests are under way at the same time, how often they start, and how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from langchain_core.rate_limiters import InMemoryRateLimiter

from persimchat.models.loops import PerLoop
from persimchat.state.settings import Settings

_SLOTS: PerLoop[asyncio.Semaphore] = PerLoop()
_RATES: PerLoop[InMemoryRateLimiter] = PerLoop()


@asynccontextmanager
async def slot(settings: Settings, *, alone: str = "") -> AsyncIterator[None]:
    """Hold one of the shared slots for one request; its time limit counts from here, not from the wait.

    Args:
        settings: `max_concurrency`, `concurrent`, `requests_per_second` and `timeout_s` count.
        alone: a model that serves one request at a time (a local file), by name.

    Raises:
        TimeoutError: the request took longer than `settings.timeout_s`.
    """
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
