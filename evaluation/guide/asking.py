"""Asks everything about a focus group that has no answer yet: for pages and programs, without a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persimchat.evaluation.guide.positions import polled
from persimchat.evaluation.guide.themes import JudgedThemes
from persimchat.evaluation.judging import Judge, Questions, Respondent, judge_all
from persimchat.evaluation.polls import Everybody
from persimchat.evaluation.transcripts import has_words_of_people, refuse_words_of_people
from persimchat.models.offline.polling import BY_LOT
from persimchat.runs.folder.lock import check_free
from persimchat.runs.folder.reading import Record, read_run
from persimchat.runs.reports.guide_summary import guided


@dataclass(frozen=True)
class ToAsk:
    """Questions to one respondent.

    Attributes:
        respondent: who is asked.
        part: the questions.
    """

    respondent: Respondent
    part: Questions

    @property
    def calls(self) -> int:
        """How many have no answer yet."""
        return len(self.part.left(self.respondent.name, self.part.rows()))


async def to_ask(
    folder: Path,
    *,
    judge: Judge | None = None,
    positions: bool = True,
    with_people: bool = False,
    changes: Mapping[str, Any] | None = None,
    budgets: Mapping[str, Any] | None = None,
) -> list[ToAsk]:
    """What is asked about a focus group.

    Args:
        folder: of the run.
        judge: finds themes; None if nobody looks for them.
        positions: whether everybody is asked where they stood, before the talk and after it.
        with_people: whether the judge may read words of people who took part.
        changes: settings of the agents' models that are others than in the run.
        budgets: of the positions; the run's own do not count.

    Raises:
        InputError: the run is going on, or followed no guide; or the judge may not read it.
        ModelError: an embedding failed.
    """
    record = await asyncio.to_thread(_over, folder)
    found: list[ToAsk] = []
    if judge is not None:
        refuse_words_of_people([record.manifest.run] * has_words_of_people(record), allowed=with_people)
    if positions and (part := await polled(record, changes=changes, budgets=budgets)) is not None:
        found.append(ToAsk(Everybody(part.settings, (unit.asked for unit in part.units)), part))
    if judge is not None:
        found.append(ToAsk(judge, JudgedThemes.of(record)))
    return found


def _over(folder: Path) -> Record:
    """The record of a focus group that is over."""
    check_free(folder)
    record = read_run(folder)
    guided(record)  # refuses a run without a guide before anybody is asked
    return record


async def ask(questions: Sequence[ToAsk]) -> list[str]:
    """Ask what has no answer yet; what was answered before a failure is kept.

    Returns:
        What a reader must know.

    Raises:
        InputError, ModelError, MachineError: as `judge_all`.
    """
    notes = []
    for one in questions:
        if one.calls:
            asking = await judge_all(one.respondent, [one.part])
            notes += [asking.exhausted] if asking.exhausted else []
    return notes + by_lot(questions)


def by_lot(questions: Iterable[ToAsk]) -> list[str]:
    """What a reader must know of positions that the offline model gave; empty if it gave none."""
    drawn = any(isinstance(one.respondent, Everybody) and one.respondent.draws_lots for one in questions)
    return [BY_LOT.replace("This answer is", "Positions are")] if drawn else []
