"""The guide's positions: polls of everybody but the moderator, as they were before the talk and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from persimchat.evaluation.judging import Asking
from persimchat.evaluation.polls import END, START, Polled, Unit, in_run
from persimchat.runs.folder.judgements import Key
from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.folder.reading import Record
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


@dataclass(frozen=True)
class PolledPositions:
    """The polls of one run. Their answers go to one file, so they are held one after another.

    Attributes:
        parts: one for each question on which everybody takes a stand; at least one.
    """

    parts: Sequence[Polled]

    @property
    def settings(self) -> Settings:
        """With budgets and limits."""
        return self.parts[0].settings

    @property
    def units(self) -> list[Unit]:
        """All questions."""
        return [unit for part in self.parts for unit in part.units]

    def rows(self) -> dict[Key, PollAnswer]:
        """The answers in the folder. Raises as `answers_in`."""
        return self.parts[0].rows()

    def left(self, judge: str, rows: Mapping[Key, PollAnswer]) -> list[Unit]:
        """The questions that have no answer."""
        return [unit for part in self.parts for unit in part.left(judge, rows)]

    async def judged(self, asking: Asking) -> None:
        """Ask what has no answer yet, and record each answer; raises as `judge_all`."""
        for part in self.parts:
            await part.judged(asking)


async def polled(
    record: Record, *, changes: Mapping[str, Any] | None = None, budgets: Mapping[str, Any] | None = None
) -> PolledPositions | None:
    """The polls with the questions that they take; None if the guide has no positions, or there is no guide.

    Args:
        record: of the run.
        changes: settings that are others than in the run.
        budgets: of the polls; the run's own do not count.

    Raises:
        InputError: the run is a branch, which has no states of its beginning; or as `in_run`.
        ModelError: as `in_run`.
    """
    guide = record.guide
    if guide is None or not guide.positions:
        return None
    if origin := origin_of(record):
        raise InputError(
            f"nobody can be asked where they stood before the talk: this run is a branch, and begins as {origin}",
            where=f"run {record.manifest.run}",
            remedy=f"Make the summary without positions (--no-positions), or that of {origin}.",
        )
    found = [await in_run(record, poll, (START, END), changes=changes, budgets=budgets) for poll in guide.positions]
    parts = [replace(one, standpoints=[s for s in one.standpoints if s.agent != guide.moderator]) for one in found]
    return PolledPositions(parts)


def origin_of(record: Record) -> str:
    """The run whose beginning this one shares, so that nobody in this one can be asked as before the talk; else ""."""
    branch = record.manifest.branch
    return branch.of if branch and branch.turn else ""
