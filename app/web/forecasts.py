"""Answers that take a processor for long: worked out one at a time, within a limit of time, for everybody who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from persimchat.state.errors import PerSimChatError

LIMIT_S: Final = 180.0
"""Seconds that an answer may take, with the loading of the model and the wait for others who ask."""

_Found = TypeVar("_Found")


class TakesTooLong(PerSimChatError):
    """The answer did not come within the limit."""


class Forecasts:
    """Answers of a server: one is worked out at a time, as reading a prompt takes all of a processor.

    Args:
        limit_s: seconds until a caller gets an error in place of an answer.
    """

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._free = asyncio.Semaphore(1)
        self._tasks: set[asyncio.Task[object]] = set()

    async def one(self, work: Callable[[], Awaitable[_Found]]) -> _Found:
        """Work out an answer; raises TakesTooLong, and whatever the work raises."""
        try:
            async with asyncio.timeout(self._limit_s):
                await self._free.acquire()
                task = asyncio.create_task(self._worked_out(work))
                self._tasks.add(task)
                task.add_done_callback(self._over)
                return await asyncio.shield(task)  # a thread cannot be stopped: the next one waits for its end
        except TimeoutError:
            raise TakesTooLong(
                f"no answer within {self._limit_s:g} seconds",
                where="what would go",
                remedy="Try again when nobody else asks, or choose the method length or random.",
            ) from None

    def _over(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may wait for it any more

    async def _worked_out(self, work: Callable[[], Awaitable[_Found]]) -> _Found:
        try:
            return await work()
        finally:
            self._free.release()
