"""Tables that an experiment wrote, for comparing one with another."""

from __future__ import annotations

import csv
from pathlib import Path

VARYING = ("tries", "seconds", "calls", "input_tokens", "output_tokens", "cost_usd")
"""Columns that a kill may change: what was under way is asked again."""


def rows(folder: Path, table: str, *, without: tuple[str, ...] = ("seconds",)) -> list[dict[str, str]]:
    """The rows of a table of an experiment's folder.

    Args:
        folder: the experiment's.
        table: its name.
        without: columns that are left out.
    """
    with (folder / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return [{name: cell for name, cell in row.items() if name not in without} for row in csv.DictReader(file)]
