"""Writes to standard output and standard error; exit codes, and errors on one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

import typer

from ..state.errors import nearest_word
from ..state.plain_text import one_line, quoted
from ..state.secrets import without_secrets

DONE: Final = 0
DIFFERS: Final = 1
BAD_INPUT: Final = 2
MODEL_FAILURE: Final = 3
INTERRUPTED: Final = 130

_EVERY_S: Final = 10.0
_SHOWN: Final = 40
"""The most characters of a wrong value that an error shows."""

UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""The base class of Typer's errors for a wrong command line; it has no public name."""


class Interrupted(Exception):
    """A user or a signal ended the program."""


class CtrlC(Exception):
    """The key that interrupts."""


class CtrlD(Exception):
    """The key that leaves."""


class OutputClosed(Interrupted):
    """The reader of standard output has closed it, as in `persimchat run … | head`."""


def _wrong_number(error: Exception) -> tuple[str, str] | None:
    """The problem of a value that is not a number or out of range, and a remedy; None for any other error."""
    problems = getattr(error.__cause__, "errors", None)
    if problems is None:
        return None
    first = problems()[0]
    shown, limits = quoted(first["input"], _SHOWN), first.get("ctx", {})
    match first["type"]:
        case "int_parsing" | "int_parsing_size" | "int_from_float":
            return f"{shown} is not a whole number", "Give a whole number. "
        case "float_parsing":
            return f"{shown} is not a number", "Give a number. "
        case "greater_than_equal":
            return f"{shown} is too small", f"Give {limits['ge']} or more. "
        case "less_than_equal":
            return f"{shown} is too great", f"Give {limits['le']} or less. "
        case _:
            return None


def usage_line(error: Exception) -> str:
    """The error of a wrong command line, on one line with a remedy."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "persimchat"
    option = getattr(error, "option_name", None)
    near = getattr(error, "possibilities", None)
    wrong = _wrong_number(error)
    if wrong is not None:
        hint = str(getattr(error, "param_hint", None) or "/".join(getattr(getattr(error, "param", None), "opts", [])))
        what, remedy = f"{wrong[0]} ({hint})" if hint else wrong[0], wrong[1]
    elif option and near:
        alike = nearest_word(option.strip("-"), [one.strip("-") for one in near])  # hyphens make all options alike
        what, remedy = f"no such option {option}", f"Did you mean --{alike}? " if alike else ""
    else:
        what, remedy = " ".join(str(getattr(error, "format_message", error.__str__)()).split()).rstrip("."), ""
        what = what[:1].lower() + what[1:].replace("Value error, ", "")
        if "unexpected extra argument" in what and command.endswith(" run"):
            remedy = "Put a topic of several words in quotes. "
    return f"{without_secrets(what)}{'' if what.endswith('?') else '.'} {remedy}See: {command} --help"


def prepare() -> None:
    """Make both streams take any text: characters that an encoding lacks become `?`; a closed stream ignores all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(text: str) -> None:
    """Write a line to standard output at once.

    Raises:
        OutputClosed: the reader has closed it.
    """
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error


def say_object(value: Any) -> None:
    """Write a value as JSON to standard output, indented; raises as `say`."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def help_alone(context: typer.Context) -> None:
    """Write the help of a command of which no further command was named; raises as `say`."""
    if context.invoked_subcommand is None:
        say(context.get_help())


def warn(text: str) -> None:
    """Write a line to standard error; ignored if it is closed."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class Line:
    """A line of standard error that changes; where there is no terminal, a line now and then.

    Args:
        quiet: write nothing.
        at_once: where there is no terminal, write the first line at once, not after a while.
    """

    def __init__(self, *, quiet: bool = False, at_once: bool = False) -> None:
        self._quiet, self._changes = quiet, on_terminal() and sys.stderr.isatty()
        self._next, self._open = time.monotonic() + (0.0 if at_once else _EVERY_S), False

    def show(self, text: str) -> None:
        """Show this in place of what was there."""
        if self._quiet:
            return
        if self._changes:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"\r\x1b[K{text}")
                sys.stderr.flush()
            self._open = True
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY_S
            warn(text)

    def clear(self) -> None:
        """Take the line that changes away."""
        if self._open:
            self.show("")
        self._open = False

    def end(self) -> None:
        """Leave the line that changes."""
        if self._open:
            warn("")
        self._open = False


@contextlib.contextmanager
def waits_shown() -> Iterator[None]:
    """Say on standard error which servers of models are waited for, if one is silent for long."""
    from ..models.waiting import Waiting, waits_told

    line = Line(at_once=True)

    def show(waits: list[Waiting]) -> None:
        if waits:
            line.show(one_line(f"waiting for {', '.join(map(str, waits))}; Ctrl-C ends"))
        else:
            line.clear()

    with waits_told(show):
        yield


def on_terminal() -> bool:
    """Whether standard output is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"


def is_unicode() -> bool:
    """Whether standard output takes all of Unicode."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def discard_stdout() -> None:
    """Discard what is still buffered, so that the interpreter does not fail on it at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
