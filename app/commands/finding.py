"""Finds runs, and what evaluators said of them, for the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runs.folder.listing import find_run

if TYPE_CHECKING:
    from ...runs.folder.answers import RecordedJudgement
    from ...runs.folder.reading import Record

__all__ = ["find_run", "judgements_on"]


def judgements_on(record: Record) -> list[RecordedJudgement]:
    """The evaluators' judgements in a run's folder that hold for its conversation as it is; others are stale.

    Raises:
        InputError: the file of judgements is damaged.
    """
    from ...runs.folder.reading import read_judgements

    rows = read_judgements(record.path)
    if not rows:
        return []
    from ...evaluation.dimensions import current  # takes a second; most runs have no judgements

    return current(record, rows)
