"""The guide's positions: polls of everybody but the moderator, as they were before the talk and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from persimchat.evaluation.polls import END, START, Polled, in_run
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.guide import guide_of


async def polled(
    record: Record, *, changes: Mapping[str, Any] | None = None, budgets: Mapping[str, Any] | None = None
) -> list[Polled]:
    """The polls with the questions that they take; empty if the guide has no positions, or there is no guide.

    Args:
        record: of the run.
        changes: settings that are others than in the run.
        budgets: of the polls; the run's own do not count.

    Raises:
        InputError, ModelError: as `in_run`.
    """
    guide = guide_of(record)
    if guide is None:
        return []
    found = [await in_run(record, poll, (START, END), changes=changes, budgets=budgets) for poll in guide.positions]
    return [replace(one, standpoints=[s for s in one.standpoints if s.agent != guide.moderator]) for one in found]
