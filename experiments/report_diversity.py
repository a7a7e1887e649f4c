"""What a report says of diversity: settings side by side, their means over cases, and differences paired by case."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from ..evaluation.diversity.cases import ALIKE
from ..evaluation.diversity.measuring import CASE, GAIN, POSITION, Diversity, Mean, difference
from ..evaluation.diversity.texts import ORDERS
from ..evaluation.published.figures import Direction, FigurePaper, FigureTable, Plain, figures
from ..evaluation.statistics.claims import Claim, family
from ..memory.embeddings import LEXICAL
from ..state.minds.pruning import Pruning, letters_of
from ..state.settings import MODES
from ..state.wording import said, t
from .comparing import OF_THE_TASK, spread
from .diversity import Levels
from .plan import Cell, defaults
from .report import NOT_SHOWN, Shown, Value, reason
from .tables import Tables

ITSELF: Final = "itself, other seeds"
SIDE_BY_SIDE: Final = ("sim", *(f"dist_{n}" for n in ORDERS), "words", "repeated_end")
CUT: Final = tuple(f"dist_{n}_cut" for n in ORDERS)
BESIDE: Final = ("max_sim", *(f"exclusive_{n}" for n in ORDERS))
LEFT_OUT: Final = ("words_left_out", GAIN)
CHECKED: Final = ("inconsistency", "inconsistency_first")


def diversity_shown(found: Tables) -> dict[str, Any]:
    """The values of the report's section on diversity; empty if it is not measured."""
    if found.diversity is None:
        return {}
    measured = found.diversity.found
    tables = list(_tables(measured)) if measured.values else []
    tables += published_shown(found, found.diversity.values_by_levels(), measured.options.embedding)
    return {"tables": tables, "embedding": measured.embedding, "notes": measured.notes}


def _tables(found: Diversity) -> Iterator[Shown]:
    if not found.values:
        return
    yield _plain(
        found,
        t("findings.side_by_side"),
        SIDE_BY_SIDE,
        [t("findings.about_sim"), t("findings.about_cases")],
    )
    yield _plain(
        found,
        t("findings.cut"),
        CUT,
        [t("findings.about_cut")],
    )
    if "words_left_out" in found.measures:
        yield _plain(found, t("findings.efficiency"), LEFT_OUT, [t("findings.about_gain")])
    if "inconsistency" in found.measures:
        yield _plain(found, t("findings.contradictions"), CHECKED, [t("findings.about_contradictions")])
    beside = [one for one in found.means if one.measure == BESIDE[0]]
    if beside:
        rows: list[list[Value]] = [
            [_label(one.setting), _label(one.against or ITSELF), one.estimate.n, *_values(found, one.setting, BESIDE)]
            for one in beside
        ]
        head = [t("findings.setting"), t("findings.reference"), t("findings.column_cases"), *BESIDE]
        yield Shown(t("findings.beside_reference"), head, rows, [t("findings.about_max_sim")])
    differences = [row for one in found.means if one.unit == CASE for row in _difference(one)]
    if differences:
        head = [t("findings.setting"), t("findings.reference"), t("findings.measure"), t("findings.cases_in_both")]
        head += [t("findings.difference"), t("findings.interval"), "p (Holm)", t("findings.shown")]
        yield Shown(t("findings.differences_by_case"), head, differences, [t("findings.about_wilcoxon")])
    positions = [one for one in found.means if one.unit == POSITION and one.measure == "sim"]
    if positions:
        names = SIDE_BY_SIDE[:4]
        by_place = [
            [_label(one.setting), int(one.who), *_values(found, one.setting, names, one.who)]
            for setting in found.cases.settings
            for one in positions
            if one.setting == setting.label
        ]
        yield Shown(t("findings.by_position"), [t("findings.setting"), t("findings.utterance"), *names], by_place)


def _plain(found: Diversity, caption: str, names: Sequence[str], notes: Sequence[str]) -> Shown:
    """A table of settings: each measure with its interval in brackets, where there is one."""
    taken = [name for name in names if name in found.measures]
    rows: list[list[Value]] = []
    for setting in found.cases.settings:
        means = [found.mean(setting.label, name) for name in taken]
        cases = max((one.estimate.n for one in means if one), default=0)
        rows.append([_label(setting.label), cases, *map(_value, means)])
    lacking = [one for one in found.values if one.measure in taken and one.value is None and one.unit == CASE]
    missing = dict.fromkeys(
        t("findings.is_missing", case=one.case, setting=label, measure=one.measure, why=reason(one.missing))
        for one, label in ((one, _label(one.setting)) for one in lacking)
    )
    return Shown(caption, [t("findings.setting"), t("findings.column_cases"), *taken], rows, [*notes, *missing])


def _label(setting: str) -> str:
    """A setting's label, which is the file's but for two."""
    return said(setting) if setting in (ITSELF, ALIKE) else setting


def _value(one: Mean | None) -> Value:
    if one is None or one.estimate.low is None:
        return None if one is None else one.estimate.value
    return one.estimate.value, one.estimate.low, one.estimate.high


def _values(found: Diversity, setting: str, names: Sequence[str], who: str = "") -> list[Value]:
    return [_value(found.mean(setting, name, who)) for name in names]


def _difference(one: Mean) -> Iterator[list[Value]]:
    if one.claim is not None and one.against is not None:
        away = one.claim.difference
        row: list[Value] = [_label(one.setting), _label(one.against), one.measure, away.n, away.value]
        yield [*row, (away.low, away.high), one.claim.p_holm, said(one.claim.shown or NOT_SHOWN)]


PAPER: Final = "pruning"
CAUTION: Final = "Another model, other cases: compare directions, not values."
WITHIN: Final = NOT_SHOWN
NOT_COMPARABLE: Final = "not comparable"
_OF_MEANINGS: Final = ("sim", "max_sim")
"""Measures that another embedding makes other ones."""
_DECODING: Final = ("model_temperature", "model_top_p")
_LENGTH: Final = "max_messages"
_STRENGTH: Final = "pruning.lambda"
_HEEDED: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "pruning.query": {"pruning.method": ("attention", "embedding")},
    "pruning.responses": {"pruning.method": ("attention", "embedding"), "pruning.query": ("response",)},
}
"""Settings that are heeded only with these values of others."""

Cases = Mapping[str, float | None]
"""A measure's value by case."""
Values = Mapping[tuple[Levels, str], Cases]
"""Values by levels and measure."""


@dataclass(frozen=True)
class _Group:
    """Conversations with the same levels.

    Attributes:
        levels: theirs.
        settings: those on which the paper says something, by dotted name.
        others: the levels of axes that vary none of these settings.
        cells: theirs.
    """

    levels: Levels
    settings: Mapping[str, Plain]
    others: Levels
    cells: Sequence[Cell]


@dataclass(frozen=True)
class _Row:
    """A line of a table, and what it is about.

    Attributes:
        group: the conversations.
        measure: of which.
        is_full: whether nothing was left out in them.
        line: its cells, but for the last, the direction.
        published: the change, or its sign; None where this one is comparable to nothing published.
        change: the change here; None where nothing is changed.
    """

    group: _Group
    measure: str
    is_full: bool
    line: list[Value]
    published: float | None = None
    change: Claim | None = None


def published_shown(found: Tables, values: Values, embedding: str) -> Iterator[Shown]:
    """Tables of published figures beside this experiment's; none where the settings fit nothing that is published.

    Args:
        found: the experiment's tables.
        values: by levels and measure.
        embedding: by which meanings were compared.
    """
    paper = figures(PAPER)
    groups = _groups(found, paper)
    tables = [
        (table.table, table.about, rows, table.differs) for table, rows in _tabled(groups, values, paper, embedding)
    ]
    for direction in paper.directions:
        rows = [row for group in groups for row in _directed(group, groups, direction, values, paper, embedding)]
        tables += [(direction.table, direction.about, rows, ())] if rows else []
    changes = [row.change for _, _, rows, _ in tables for row in rows if row.change is not None]
    adjusted = iter(family(changes, found.tested)[0])
    for name, about, rows, differs in tables:
        for row in rows:
            told = "" if row.change is None else said(_verdict(row.published, next(adjusted)))
            row.line.append(told)
        yield _shown(found, name, about, rows, _differed(rows, paper, embedding, differs))


def _tabled(
    groups: Sequence[_Group], values: Values, paper: FigurePaper, embedding: str
) -> Iterator[tuple[FigureTable, list[_Row]]]:
    """The tables that have something to show; what several tables have stands in that of which most is there."""
    full = {group.others: group.levels for group in groups if _is_full(group.settings, paper)}
    changed = [(group, full[group.others]) for group in groups if group.others in full]
    each = {
        table.table: [row for group, of in changed for row in _rows(group, of, table, values, paper, embedding)]
        for table in paper.tables
    }
    told: set[tuple[Levels, str]] = set()
    for name in sorted(each, key=lambda name: -sum(not row.is_full for row in each[name])):
        each[name] = [row for row in each[name] if (row.group.levels, row.measure) not in told]
        if all(row.is_full for row in each[name]):
            each[name] = []
        told |= {(row.group.levels, row.measure) for row in each[name]}
    return ((table, each[table.table]) for table in paper.tables if each[table.table])


def _shown(found: Tables, table: str, about: str, rows: Sequence[_Row], differed: str) -> Shown:
    named = said(table) if not table[0].isdigit() else t("findings.of_table", number=table)
    head = [*_axes(found), t("findings.row"), t("findings.measure"), t("findings.published"), t("findings.this_run")]
    head += [t("findings.change_published"), t("findings.change_here"), t("findings.interval"), t("findings.direction")]
    caption = t("findings.beside_published", about=said(about), table=named)
    return Shown(caption, head, [row.line for row in rows], [said(CAUTION), differed])


def direction_of(published: float, here: Claim) -> str:
    """Whether a change goes the way that is published, or none could be shown.

    Args:
        published: the change, or its sign.
        here: the change over cases.
    """
    if here.difference.value is None:
        return "not measured"
    if not published:
        return "no change published"
    if not here.side:
        return WITHIN
    return "as published" if here.side == (1 if published > 0 else -1) else "against"


# ── groups and their settings ──────────────────────────────────────────────────────────────────────────────────────


def studied(cell: Cell, names: Sequence[str]) -> dict[str, Plain]:
    """Those of a cell's settings that are not at their defaults, by dotted name; blocks as letters in their order."""
    found: dict[str, Plain] = {}
    for name in names:
        value = _at(cell.settings, name)
        if isinstance(value, list):
            value = letters_of(value)
        if value is not None:
            found[name] = value
    return found


def _at(settings: Mapping[str, Any], name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _held_with(cells: Iterable[Cell], name: str) -> list[Plain]:
    """The values of a setting in cells, each once; those that are not set are empty."""
    found = (_at(cell.settings, name) for cell in cells)
    usual = _at({**defaults(MODES[0]), "pruning": Pruning().model_dump(mode="json", by_alias=True)}, name)
    return list(dict.fromkeys(next((one for one in (value, usual) if one is not None), "") for value in found))


def _groups(found: Tables, paper: FigurePaper) -> list[_Group]:
    names = list(paper.settings)
    # A value that no row has, such as a temperature of one's own, says nothing if it is the same in all groups.
    known = {name: _published(paper, name) for name in names}
    axes = _axes(found)
    by_levels: dict[Levels, list[Cell]] = {}
    for cell in spread(found.locked.cells):
        by_levels.setdefault(tuple(str(cell.axes[name]) for name in axes), []).append(cell)
    each = {levels: {**paper.settings, **studied(cells[-1], names)} for levels, cells in by_levels.items()}
    same = {name for name in names if len({one[name] for one in each.values()}) == 1}
    told = {
        levels: {n: v if v in known[n] or n not in same else paper.settings[n] for n, v in one.items()}
        for levels, one in each.items()
    }
    # The levels of axes that change none of these settings say with which group one is compared.
    apart = [place for place in range(len(axes)) if not _changes(told, place)]
    groups: dict[tuple[Levels, frozenset[str]], _Group] = {}
    for levels, one in told.items():
        others, cells = tuple(levels[place] for place in apart), by_levels[levels]
        # The same conversations under two names, as with and without revision at λ = 0, are one group.
        groups.setdefault((others, frozenset(cell.id for cell in cells)), _Group(levels, one, others, cells))
    return list(groups.values())


def _changes(told: Mapping[Levels, Mapping[str, Plain]], place: int) -> bool:
    """Whether levels of an axis, all others equal, have different settings."""
    by_rest: dict[Levels, list[Mapping[str, Plain]]] = {}
    for levels, settings in told.items():
        by_rest.setdefault((*levels[:place], *levels[place + 1 :]), []).append(settings)
    return any(one != each[0] for each in by_rest.values() for one in each)


def _published(paper: FigurePaper, name: str) -> set[Plain]:
    """The values of a setting with which there is a row."""
    alternatives = (one for table in paper.tables for row in table.rows for one in row.settings)
    return {paper.settings[name], *(one[name] for one in alternatives if name in one)}


def _is_full(settings: Mapping[str, Plain], paper: FigurePaper) -> bool:
    return dict(settings) == dict(paper.settings)


def _axes(found: Tables) -> list[str]:
    return [name for name in found.locked.axes if name not in OF_THE_TASK]


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(
    group: _Group, of: Levels, table: FigureTable, values: Values, paper: FigurePaper, embedding: str
) -> Iterator[_Row]:
    row = next((row for other, row in paper.rows_for(group.settings) if other is table), None)
    full = next((row for other, row in paper.rows_for({}) if other is table), None)
    if row is None or full is None:
        return
    for place, measure in enumerate(table.measures):
        if (group.levels, measure) not in values or (of, measure) not in values:
            continue
        published, own = row.values[place], _mean(values[group.levels, measure])
        if row is full:
            yield _Row(group, measure, True, [*group.levels, row.name, measure, published, own, None, None, None])
        else:
            by = published - full.values[place]
            change = _change(measure, values[group.levels, measure], values[of, measure])
            line = _line(group, row.name, measure, (published, round(by, 6)), own, change)
            way = (by if abs(by) > 1e-9 else 0.0) if _comparable(measure, row.comparable, embedding) else None
            yield _Row(group, measure, False, line, way, change)


def _directed(
    group: _Group, groups: Sequence[_Group], direction: Direction, values: Values, paper: FigurePaper, embedding: str
) -> Iterator[_Row]:
    """The measures that should go a published way, from the group that differs in one setting alone.

    Or from another measure of the same conversations, where the paper compares two of one conversation.
    """
    name = direction.setting
    if group.settings[name] == paper.settings[name]:
        return
    usual = {**group.settings, name: paper.settings[name]}
    of = next((one.levels for one in groups if (one.settings, one.others) == (usual, group.others)), None)
    label = f"{name.rpartition('.')[2]} = {group.settings[name]}"
    comparable = all(_held_with(group.cells, one) == [value] for one, value in direction.within.items())
    for measure, sign in direction.measures.items():
        before = direction.before.get(measure)
        first = (group.levels, before) if before is not None else (of, measure) if of is not None else None
        if first is not None and first in values and (group.levels, measure) in values:
            own, change = values[group.levels, measure], _change(measure, values[group.levels, measure], values[first])
            line = _line(group, label, measure, (None, said("rises" if sign > 0 else "falls")), _mean(own), change)
            way = sign if _comparable(measure, comparable, embedding) else None
            yield _Row(group, measure, False, line, way, change)


def _comparable(measure: str, comparable: bool, embedding: str) -> bool:
    return comparable and not (embedding == LEXICAL and measure in _OF_MEANINGS)


def _verdict(published: float | None, here: Claim) -> str:
    return NOT_COMPARABLE if published is None else direction_of(published, here)


def _line(
    group: _Group,
    row: str,
    measure: str,
    published: tuple[float | None, Value],
    own: float | None,
    change: Claim,
) -> list[Value]:
    (value, by), here = published, change.difference
    return [*group.levels, row, measure, value, own, by, here.value, (here.low, here.high)]


def _change(measure: str, after: Cases, before: Cases) -> Claim:
    """The change over the cases that both have."""
    both = [(after[case], before[case]) for case in after if case in before]
    return difference(measure, [a - b for a, b in both if a is not None and b is not None])


def _mean(cases: Cases) -> float | None:
    there = [value for value in cases.values() if value is not None and not math.isnan(value)]
    return fmean(there) if there else None


def _differed(rows: Sequence[_Row], paper: FigurePaper, embedding: str, more: Sequence[str] = ()) -> str:
    """What differs from the paper in the conversations of a table."""
    groups = {row.group.levels: row.group for row in rows}.values()
    cells = [cell for group in groups for cell in group.cells]
    scored = [cell for group in groups if 0 < float(group.settings[_STRENGTH]) < 1 for cell in group.cells]
    models = ", ".join(dict.fromkeys(str(cell.settings.get("model")) for cell in cells))
    here = [*map(said, paper.differs), t("findings.models_here", models=models)]
    here += [t("findings.embedding_here", embedding=embedding), *map(said, more)]
    here += _unlike(_DECODING, cells, {name: _published(paper, name) for name in _DECODING})
    for name, value in paper.others.items():
        of = scored if name.startswith("pruning.") else cells
        for other, heeding in _HEEDED.get(name, {}).items():
            of = [cell for cell in of if _held_with([cell], other)[0] in heeding]
        here += _unlike([name], of, {name: {value}})
    return t("findings.differed", source=paper.source, what="; ".join([*here, *_unlike([_LENGTH], cells, {})]))


def _unlike(names: Iterable[str], cells: Sequence[Cell], known: Mapping[str, set[Plain]]) -> Iterator[str]:
    """The settings of cells that are not the paper's, with their values."""
    for name in names:
        if other := [value for value in _held_with(cells, name) if value not in known.get(name, ())]:
            values = ", ".join(said("not set") if value == "" else str(value) for value in other)
            yield t("findings.here", what=name, values=values)
