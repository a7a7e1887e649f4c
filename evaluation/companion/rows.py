"""Rows of measures of companions: run, unit, measure, value, and why it is missing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Final

from ...reports.tables import guarded
from ...state.errors import MachineError
from ..statistics.intervals import NUMBER, SHARE, Estimate, mean_over_tasks

COMPANION: Final = "companion.csv"


@dataclass(frozen=True)
class Row:
    """One value.

    Attributes:
        run: the world: study, number of talks, seed.
        unit: what was measured: a question, a course.
        measure: its name.
        value: None if it is missing.
        missing: why.
    """

    run: str
    unit: str
    measure: str
    value: float | None
    missing: str = ""


SHARES: Final = frozenset(
    [
        "abstains",
        "right",
        "right_with_history",
        "in_prompt",
        "contradicts",
        "stale_in_prompt",
        "knows_a_stranger",
        "leaks",
        "assistant_phrase",
        "course_as_expected",
        "false_end",
        "emotion_fits",
        "accepted_at_first",
        "accepted_at_second",
        "repeated",
    ]
)
"""Measures that are 0 or 1, or a share of several answers; so are `recall@K` and `precision@K`."""


def summed_up(rows: Iterable[Row], measure: str, unit: str = "") -> Estimate:
    """A measure over all its rows: a share or a mean, with the interval of its kind.

    Args:
        rows: of any measure.
        measure: the one.
        unit: the beginning of the units that count; empty: all.
    """
    values = [row.value for row in rows if row.measure == measure and row.unit.startswith(unit)]
    return mean_over_tasks(values, SHARE if measure.partition("@")[0] in SHARES | {"recall", "precision"} else NUMBER)


def write_rows(folder: Path, rows: Sequence[Row]) -> Path:
    """Write `companion.csv`, one line a row.

    Raises:
        MachineError: it cannot be written.
    """
    path = folder / COMPANION
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow([field.name for field in fields(Row)])
            table.writerows([guarded(cell) if isinstance(cell, str) else cell for cell in astuple(row)] for row in rows)
    except OSError as error:
        raise MachineError.caused_by(error, "the table cannot be written", str(path)) from error
    return path
