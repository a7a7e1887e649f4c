"""Printing tables and facts: for people on a terminal, and as wide as they need to be in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persimchat.app.output import on_terminal, say

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDE: Final = 400


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
