"""Limits on requests: how many run at the same time, how often they start, and how long each may take."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from langchain_core.rate_limiters import InMemoryRateLimiter

from ..state.settings import Settings
from .failures import retry_after_s

V = TypeVar("V")


class PerLoop(Generic[V]):
    """A cache by key and running event loop, safe between threads.

    Loops are held weakly. Because a cached client may itself hold its loop, the entries of closed loops are dropped
    whenever a new value is made.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._values: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, V]]
        self._values = weakref.WeakKeyDictionary()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The running loop's value for `key`, made on first use; outside a running loop it is made and not kept."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return make()
        with self._lock:
            values = self._values.get(loop)
            if values is not None and key in values:
                return values[key]
            for other in [known for known in self._values if known.is_closed()]:
                del self._values[other]
            return self._values.setdefault(loop, {}).setdefault(key, make())

    def __contains__(self, key: Hashable) -> bool:
        """Whether the running loop has a value for `key`."""
        with self._lock:
            return key in self._values.get(asyncio.get_running_loop(), {})

    def take(self) -> list[V]:
        """Remove and return everything kept for the running loop."""
        with self._lock:
            return list(self._values.pop(asyncio.get_running_loop(), {}).values())


_SLOTS: PerLoop[asyncio.Semaphore] = PerLoop()
_RATES: PerLoop[InMemoryRateLimiter] = PerLoop()

LONGEST_PAUSE_S: Final = 60.0
"""The longest pause before a server is asked again, even if it asks for more."""

TOLD_FROM_S: Final = 5.0
"""A pause that delays a run by at least so many seconds is reported to its followers."""
LONGEST_TOLD_S: Final = 1e9
"""The greatest number of seconds that is reported."""


@dataclass
class Pause:
    """The end of a pause that one model's server has asked for, in seconds of the event loop's clock."""

    until: float = 0.0


_PAUSES: PerLoop[Pause] = PerLoop()


def pause(model: Hashable, seconds: float) -> float:
    """Start no request to a model for some seconds, because its server asked for that (HTTP 429, Retry-After).

    Args:
        model: the model, as given to `slot`.
        seconds: the length of the pause, at most `LONGEST_PAUSE_S`.

    Returns:
        The seconds that this adds to an existing pause.
    """
    held, now = _PAUSES.get(model, Pause), asyncio.get_running_loop().time()
    before = max(held.until, now)
    held.until = max(before, now + (min(seconds, LONGEST_PAUSE_S) if seconds >= 0 else 0.0))
    return held.until - before


def pause_asked_for(error: BaseException, model: Hashable, name: str) -> None:
    """Pause requests to a model for as long as its server's refusal asks; report long pauses to the run's followers.

    Args:
        error: the exception of the request.
        model: the model, as given to `slot`.
        name: the model's name, as the user wrote it.
    """
    from langgraph.config import get_stream_writer  # takes long to load, and is seldom needed

    seconds = retry_after_s(error)
    if seconds is None or pause(model, seconds) < TOLD_FROM_S:
        return
    waits = {"model": name, "asked_s": min(seconds, LONGEST_TOLD_S), "wait_s": min(seconds, LONGEST_PAUSE_S)}
    with suppress(RuntimeError):  # outside of a graph there are no followers
        get_stream_writer()({"waiting": waits})


@dataclass(frozen=True)
class Room:
    """The share of a request in a context that all requests to one server share.

    Attributes:
        server: the server.
        size: tokens of its context.
        taken: tokens of the request's prompt and answer; all of the context if they are more.
    """

    server: Hashable
    size: int
    taken: int


class _Shared:
    """A shared context: admits requests in the order of their arrival, each when there is room."""

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


@dataclass(frozen=True)
class ModelLimit:
    """What all conversations together may ask of one model.

    Attributes:
        per_second: requests that may start in a second; None without a limit.
        at_once: requests at the same time; None without a limit.
    """

    per_second: float | None = None
    at_once: int | None = None


_LIMITS: PerLoop[dict[Hashable, ModelLimit]] = PerLoop()
_QUEUES: PerLoop[asyncio.Lock] = PerLoop()


@contextmanager
def limited(limits: Mapping[Hashable, ModelLimit]) -> Iterator[None]:
    """Limit the requests to models while the body runs, whichever conversation on this event loop makes them.

    The limits of a conversation's own settings count besides.

    Args:
        limits: by model, as given to `slot`.
    """
    held = _LIMITS.get("all models", dict)
    before = dict(held)
    held.update(limits)
    try:
        yield
    finally:
        held.clear()
        held.update(before)


_PREPARING: weakref.WeakValueDictionary[Hashable, asyncio.Lock] = weakref.WeakValueDictionary()
_NOBODY: Final = ExitStack()
_ALONE: ContextVar[ExitStack] = ContextVar("alone", default=_NOBODY)


@asynccontextmanager
async def prepares_alone(among: Hashable) -> AsyncIterator[None]:
    """Prepare a mind's first request while no other mind of its conversation does; from that request on, nobody waits.

    Minds that prepare side by side are all ready only when the last one is, and no model is asked meanwhile.

    Args:
        among: the conversation.
    """
    lock = _PREPARING.setdefault((asyncio.get_running_loop(), among), asyncio.Lock())
    await lock.acquire()
    with ExitStack() as alone:
        alone.callback(lock.release)
        token = _ALONE.set(alone)
        try:
            yield
        finally:
            _ALONE.reset(token)


@asynccontextmanager
async def slot(
    settings: Settings,
    *,
    model: Hashable,
    at_once: int | None = None,
    after: Hashable = None,
    room: Room | None = None,
) -> AsyncIterator[None]:
    """Hold one of the shared slots for one request; its time limit starts when it has the slot.

    Args:
        settings: `max_concurrency`, `concurrent`, `requests_per_second` and `timeout_s` are read.
        model: the model that is asked; a pause of its server is waited for first.
        at_once: the most requests of this model at the same time, if fewer than those of all models together.
        after: requests to this model with the same value run one after another, in the order of their arrival; None
            for independent requests.
        room: the request's share of a shared context, which is waited for; None without a shared context.

    Raises:
        TimeoutError: the request took longer than `settings.timeout_s`.
    """
    _ALONE.get().close()
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
        common = _LIMITS.get("all models", dict).get(model, ModelLimit())
        if (most := common.at_once) is not None:
            of_all = _SLOTS.get(("of all", model, most), lambda: asyncio.Semaphore(most))
            await stack.enter_async_context(of_all)
        everyones = _SLOTS.get(("shared", size), lambda: asyncio.Semaphore(size))
        if common.per_second is None:
            await stack.enter_async_context(everyones)
        else:
            # One request at a time waits for the model's rate: the others must not hold slots that other models need.
            async with _QUEUES.get(model, asyncio.Lock):
                await stack.enter_async_context(everyones)
                await _rate(common.per_second, model).aacquire(blocking=True)
        if settings.requests_per_second is not None:
            await _rate(settings.requests_per_second).aacquire(blocking=True)
        await stack.enter_async_context(asyncio.timeout(settings.timeout_s))
        yield


class _Sharing:
    """How many processes share every rate; this one takes its part."""

    processes = 1


def share_rates(processes: int) -> None:
    """Let this process start requests at its part of `requests_per_second`, because others ask the same servers.

    Args:
        processes: how many there are, this one included.
    """
    _Sharing.processes = processes


def _rate(wanted: float, model: Hashable = None) -> InMemoryRateLimiter:
    """The limiter of a rate: of one model, or, for None, of all requests with this rate in their settings."""
    per_second = wanted / _Sharing.processes
    # The limiter polls. With ten polls per allowed request, the rate stays within a tenth of the limit, never above it.
    every = min(0.1, max(0.001, 0.1 / per_second))
    return _RATES.get(
        (per_second, model), lambda: InMemoryRateLimiter(requests_per_second=per_second, check_every_n_seconds=every)
    )
