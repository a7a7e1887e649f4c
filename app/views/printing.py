"""Printing tables and facts: for people on a terminal, and as wide as they need to be in a pipe."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from persimchat.app.output import on_terminal, say

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDE: Final = 400
_NAMED: Final = 6
"""So many files are named on the command line that is shown."""


def print_all(shown: RenderableType) -> None:
    """Print to standard output; in a pipe without colours and line breaks of the terminal's.

    Raises:
        OutputClosed: nobody reads it any more.
    """
    from rich.console import Console

    if on_terminal():
        Console(highlight=False, markup=False, emoji=False).print(shown)
        return
    console = Console(width=_WIDE, highlight=False, markup=False, emoji=False, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(shown)
    say("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def how_to_use(kept: Sequence[Path]) -> str:
    """A line that tells how to let them talk, or how to read the only one."""
    if len(kept) == 1:
        return f"Read it: persimchat personas show {shlex.quote(str(kept[0]))}"
    named = [str(file) for file in kept[:_NAMED]]
    if any("," in name for name in named):
        return "Let them talk: list the files under 'participants:' in a scenario, and run it with --scenario."
    what = "Let them talk" if len(kept) <= _NAMED else f"Let the first {_NAMED} talk"
    return f'{what}: persimchat run "…" --participants {shlex.quote(",".join(named))}'
