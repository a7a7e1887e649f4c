"""Pairs of conversations of one task, judged side by side: which cells make a pair, and what the verdicts come to.

Two cells make a pair if they are equal in everything but one axis. The unit of intervals and tests is the task, as in
`comparing.py`: where one task has several pairs of the same two levels, their outcomes are averaged first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Final

from ..evaluation.asking import Asked, Questions, judge_name
from ..evaluation.pairs import Counts, Pair, PairAnswer, PairResult, length_effect, questions_on, results_of
from ..evaluation.statistics.claims import side
from ..evaluation.statistics.effects import Effect
from ..evaluation.statistics.intervals import SHARE, Estimate, Kind, mean_over_tasks
from ..evaluation.statistics.significance import Significance, sign_test, wilcoxon
from ..runs.folder.reading import Record
from ..state.errors import InputError
from .axes import Label
from .comparing import Unit, pairs_of_levels, rest_of, spread, task_of
from .file import Experiment
from .measuring import Held, Named, Value
from .place import LOG
from .plan import Cell, Plan

NOT_COMPLETE: Final = "not complete"
"""Why a pair has no verdict of which a conversation is not complete."""
_POINTS: Final = {"win": 1.0, "tie": 0.5, "loss": 0.0}


@dataclass(frozen=True)
class CellPair:
    """Two cells that are equal in everything but the axis.

    Attributes:
        a: the level of the first cell.
        b: the level of the second.
        first: a cell.
        second: the other.
        task: to which both belong.
    """

    a: Label
    b: Label
    first: Cell
    second: Cell
    task: Unit


@dataclass(frozen=True)
class PairVerdicts:
    """A judge's verdicts on pairs of conversations of one task (`evaluation/pairs.py`).

    Attributes:
        by: the judge as the file writes it.
        axis: whose levels are paired.
        k: answers for each pair in each order.
        within: only cells with these levels of other axes.
        levels: of the axis.
    """

    by: str
    axis: str
    k: int
    within: Mapping[str, Label]
    levels: Sequence[Label]
    field: str = "pairs"
    named: Sequence[Named] = ()
    parts: Sequence[Named] = ()

    @classmethod
    def of(cls, experiment: Experiment, axes: Mapping[str, Sequence[Label]]) -> PairVerdicts | None:
        """As the experiment's file says; None where it asks for none.

        Raises:
            InputError: the axis is none of the grid's, or a level is not known.
        """
        wanted = experiment.measures.pairs
        if wanted is None:
            return None
        for name in (wanted.axis, *wanted.within):
            if name not in axes:
                raise InputError(
                    f"{name!r} is no axis of the grid",
                    where=experiment.where("measures", "pairs"),
                    remedy=f"The grid has: {', '.join(axes)}." if axes else "Put it into the grid.",
                )
        for name, label in wanted.within.items():
            if label not in axes[name]:
                raise InputError(
                    f"axis {name} has no level {label!r}",
                    where=experiment.where("measures", "pairs", "within"),
                    remedy=f"It has: {', '.join(map(str, axes[name]))}.",
                )
        if len(axes[wanted.axis]) < 2:
            raise InputError(
                f"axis {wanted.axis} has one level, which makes no pair",
                where=experiment.where("measures", "pairs", "axis"),
                remedy="Pair by an axis with two levels or more.",
            )
        return cls(wanted.by, wanted.axis, wanted.k, wanted.within, axes[wanted.axis])

    @property
    def judge(self) -> str:
        """The judge's name in records."""
        return judge_name(self.by)

    def pairs(self, cells: Sequence[Cell]) -> list[CellPair]:
        """All pairs of cells, in order of the levels and the cells; a cell makes no pair with itself."""
        by_rest: dict[Unit, dict[int, Cell]] = {}
        for cell in spread(cells):
            if any(cell.axes[name] != label for name, label in self.within.items()):
                continue
            by_rest.setdefault(rest_of(cell, self.axis), {})[self.levels.index(cell.axes[self.axis])] = cell
        found: dict[tuple[int, int, str, str], CellPair] = {}
        for a, b in pairs_of_levels(self.levels):
            i, j = self.levels.index(a), self.levels.index(b)
            for alike in by_rest.values():
                if i in alike and j in alike and alike[i].id != alike[j].id:
                    pair = CellPair(a, b, alike[i], alike[j], task_of(alike[i], self.axis))
                    found.setdefault((i, j, alike[i].id, alike[j].id), pair)
        return [*found.values()]

    def judged(self, held: Sequence[Held]) -> list[tuple[CellPair, Pair]]:
        """The pairs of which both conversations are held."""
        by_cell = {one.cell.id: one.conversation for one in held if one.folder is not None and one.conversation}
        there = [one for one in self.pairs([each.cell for each in held]) if {one.first.id, one.second.id} <= {*by_cell}]
        return [(one, Pair(by_cell[one.first.id], by_cell[one.second.id])) for one in there]

    def questions(self, held: Sequence[Held], folder: Path) -> list[Questions[PairAnswer]]:
        """All pairs of which both conversations are held; the answers go into the experiment's folder."""
        return [questions_on([pair for _, pair in self.judged(held)], folder / LOG, self.k)]

    def expected(self, held: Sequence[Held]) -> Iterator[Asked]:
        """All pairs of which a conversation is not held yet."""
        by_cell = {one.cell.id: one for one in held}
        known: dict[tuple[int, int], list[Asked]] = {}
        for one in self.pairs([each.cell for each in held]):
            a, b = by_cell[one.first.id], by_cell[one.second.id]
            if (a.folder is None or b.folder is None) and a.conversation and b.conversation:
                key = id(a.conversation), id(b.conversation)
                if key not in known:
                    part = questions_on([Pair(a.conversation, b.conversation)], Path(), self.k, expected=True)
                    known[key] = [unit.asked for unit in part.units]
                yield from known[key]

    def values(self, held: Held, record: Record) -> list[Value]:
        """None: a verdict is no value of one conversation."""
        return []

    def check(self, plan: Plan) -> None:
        """Refuse pairs whose conversations have not the same topic and participants.

        Raises:
            InputError: there are such pairs, or none at all.
        """
        where = plan.experiment.where("measures", "pairs", "axis")
        by_id = {planned.cell.id: planned.scenario for planned in plan.cells}
        pairs = self.pairs([planned.cell for planned in plan.cells])
        if not pairs:
            remedy = "Leave pairs out, or exclude less."
            raise InputError(f"no two cells differ in {self.axis} alone", where=where, remedy=remedy)
        for pair in pairs:
            a, b = by_id[pair.first.id], by_id[pair.second.id]
            people = [sorted(p.model_dump_json() for p in one.participants) for one in (a, b)]
            if a.topic != b.topic or people[0] != people[1]:
                other = "topics" if a.topic != b.topic else "participants"
                raise InputError(
                    f"the conversations of {pair.a} and {pair.b} have other {other}: nobody can judge them as a pair",
                    where=where,
                    remedy="Pair by another axis.",
                )


@dataclass(frozen=True)
class Contest:
    """All verdicts on two levels of an axis.

    Attributes:
        a: the first level.
        b: the second.
        pairs: of conversations, those without a verdict included.
        tasks: with a verdict: the unit of interval and test.
        counts: verdicts on a against b, over pairs.
        missing: reason: how many pairs have no verdict for it.
        rate: wins and half of the ties as a share, over tasks.
        test: wins against losses, over tasks.
        p_holm: its p, adjusted for all that the file tests.
        position: the judge's favour for what is shown first, in points, over tasks.
        position_test: of that favour against 0.
        conflicts: share of pairs whose verdict changes with the order, over tasks.
        length: Spearman's ρ of the difference of scores and of mean words of an utterance.
    """

    a: Label
    b: Label
    pairs: int
    tasks: int
    counts: Counts
    missing: Mapping[str, int]
    rate: Estimate
    test: Significance
    position: Estimate
    position_test: Significance
    conflicts: Estimate
    length: Effect
    p_holm: float | None = None

    @property
    def ahead(self) -> Label | None:
        """Who may be said to win more tasks than it loses; None for nobody."""
        return {1: self.a, -1: self.b, 0: None}[side(self.rate, self.p_holm, 0.5)]


@dataclass(frozen=True)
class JudgedPair:
    """A pair of cells with what the judge says of it; without a result, a conversation of it is not complete."""

    cells: CellPair
    result: PairResult | None


def verdicts_of(measure: PairVerdicts, cells: Sequence[Cell], held: Sequence[Held], folder: Path) -> list[JudgedPair]:
    """What the judge says of every pair of cells, as far as it has answered.

    Args:
        measure: as the file says.
        cells: of the experiment.
        held: those of which the conversation is complete.
        folder: of the experiment.

    Raises:
        InputError: the file of the answers is damaged.
    """
    there, (part,) = measure.judged(held), measure.questions(held, folder)
    found = results_of([pair for _, pair in there], part, measure.judge, part.rows())
    results = {(one.first.id, one.second.id): result for (one, _), result in zip(there, found, strict=True)}
    return [JudgedPair(one, results.get((one.first.id, one.second.id))) for one in measure.pairs(cells)]


def contests(measure: PairVerdicts, judged: Sequence[JudgedPair]) -> list[Contest]:
    """What the verdicts come to, for each two levels of the axis; nothing is adjusted yet for what else is tested."""
    found = [_contest(a, b, [one for one in judged if (one.cells.a, one.cells.b) == (a, b)])
             for a, b in pairs_of_levels(measure.levels)]  # fmt: skip
    return [one for one in found if one.pairs]


def _contest(a: Label, b: Label, judged: Sequence[JudgedPair]) -> Contest:
    by_task: dict[Unit, list[PairResult]] = {}
    missing: Counter[str] = Counter()
    for one in judged:
        verdict = one.result.verdict if one.result is not None else None
        if one.result is None or verdict is None or verdict.outcome is None:
            missing[verdict.missing if verdict is not None else NOT_COMPLETE] += 1
        else:
            by_task.setdefault(one.cells.task, []).append(one.result)
    verdicts = [[result.verdict for result in results] for results in by_task.values()]
    points = [fmean(_POINTS[each.outcome] for each in group if each.outcome is not None) for group in verdicts]
    wins, losses = sum(point > 0.5 for point in points), sum(point < 0.5 for point in points)
    positions = [_mean([None if v.position is None else float(v.position) for v in group]) for group in verdicts]
    conflicts = [_mean([None if v.conflict is None else float(v.conflict) for v in group]) for group in verdicts]
    test = sign_test(wins, losses, len(points) - wins - losses)
    return Contest(
        a=a,
        b=b,
        pairs=len(judged),
        tasks=len(points),
        counts=Counts.of([each.outcome for group in verdicts for each in group]),
        missing=dict(missing),
        rate=mean_over_tasks(points, SHARE),
        test=test if points else replace(test, p=None),
        position=mean_over_tasks(positions, Kind(low=-9, high=9)),
        position_test=wilcoxon(positions),
        conflicts=mean_over_tasks(conflicts, SHARE),
        length=length_effect([one.result for one in judged if one.result is not None]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def beaten(found: Sequence[Contest]) -> list[tuple[Label, Label]]:
    """Who may be said to be ahead of whom."""
    return [(one.a, one.b) if one.ahead == one.a else (one.b, one.a) for one in found if one.ahead is not None]
