"""Everybody's need to talk as bars: name, bar, number, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from persimchat.state.plain_text import one_line

MOST: Final = 10
"""The greatest need to talk."""

_BAR: Final = 10
_NAME: Final = 20
_GAP: Final = 2


def bar(value: float, most: float, width: int, *, unicode: bool) -> str:
    """A bar of `width` characters, filled in proportion to `value` / `most`."""
    full, empty = ("━", "─") if unicode else ("#", ".")
    filled = round(width * min(max(value / most, 0.0), 1.0)) if most else 0
    return full * filled + empty * (width - filled)


def fitted(name: str, width: int, *, unicode: bool) -> str:
    """A name on exactly `width` cells, shortened with an ellipsis where it is too long."""
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    cut = set_cell_size(name, width - 1).rstrip() + ("…" if unicode else ".")
    return set_cell_size(cut, width)


def needs_lines(
    needs: Mapping[str, int],
    colours: Mapping[str, str],
    *,
    speaker: str = "",
    width: int = 80,
    height: int = 100,
    unicode: bool = True,
) -> list[Text]:
    """The bars, row by row, in order of listing.

    Args:
        needs: agent's name: need to talk, 0–10.
        colours: agent's name: colour of the name.
        speaker: who speaks now; marked.
        width: cells of a row.
        height: rows at most, none where it is 0 or less; where that is too few, those with the greatest need are shown,
            and how many are not.
        unicode: whether the terminal can draw the bars' characters.
    """
    if not needs or height < 1:
        return []
    longest = max(cell_len(one_line(name)) for name in needs)
    name_width = max(4, min(_NAME, longest, width - _BAR - 6))
    cell = 2 + name_width + 1 + _BAR + 3
    columns = max(1, min(len(needs), (width + _GAP) // (cell + _GAP)))
    names, hidden = list(needs), 0
    if len(names) > columns * height:
        rows = max(1, height - 1)
        kept = set(sorted(names, key=lambda name: -needs[name])[: columns * rows])
        hidden = len(names) - len(kept)
        names = [name for name in names if name in kept]
    lines = []
    for start in range(0, len(names), columns):
        line = Text(no_wrap=True, overflow="crop")
        for name in names[start : start + columns]:
            line.append("> " if name == speaker else "  ", style="bold")
            line.append(fitted(one_line(name), name_width, unicode=unicode), style=colours.get(name, ""))
            line.append(" " + bar(needs[name], MOST, _BAR, unicode=unicode), style="dim" if not needs[name] else "")
            line.append(f" {needs[name]:>2}" + " " * _GAP)
        line.rstrip()
        lines.append(line)
    if hidden and len(lines) < height:
        lines.append(Text(f"  and {hidden} more, with less need", style="dim"))
    return lines
