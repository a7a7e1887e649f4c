"""What a report says of polls: how often each answer was given in each group at each point, and what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from persimchat.evaluation.tables import reasons
from persimchat.experiments.axes import Label
from persimchat.experiments.comparing import OF_THE_TASK, spread
from persimchat.experiments.file import PollOf
from persimchat.experiments.report_judges import TOO_MANY
from persimchat.experiments.tables import Tables
from persimchat.models.naming import parse_model_name
from persimchat.models.offline.polling import BY_LOT
from persimchat.runs.reports.words import count

MOST_COLUMNS: Final = 11
"""The most answers that have a column each; of more, the mean is told."""


@dataclass(frozen=True)
class Distribution:
    """The answers of one group at one point of a poll.

    Attributes:
        levels: of the axes, those of the task apart.
        at: the point.
        n: answers that are there.
        missing: why answers are missing, and how often.
        shares: of each answer, in the order of the poll's; empty where there are none.
        mean: of numbers and scales.
    """

    levels: Mapping[str, Label]
    at: str
    n: int
    missing: Mapping[str, int]
    shares: Sequence[float]
    mean: float | None

    @property
    def why(self) -> str:
        """The reasons in words."""
        return reasons(self.missing)


@dataclass(frozen=True)
class Polled:
    """One poll over all conversations.

    Attributes:
        asked: the poll.
        answers: that have a column each.
        groups: with answers, in order of the cells and the points.
    """

    asked: PollOf
    answers: Sequence[str]
    groups: Sequence[Distribution]


def polled(found: Tables) -> list[Polled]:
    """The polls of an experiment, with the distributions of their answers."""
    rows: Sequence[Any] = found.rows.get("polls", ())
    each = []
    for asked in found.experiment.measures.polls:
        possible = asked.poll.possible
        answers = possible if len(possible) <= MOST_COLUMNS else ()
        own = [row for row in rows if row.poll == asked.id]
        each.append(Polled(asked, answers, list(_distributions(asked, answers, own, found))))
    return each


def _distributions(asked: PollOf, answers: Sequence[str], rows: Sequence[Any], found: Tables) -> Iterator[Distribution]:
    names = [name for name in found.locked.axes if name not in OF_THE_TASK]
    groups: dict[str, tuple[dict[str, Label], set[str]]] = {}
    for cell in spread(found.locked.cells):
        levels = {name: cell.axes[name] for name in names}
        groups.setdefault(json.dumps(levels), (levels, set()))[1].add(cell.id)
    for levels, cells in groups.values():
        for at in map(str, asked.at):
            own = [row for row in rows if row.cell in cells and at in row.at.split(", ")]
            given = [row.answer for row in own if row.answer is not None]
            times = Counter(given)
            shares = [times[answer] / len(given) for answer in answers] if given else []
            mean = fmean(map(float, given)) if given and asked.poll.is_ordered else None
            missing = Counter(row.missing for row in own if row.answer is None)
            yield Distribution(levels, at, len(given), missing, shares, mean)


def by_lot(found: Tables) -> str:
    """What a reader must know where the offline model has answered; empty where it has not."""
    rows: Sequence[Any] = found.rows.get("polls", ())
    lots = sum(parse_model_name(row.answered_by).provider == "offline" for row in rows)
    if not lots:
        return ""
    said = BY_LOT.replace("This answer is", "They are" if lots == len(rows) else f"{lots:,} of them are")
    return f"{count(len(rows), 'answer')}. {said}"


def polls_missing(found: Tables) -> list[str]:
    """Polls of which more than `TOO_MANY` of the answers in a group are missing, a sentence each."""
    told = []
    for poll in polled(found):
        for one in poll.groups:
            of = one.n + sum(one.missing.values())
            if of and sum(one.missing.values()) / of > TOO_MANY:
                where = ", ".join(f"{name} {label}" for name, label in one.levels.items())
                told.append(
                    f"{sum(one.missing.values()):,} of {of:,} answers to the poll {poll.asked.id} ({one.at}) are "
                    f"missing{f' in {where}' if where else ''} ({one.why})."
                )
    return told
