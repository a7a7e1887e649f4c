"""A table of a report's section on stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Value = str | int | float | None | tuple[float | None, ...]
"""A cell: words, a number, an interval, or a mean with the least and the greatest value."""


@dataclass(frozen=True)
class Shown:
    """A table of the report.

    Attributes:
        caption: what it shows.
        head: its columns.
        rows: its cells.
        notes: what a reader must know, a sentence each.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
