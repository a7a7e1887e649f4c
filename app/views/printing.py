"""Prints tables and facts: fitted to a terminal, and as wide as necessary in a pipe."""

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
"""The most files named in the suggested command line."""


def print_all(shown: RenderableType) -> None:
    """Print to standard output; in a pipe, without colours and without fitting lines to a terminal.

    Raises:
        OutputClosed: the reader has closed it.
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
    """A line with the command that lets the personas talk, or that shows the only one."""
    if len(kept) == 1:
        return f"Read it: persimchat personas show {shlex.quote(str(kept[0]))}"
    named = [str(file) for file in kept[:_NAMED]]
    if any("," in name for name in named):
        return "Let them talk: list the files under 'participants:' in a scenario, and run it with --scenario."
    what = "Let them talk" if len(kept) <= _NAMED else f"Let the first {_NAMED} talk"
    return f'{what}: persimchat run "…" --participants {shlex.quote(",".join(named))}'
