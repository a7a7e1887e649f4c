"""How the command ends: exit codes, and the one line on standard error that says what went wrong."""

from __future__ import annotations

from typing import Final

import typer

DONE: Final = 0
BAD_INPUT: Final = 2
MODEL_FAILURE: Final = 3
INTERRUPTED: Final = 130

UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""The base of what Typer raises for a wrong command line. It has no public name of its own."""


class Interrupted(Exception):
    """The user, or whoever runs the program, ended it."""


class OutputClosed(Interrupted):
    """Nobody reads standard output any more, as in `persimchat run … | head`."""


def usage_line(error: Exception) -> str:
    """A wrong command line, in one line with a remedy."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "persimchat"
    option = getattr(error, "option_name", None)
    near = getattr(error, "possibilities", None)
    if option and near:
        what, remedy = f"no such option {option}", f"Did you mean {near[0]}? "
    else:
        what, remedy = " ".join(str(getattr(error, "format_message", error.__str__)()).split()).rstrip("."), ""
        what = what[:1].lower() + what[1:].replace("Value error, ", "")
        if "unexpected extra argument" in what and command.endswith(" run"):
            remedy = "Put a topic of several words in quotes. "
    return f"{what}{'' if what.endswith('?') else '.'} {remedy}See: {command} --help"
