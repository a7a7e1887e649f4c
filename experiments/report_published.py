"""What a report says of published figures on pruning: beside this experiment's, with directions and what differed.

A group of conversations is put beside a published row by its settings. Changes are those from the group that is as the
paper's `Full`, with the same levels of all other axes, paired by case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from persimchat.evaluation.diversity.measuring import RESAMPLES
from persimchat.evaluation.published.figures import Direction, FigurePaper, FigureTable, Plain, figures
from persimchat.evaluation.statistics.intervals import Estimate, bootstrap_mean
from persimchat.experiments.comparing import OF_THE_TASK, spread
from persimchat.experiments.plan import Cell
from persimchat.experiments.report_table import Shown, Value
from persimchat.experiments.tables import Tables
from persimchat.state.pruning import REMOVABLE

PAPER: Final = "pruning"
CAUTION: Final = "Another model, other cases: compare directions, not values."
WITHIN: Final = "within spread"

Levels = tuple[str, ...]
"""The levels of all axes but those of the task, in order of the file."""
Cases = Mapping[str, float | None]
"""A measure's value by case."""


@dataclass(frozen=True)
class _Group:
    """Conversations with the same levels.

    Attributes:
        levels: theirs.
        settings: those on which the paper says something, by dotted name.
        others: the levels of axes that vary none of these settings.
    """

    levels: Levels
    settings: Mapping[str, Plain]
    others: Levels


def published_shown(found: Tables, values: Mapping[tuple[Levels, str], Cases]) -> Iterator[Shown]:
    """Tables of published figures beside this experiment's; none where the settings fit nothing that is published.

    Args:
        found: the experiment's tables.
        values: by levels and measure.
    """
    paper = figures(PAPER)
    groups = _groups(found, paper)
    full = {group.others: group.levels for group in groups if _is_full(group.settings, paper)}
    changed = [(group, full[group.others]) for group in groups if group.others in full]
    for table in paper.tables:
        measures = [name for name in table.measures if any(measure == name for _, measure in values)]
        rows = [row for group, of in changed for row in _rows(group, of, table, measures, values, paper)]
        if any(group.levels != of for group, of in changed) and len(rows) > len(measures):
            yield _shown(found, table.table, table.about, rows, [_differed(found, paper, table.differs)])
    for direction in paper.directions:
        rows = [row for group in groups for row in _directed(group, groups, direction, values, paper)]
        if rows:
            yield _shown(found, direction.table, direction.about, rows, [_differed(found, paper, ())])


def _shown(found: Tables, table: str, about: str, rows: Sequence[Sequence[Value]], notes: Sequence[str]) -> Shown:
    named = table if not table[0].isdigit() else f"table {table}"
    return Shown(
        f"Beside what is published: {about} ({named})",
        [*_axes(found), "row", "measure", "published", "this run", "change published", "change here"]
        + ["95 % interval", "direction"],
        rows,
        [CAUTION, *notes],
    )


def direction_of(published: float, here: Estimate) -> str:
    """Whether a change goes the way that is published.

    Args:
        published: the change, or its sign.
        here: the change over cases with its interval.
    """
    if here.value is None:
        return "not measured"
    if not published:
        return "no change published"
    if here.low is None or here.high is None:
        return "too few cases"
    if here.low <= 0 <= here.high:
        return WITHIN
    return "as published" if (here.value > 0) == (published > 0) else "against"


# ── groups and their settings ──────────────────────────────────────────────────────────────────────────────────────


def studied(cell: Cell, names: Sequence[str]) -> dict[str, Plain]:
    """Those of a cell's settings that are not at their defaults, by dotted name; blocks as letters in their order."""
    found: dict[str, Plain] = {}
    for name in names:
        value: Any = cell.settings
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, list):
            value = "".join(letter for letter in REMOVABLE if letter in value)
        if value is not None:
            found[name] = value
    return found


def _groups(found: Tables, paper: FigurePaper) -> list[_Group]:
    names = list(paper.settings)
    # A value that no row has, such as a temperature of one's own, says nothing if it is the same in all groups.
    known = {
        name: {paper.settings[name], *(one[name] for one in _alternatives(paper) if name in one)} for name in names
    }
    axes = _axes(found)
    by_levels = {tuple(str(cell.axes[name]) for name in axes): cell for cell in spread(found.locked.cells)}
    each = {levels: {**paper.settings, **studied(cell, names)} for levels, cell in by_levels.items()}
    same = {name for name in names if len({one[name] for one in each.values()}) == 1}
    told = {
        levels: {n: v if v in known[n] or n not in same else paper.settings[n] for n, v in one.items()}
        for levels, one in each.items()
    }
    # The levels of axes that change none of these settings say with which group one is compared.
    apart = [place for place in range(len(axes)) if not _changes(told, place)]
    return [_Group(levels, one, tuple(levels[place] for place in apart)) for levels, one in told.items()]


def _changes(told: Mapping[Levels, Mapping[str, Plain]], place: int) -> bool:
    """Whether levels of an axis, all others equal, have different settings."""
    by_rest: dict[Levels, list[Mapping[str, Plain]]] = {}
    for levels, settings in told.items():
        by_rest.setdefault((*levels[:place], *levels[place + 1 :]), []).append(settings)
    return any(one != each[0] for each in by_rest.values() for one in each)


def _alternatives(paper: FigurePaper) -> Iterator[Mapping[str, Plain]]:
    for table in paper.tables:
        for row in table.rows:
            yield from row.settings


def _is_full(settings: Mapping[str, Plain], paper: FigurePaper) -> bool:
    return dict(settings) == dict(paper.settings)


def _axes(found: Tables) -> list[str]:
    return [name for name in found.locked.axes if name not in OF_THE_TASK]


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(
    group: _Group,
    of: Levels,
    table: FigureTable,
    measures: Sequence[str],
    values: Mapping[tuple[Levels, str], Cases],
    paper: FigurePaper,
) -> Iterator[list[Value]]:
    row = next((row for other, row in paper.rows_for(group.settings) if other is table), None)
    full = next((row for other, row in paper.rows_for({}) if other is table), None)
    if row is None or full is None:
        return
    for measure in measures:
        if (group.levels, measure) not in values:
            continue
        place = table.measures.index(measure)
        published, own = row.values[place], _mean(values[group.levels, measure])
        if row is full:
            yield [*group.levels, row.name, measure, published, own, None, None, None, ""]
            continue
        by = published - full.values[place]
        change = _change(values, group.levels, of, measure)
        yield _line(group, row.name, measure, (published, round(by, 6), by), own, change)


def _directed(
    group: _Group,
    groups: Sequence[_Group],
    direction: Direction,
    values: Mapping[tuple[Levels, str], Cases],
    paper: FigurePaper,
) -> Iterator[list[Value]]:
    """The measures that should go a published way, from the group that differs in one setting alone."""
    name = direction.setting
    usual = {**group.settings, name: paper.settings[name]}
    of = next((one.levels for one in groups if (one.settings, one.others) == (usual, group.others)), None)
    if of is None or of == group.levels:
        return
    label = f"{name.rpartition('.')[2]} = {group.settings[name]}"
    for measure, sign in direction.measures.items():
        if (group.levels, measure) in values:
            change, own = _change(values, group.levels, of, measure), _mean(values[group.levels, measure])
            yield _line(group, label, measure, (None, "rises" if sign > 0 else "falls", sign), own, change)


def _line(
    group: _Group,
    row: str,
    measure: str,
    published: tuple[float | None, Value, float],
    own: float | None,
    change: Estimate,
) -> list[Value]:
    value, by, sign = published
    interval = (change.low, change.high)
    told = direction_of(sign if abs(sign) > 1e-9 else 0.0, change)
    return [*group.levels, row, measure, value, own, by, change.value, interval, told]


def _change(values: Mapping[tuple[Levels, str], Cases], levels: Levels, of: Levels, measure: str) -> Estimate:
    """The mean change of a measure over the cases that both groups have."""
    first, second = values[levels, measure], values.get((of, measure), {})
    both = [(first[case], second[case]) for case in first if case in second]
    differences = [a - b for a, b in both if a is not None and b is not None]
    return bootstrap_mean(differences, resamples=RESAMPLES)


def _mean(cases: Cases) -> float | None:
    there = [value for value in cases.values() if value is not None and not math.isnan(value)]
    return fmean(there) if there else None


def _differed(found: Tables, paper: FigurePaper, more: Sequence[str]) -> str:
    models = ", ".join(dict.fromkeys(str(cell.settings.get("model")) for cell in found.locked.cells))
    return f"What differed from {paper.source}: {'; '.join([*paper.differs, f'models here: {models}', *more])}."
