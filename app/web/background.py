"""Work of the server that goes on while no page shows it: downloads of model files, and answers that take long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from ...models.local import getting
from ...models.local.files import Stored
from ...state.errors import InputError, PerSimChatError

State = Literal["loading", "done", "failed"]


@dataclass
class Download:
    """One download.

    Attributes:
        name: the model's name.
        done: bytes so far.
        total: bytes in all; None if not known.
        state: "loading", "done" or "failed".
        error: why it failed.
    """

    name: str
    done: int = 0
    total: int | None = None
    state: State = "loading"
    error: str = ""

    def progress(self, done: int, total: int | None) -> None:
        """Take over how far it is; called from the thread that downloads."""
        self.done, self.total = done, total


class Downloads:
    """All downloads of the server since its start, one for each name."""

    def __init__(self) -> None:
        self._all: dict[str, Download] = {}
        self._tasks: set[asyncio.Task[Stored | None]] = set()

    @property
    def all(self) -> list[Download]:
        """The latest download of each name, the oldest first."""
        return list(self._all.values())

    def start(self, name: str) -> Download:
        """Begin a download, for which somebody has given consent.

        Raises:
            InputError: one of this name is under way.
        """
        under_way = self._all.get(name)
        if under_way is not None and under_way.state == "loading":
            raise InputError(f"the model {name} is being downloaded", remedy="Wait until it is done.")
        self._all.pop(name, None)
        download = self._all[name] = Download(name)
        task = asyncio.get_running_loop().create_task(self._get(download))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return download

    def forget(self, name: str) -> None:
        """Forget a download that is over."""
        download = self._all.get(name)
        if download is not None and download.state != "loading":
            del self._all[name]

    async def _get(self, download: Download) -> Stored | None:
        try:
            entry, _ = await asyncio.to_thread(getting.get, download.name, progress=download.progress)
        except PerSimChatError as error:
            download.state, download.error = "failed", f"{error.what}. {error.remedy}".strip()
            return None
        except Exception:
            download.state, download.error = "failed", "PerSimChat failed; the terminal shows more."
            raise
        download.state = "done"
        return entry


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
