"""What would be left out of a past prompt: worked out one at a time, within a limit of time, without any request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Literal, TypeVar

from persimchat.app.web.shared.stories import closed
from persimchat.runs.folder.reading import Record, read_run
from persimchat.state.errors import InputError, PerSimChatError

Scored = Literal["attention", "embedding", "length", "random"]
"""The methods that can be asked about."""
LIMIT_S: Final = 120.0
"""Seconds that an answer may take, with the loading of the model and the wait for others who ask."""

_Found = TypeVar("_Found")


class ClosedError(InputError):
    """People play the story, so its prompts are not told."""


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


def open_record(folder: Path) -> Record:
    """A run whose prompts may be told. Blocks.

    Raises:
        ClosedError: people play it.
        InputError: the folder is damaged.
    """
    if closed(folder):
        raise ClosedError(
            "people play this story, so nothing of its prompts is told",
            where=folder.name,
            remedy="Let them play it to its end.",
        )
    return read_run(folder)
