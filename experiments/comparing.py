"""Comparisons: how two levels of an axis differ in a measure, paired by task, with interval, effect and test.

The unit is the task: the same topic and wording, participants in the same order, seed and round. Where the grid varies
more, the differences within one task are averaged first. A task that lacks a value on one side is left out and counted.
A cell that was held once for several levels counts for each of them, and is never compared with itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Final

from ..evaluation.statistics.claims import Claim, paired
from ..evaluation.statistics.intervals import Estimate, Kind, mean_over_tasks
from .axes import Label
from .file import Compare
from .plan import Cell

OF_THE_TASK: Final = ("seed", "wording", "order")
"""Axes that make another task; levels of all others are what differs within one."""

Values = Mapping[tuple[str, str], float | None]
"""A measure's value by the cell's id and the measure's name; a missing one is None or not there."""
Unit = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison(Claim):
    """Two levels of an axis compared in one measure: the difference is the mean of a − b over tasks.

    Attributes:
        measure: which is compared.
        by: the axis.
        a: the first level.
        b: the second level, from which the first differs.
        within: the levels of other axes to which the comparison is limited.
        left_out: tasks that lack a value on one side.
        first: the mean of the first level over tasks, with its interval.
        second: that of the second level.
    """

    measure: str
    by: str
    a: Label
    b: Label
    within: Mapping[str, Label]
    left_out: int
    first: Estimate
    second: Estimate


def compare(
    wanted: Compare,
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    measures: Mapping[str, Kind],
    values: Values,
) -> list[Comparison]:
    """All comparisons of one request, one a measure and pair of levels; no p is adjusted yet for what else is tested.

    Args:
        wanted: the request.
        axes: the levels of every axis.
        cells: of the experiment.
        measures: names, in order, with what values each can have.
        values: of the measures.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    chosen = [cell for cell in spread(cells) if all(cell.axes[name] == label for name, label in wanted.within.items())]
    levels = axes[wanted.by]
    pairs = pairs_of_levels(levels)
    if wanted.reference is not None:
        pairs = [(level, wanted.reference) for level in levels if level != wanted.reference]
    return [_pair(wanted, a, b, chosen, name, kind, values) for name, kind in measures.items() for a, b in pairs]


def spread(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells, those that stand for several levels once with the levels of each."""
    for cell in cells:
        for axes in (cell.axes, *cell.also):
            yield cell.model_copy(update={"axes": axes})


def _pair(
    wanted: Compare, a: Label, b: Label, cells: Sequence[Cell], measure: str, kind: Kind, values: Values
) -> Comparison:
    by = wanted.by
    sides: tuple[dict[Unit, float | None], dict[Unit, float | None]] = ({}, {})
    held: dict[Unit, set[str]] = {}
    tasks: dict[Unit, list[Unit]] = {}
    for cell in cells:
        for level, side in zip((a, b), sides, strict=True):
            if cell.axes[by] == level:
                rest = rest_of(cell, by)
                side[rest] = values.get((cell.id, measure))
                held.setdefault(rest, set()).add(cell.id)
                task = tasks.setdefault(task_of(cell, by), [])
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
        first=mean_over_tasks(first, kind),
        second=mean_over_tasks(second, kind),
        **vars(paired(differences, kind)),
    )


@dataclass(frozen=True)
class Group:
    """A measure over the conversations with the same levels of all axes but those of the task.

    Attributes:
        measure: which it is.
        levels: of these axes.
        cells: of the group.
        n: conversations with a value.
        missing: conversations whose value is missing.
        not_applicable: conversations to which the measure does not apply.
        mean: over conversations.
        sd: sample standard deviation over conversations; None of fewer than two.
        interval: the mean over tasks with its interval.
    """

    measure: str
    levels: Mapping[str, Label]
    cells: Sequence[Cell]
    n: int
    missing: int
    not_applicable: int
    mean: float | None
    sd: float | None
    interval: Estimate


def groups(
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    measures: Mapping[str, Kind],
    values: Values,
    apart: Collection[tuple[str, str]] = (),
    *,
    intervals: bool = True,
) -> list[Group]:
    """All groups of every measure, in order of the measures and the cells.

    Args:
        axes: the levels of every axis.
        cells: of the experiment.
        measures: names, in order, with what values each can have.
        values: of the measures.
        apart: cells and measures that do not apply to them.
        intervals: whether intervals are computed, too.

    Raises:
        MissingExtraError: intervals need the extra `evaluation`, which is not installed.
    """
    by_levels: dict[Unit, list[Cell]] = {}
    names = [name for name in axes if name not in OF_THE_TASK]
    for cell in spread(cells):
        by_levels.setdefault(tuple(json.dumps(cell.axes[name]) for name in names), []).append(cell)
    return [
        _group(
            measure,
            {name: members[0].axes[name] for name in names},
            members,
            values,
            apart,
            kind if intervals else None,
        )
        for measure, kind in measures.items()
        for members in by_levels.values()
    ]


def _group(
    measure: str,
    levels: Mapping[str, Label],
    cells: Sequence[Cell],
    values: Values,
    apart: Collection[tuple[str, str]],
    kind: Kind | None,
) -> Group:
    there = [(cell, value) for cell in cells if (value := values.get((cell.id, measure))) is not None]
    not_applicable = sum((cell.id, measure) in apart for cell in cells)
    tasks: dict[Unit, list[float]] = {}
    for cell, value in there:
        tasks.setdefault(task_of(cell), []).append(value)
    found, means = [value for _, value in there], [fmean(each) for each in tasks.values()]
    plain = Estimate(value=fmean(means) if means else None, method="none", n=len(means), note="not computed")
    return Group(
        measure=measure,
        levels=levels,
        cells=cells,
        n=len(found),
        missing=len(cells) - len(found) - not_applicable,
        not_applicable=not_applicable,
        mean=fmean(found) if found else None,
        sd=stdev(found) if len(found) > 1 else None,
        interval=mean_over_tasks(means, kind) if kind is not None else plain,
    )


def pairs_of_levels(levels: Sequence[Label]) -> list[tuple[Label, Label]]:
    """Every two levels, the one listed later first: it is compared with the one before it."""
    return [(a, b) for b, a in combinations(levels, 2)]


def rest_of(cell: Cell, by: str) -> Unit:
    """What a cell has in common with those that differ from it in one axis alone."""
    return _key(cell, [name for name in cell.axes if name != by])


def task_of(cell: Cell, by: str | None = None) -> Unit:
    """The task to which a cell belongs; without the axis that is compared."""
    return _key(cell, [name for name in OF_THE_TASK if name in cell.axes and name != by])


def _key(cell: Cell, names: Sequence[str]) -> Unit:
    return (cell.task, str(cell.round), *(json.dumps(cell.axes[name]) for name in names))
