"""People, or a program for them, take part through lines on standard input that is no terminal's prompt."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
from typing import Final

from persimchat.app.console.console_lines import answers
from persimchat.app.console.taking_part import Listening, carry_out
from persimchat.app.output import warn
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Event
from persimchat.state.errors import InputError
from persimchat.state.plain_text import one_line

_PIECE: Final = 65_536
_LONGEST: Final = 1_000_000
"""Bytes of a line; of a longer one no more is kept, which is enough to say that it is too long."""

_Asked = tuple[asyncio.AbstractEventLoop, "asyncio.Future[str | None]"]


class Lines:
    """Lines of a file descriptor, each read when it is wanted, by a thread that keeps no process alive.

    Args:
        descriptor: what is read; None for nothing at all.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._wanted: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def next(self) -> str | None:
        """The next line without its end; None where there are no more."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="standard input", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str | None] = loop.create_future()
        self._wanted.put((loop, line))
        return await line

    def _serve(self) -> None:
        while True:
            loop, wanted = self._wanted.get()
            line = self._line()
            with contextlib.suppress(RuntimeError):  # the run is over, and its loop closed
                loop.call_soon_threadsafe(_give, wanted, line)

    def _line(self) -> str | None:
        line = b""
        while b"\n" not in self._rest:
            line = (line + self._rest)[:_LONGEST]
            self._rest = self._read()
            if not self._rest:
                return line.decode("utf-8", "replace") if line else None
        last, _, self._rest = self._rest.partition(b"\n")
        return (line + last)[:_LONGEST].decode("utf-8", "replace").removesuffix("\r")

    def _read(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError:  # closed, or a terminal that has gone
            return b""


def _give(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def standard_input() -> Lines:
    """The lines of standard input."""
    try:
        return Lines(sys.stdin.fileno() if sys.stdin is not None else None)
    except (OSError, ValueError):  # something else stands in its place
        return Lines(None)


class PipedLines(Listening):
    """Lines are carried out in their order; what is wrong with one is told on standard error.

    A line that answers (words without a name before them, or /pass) waits until a person is asked, so that all lines of
    a conversation may be given at once. Everything else is done when its turn comes.
    """

    def __init__(self, control: Control, lines: Lines, *, moderating: bool) -> None:
        super().__init__(control, moderating=moderating)
        self._lines = lines
        self._somebody_asked = asyncio.Event()

    def take(self, event: Event) -> None:
        """Take an event into account."""
        super().take(event)
        if isinstance(event, Asked):
            self._somebody_asked.set()

    async def read(self) -> None:
        """Carry out line by line, until there are no more."""
        while (line := await self._lines.next()) is not None:
            while self.control.asked is None and not self.control.paused and answers(line, self.talk):
                self._somebody_asked.clear()
                await self._somebody_asked.wait()
            try:
                told = carry_out(line, self.talk, self.control)
            except InputError as error:
                told = f"persimchat: {one_line(str(error))}"
            if told:
                warn(told)
