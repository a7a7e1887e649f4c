"""Lets people, or a program, take part in a run through lines on standard input without a prompt."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
from typing import Final

from ...runs.control import Control
from ...runs.events import Asked, Event
from ...state.errors import InputError
from ...state.intervention import MOST_COUNTED
from ...state.plain_text import one_line
from ..output import warn
from .console_lines import answers
from .taking_part import TakingPart, carry_out

_PIECE: Final = 65_536
_LONGEST: Final = 4 * MOST_COUNTED
"""The most bytes kept of a line: enough to report that it is too long."""

_Asked = tuple[asyncio.AbstractEventLoop, "asyncio.Future[str | None]"]


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")[:MOST_COUNTED]


class Lines:
    """The lines of a file descriptor, read on demand by a daemon thread.

    Args:
        descriptor: what is read; None for no lines.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._rest = b""
        self._wanted: queue.SimpleQueue[_Asked] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
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
            with contextlib.suppress(RuntimeError):  # the run is over, and its event loop is closed
                loop.call_soon_threadsafe(_give, wanted, line)

    def _line(self) -> str | None:
        line = b""
        while b"\n" not in self._rest:
            line = (line + self._rest)[:_LONGEST]
            self._rest = self._read()
            if not self._rest:
                return _text(line) if line else None
        last, _, self._rest = self._rest.partition(b"\n")
        return _text((line + last)[:_LONGEST]).removesuffix("\r")

    def _read(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            return os.read(self._descriptor, _PIECE)
        except OSError:  # the descriptor is closed, or the terminal is gone
            return b""


def _give(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def standard_input() -> Lines:
    """The lines of standard input."""
    try:
        return Lines(sys.stdin.fileno() if sys.stdin is not None else None)
    except (OSError, ValueError):  # a program has replaced standard input
        return Lines(None)


class PipedLines(TakingPart):
    """Carries out lines in their order, and reports errors on standard error.

    A line that answers (words without a name before them, or /pass) waits until a person is asked, so a program may
    write all lines of a conversation at once. All other lines are carried out as they come.
    """

    def __init__(self, control: Control, lines: Lines, *, moderating: bool) -> None:
        super().__init__(control, moderating=moderating)
        self._lines = lines
        self._somebody_asked = asyncio.Event()

    def take(self, event: Event) -> None:
        """Update the state with an event."""
        super().take(event)
        if isinstance(event, Asked):
            self._somebody_asked.set()

    async def read(self) -> None:
        """Carry out line by line, to the end of the input."""
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
