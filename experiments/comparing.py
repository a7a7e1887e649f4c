"""Comparisons: how two levels of an axis differ in a measure, paired by task, with interval, effect and test.

The unit is the task: the same topic and wording, participants in the same order, seed and round. Where the grid varies
more, the differences within one task are averaged first. A task that lacks a value on one side is left out and counted.
A cell that was held once for several levels counts for each of them, and is never compared with itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Final

from persimchat.evaluation.statistics.effects import rank_biserial
from persimchat.evaluation.statistics.intervals import Estimate, mean_over_tasks
from persimchat.evaluation.statistics.significance import Significance, holm, wilcoxon
from persimchat.experiments.axes import Label
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell

OF_THE_TASK: Final = ("seed", "wording", "order")
"""Axes that make another task; levels of all others are what differs within one."""

Values = Mapping[tuple[str, str], float | None]
"""A measure's value by the cell's id and the measure's name; a missing one is None or not there."""
Unit = tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two levels of an axis compared in one measure.

    Attributes:
        measure: which is compared.
        by: the axis.
        a: the first level.
        b: the second level, from which the first differs.
        within: the levels of other axes to which the comparison is limited.
        left_out: tasks that lack a value on one side.
        first: the mean of the first level over tasks, with its interval.
        second: that of the second level.
        difference: the mean of a − b over tasks, with its interval.
        effect: the rank-biserial correlation, −1 to 1; None where there is no difference at all.
        test: Wilcoxon's signed-rank test.
        p_holm: its p, adjusted for all pairs compared in this measure.
    """

    measure: str
    by: str
    a: Label
    b: Label
    within: Mapping[str, Label]
    left_out: int
    first: Estimate
    second: Estimate
    difference: Estimate
    effect: float | None
    test: Significance
    p_holm: float | None = None


def compare(
    wanted: Compare, axes: Mapping[str, Sequence[Label]], cells: Sequence[Cell], measures: Sequence[str], values: Values
) -> list[Comparison]:
    """All comparisons of one request, one a measure and pair of levels.

    Args:
        wanted: the request.
        axes: the levels of every axis.
        cells: of the experiment.
        measures: names, in order.
        values: of the measures.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    found: list[Comparison] = []
    chosen = [cell for cell in _spread(cells) if all(cell.axes[name] == label for name, label in wanted.within.items())]
    levels = axes[wanted.by]
    pairs = [(a, b) for b, a in combinations(levels, 2)]
    if wanted.reference is not None:
        pairs = [(level, wanted.reference) for level in levels if level != wanted.reference]
    for measure in measures:
        family = [_pair(wanted, a, b, chosen, measure, values) for a, b in pairs]
        adjusted = holm([each.test.p for each in family])
        found += [replace(each, p_holm=p) for each, p in zip(family, adjusted, strict=True)]
    return found


def _spread(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells, those that stand for several levels once with the levels of each."""
    for cell in cells:
        for axes in (cell.axes, *cell.also):
            yield cell.model_copy(update={"axes": axes})


def _pair(wanted: Compare, a: Label, b: Label, cells: Sequence[Cell], measure: str, values: Values) -> Comparison:
    by = wanted.by
    sides: tuple[dict[Unit, float | None], dict[Unit, float | None]] = ({}, {})
    held: dict[Unit, set[str]] = {}
    tasks: dict[Unit, list[Unit]] = {}
    for cell in cells:
        for level, side in zip((a, b), sides, strict=True):
            if cell.axes[by] == level:
                rest = _key(cell, [name for name in cell.axes if name != by])
                side[rest] = values.get((cell.id, measure))
                held.setdefault(rest, set()).add(cell.id)
                own = [name for name in OF_THE_TASK if name in cell.axes and name != by]
                task = tasks.setdefault(_key(cell, own), [])
                if rest not in task:
                    task.append(rest)
    first: list[float] = []
    second: list[float] = []
    for members in tasks.values():  # one cell on both sides: the levels make no difference there
        members[:] = [rest for rest in members if len(held[rest]) > 1 or not all(rest in side for side in sides)]
    varied = [members for members in tasks.values() if members]
    for members in varied:
        both = [(sides[0].get(member), sides[1].get(member)) for member in members]
        complete = [(x, y) for x, y in both if x is not None and y is not None]
        if len(complete) == len(both):
            first.append(fmean(x for x, _ in complete))
            second.append(fmean(y for _, y in complete))
    differences = [x - y for x, y in zip(first, second, strict=True)]
    return Comparison(
        measure=measure,
        by=by,
        a=a,
        b=b,
        within=wanted.within,
        left_out=len(varied) - len(first),
        first=mean_over_tasks(first),
        second=mean_over_tasks(second),
        difference=mean_over_tasks(differences),
        effect=rank_biserial(differences).value,
        test=wilcoxon(differences),
    )


def _key(cell: Cell, names: Sequence[str]) -> Unit:
    return (cell.task, str(cell.round), *(json.dumps(cell.axes[name]) for name in names))
