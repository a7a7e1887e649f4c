"""Writing to standard output and standard error, whatever they are connected to."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from persimchat.app.exits import OutputClosed
from persimchat.state.setting import RenamedSetting


def prepare() -> None:
    """Make both streams take any text: what their encoding lacks becomes `?`, and a closed one swallows everything."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Write a line to standard output at once.

    Raises:
        OutputClosed: nobody reads it any more.
    """
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error


def warn(text: str) -> None:
    """Write a line to standard error, if there is anybody to read it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def hints_in_a_line() -> Iterator[None]:
    """Tell of old names (`RenamedSetting`) once and in one line; other warnings are shown as ever."""
    shown, told = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, RenamedSetting):
            shown(message, category, *place, **more)
        elif str(message) not in told:
            told.add(str(message))
            warn(f"persimchat: {message}")

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


def on_terminal() -> bool:
    """Whether standard output is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"


def is_unicode() -> bool:
    """Whether standard output takes all of Unicode."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def discard_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail on it when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
