"""What a report says of stories: parts over runs, and published figures beside one's own with what differed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from ..evaluation.published.figures import FigureTable, figures
from ..evaluation.statistics.intervals import EXACT, proportion
from ..evaluation.stories import FORMS, KINDS
from ..models.naming import parse_model_name
from ..state.wording import localised, said, t
from .comparing import OF_THE_TASK, Comparison, pairs_of_levels, rest_of, spread
from .file import Compare
from .plan import Cell, defaults
from .report import NOT_SHOWN, Shown, Value
from .stories import (
    ATTITUDES,
    CEDED,
    COUNTED,
    SUPPORTED,
    TALKS,
    WON,
    Part,
    control,
    entropy_name,
)
from .tables import Tables

PAPER: Final = "agentgroupchat"
MADE_UP: Final = (
    "The offline model answers here. Its votes and changes of mind are an arithmetic that was made up: these figures "
    "show what is measured, and say nothing about people."
)
UNCLEAR: Final = (
    'The paper says neither what is counted nor in which unit, so none of the four forms is "the" published one.'
)
HALF: Final = 50.0
"""Percent of rounds; where the others turned away in no more, nothing shows that they were provoked."""


def stories_shown(found: Tables) -> dict[str, Any]:
    """The values of the report's section on stories; empty without measures of stories."""
    if not found.stories:
        return {}
    shown = [*_winners(found), *effects(found), *_by_part(found), *_attitude(found), *_form(found), *_entropy(found)]
    return {"tables": shown, "made_up": said(MADE_UP) if _offline(found) else ""}


def _offline(found: Tables) -> bool:
    names = [name for cell in found.locked.cells for name in _models(cell)]
    return any(parse_model_name(name).provider == "offline" for name in names)


def _models(cell: Cell) -> list[str]:
    settings = {**defaults(cell.settings.get("mode", "discussion")), **cell.settings}
    return list(dict.fromkeys(map(str, [settings["model"], *(settings.get("agent_models") or {}).values()])))


def _axes(found: Tables) -> list[str]:
    return [name for name in found.locked.axes if name not in OF_THE_TASK]


def _levels(one: Part) -> list[str]:
    return [str(label) for label in one.levels.values()]


# ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _winners(found: Tables) -> Iterator[Shown]:
    parts = [one for one in found.parts if one.measure in (WON, CEDED)]
    if parts:
        rows: list[list[Value]] = [
            [
                *_levels(one),
                t("findings.gave_way", who=one.who) if one.measure == CEDED else _part(one),
                one.n,
                round(one.total),
                one.estimate.value,
                (one.estimate.low, one.estimate.high),
            ]
            for levels in _by_level(found)
            for one in parts
            if tuple(_levels(one)) == levels
        ]
        head = [*_axes(found), t("findings.winner"), t("findings.runs"), t("findings.won"), t("findings.share")]
        yield Shown(t("findings.who_won"), [*head, t("findings.interval")], rows, [t("findings.about_who_won")])


_PARTS: Final = (
    (SUPPORTED, "round"),
    ("supporters", "main_character"),
    ("reciprocity", "round"),
    (TALKS, "host_and_partner"),
)


def _by_part(found: Tables) -> Iterator[Shown]:
    for measure, what in _PARTS:
        parts = [one for one in found.parts if one.measure == measure]
        if parts:
            rows: list[list[Value]] = [
                [*_levels(one), _part(one), one.n, one.estimate.value, (one.estimate.low, one.estimate.high)]
                for one in parts
            ]
            shares = all(one.estimate.method == EXACT for one in parts)
            head = [*_axes(found), t(f"findings.part_{what}"), t("findings.runs"), t(f"findings.value_{measure}")]
            how = t("findings.exact_shares") if shares else t("findings.students")
            yield Shown(t(f"findings.caption_{measure}"), [*head, t("findings.interval")], rows, [how])


def _part(one: Part) -> str:
    if one.unit == "result":
        return said(one.who)
    return t("findings.first_impressions") if one.unit == "round" and one.who == "0" else one.who


# ── beside what was published ──────────────────────────────────────────────────────────────────────────────────────


def _attitude(found: Tables) -> Iterator[Shown]:
    axis = found.experiment.measures.attitude
    if axis is None:
        return
    rows: list[list[Value]] = []
    provoked: dict[str, float | None] = {}
    for levels, cells in _by_level(found).items():
        each = [_pooled(found, cells, name) for name in ATTITUDES]
        if any(n for _, n in each):
            name = levels[_axes(found).index(axis)]
            rows.append([*levels, name, *_counts(each[:2]), *(value for value, _ in each)])
            provoked[name] = each[2][0]
    calm: dict[str, float | None] = {}
    parts = {(tuple(_levels(one)), one.measure, one.who): one for one in found.parts if one.unit == "character"}
    for levels, measure, who in parts:
        if measure == "attitude_T1":
            values = [parts.get((levels, name, who)) for name in ATTITUDES]
            counts = [parts.get((levels, COUNTED, control(name, who))) for name in list(ATTITUDES)[:2]]
            row: list[Value] = [*levels, who, *(round(one.total) if one else None for one in counts)]
            rows.append([*row, *(one.estimate.value if one else None for one in values)])
            calm[who] = values[2].estimate.value if values[2] else None
    notes = [t("findings.about_attitude")]
    if unmoved := [name for name, value in provoked.items() if _is_unmoved(value, calm.get(name))]:
        than = t("findings.in_the_control") if calm else t("findings.in_half")
        notes.append(t("findings.unmoved", who=", ".join(unmoved), than=than))
    head = [t("findings.character"), t("findings.rounds"), t("findings.changes"), "T1", "T2"]
    head += [t("findings.check", which="T1"), t("findings.check", which="T2")]
    yield Shown(t("findings.attitude"), [*_axes(found), *head], rows, notes)
    yield from _beside(found, "attitude_T1", ["T1", "T2"])


def _is_unmoved(provoked: float | None, calm: float | None) -> bool:
    """Whether the check says that nobody was provoked: by the control, where there is one."""
    return provoked is not None and provoked <= (calm if calm is not None else HALF)


def _counts(each: Sequence[tuple[float | None, float]]) -> list[Value]:
    return [round(n) for _, n in each]


def _by_level(found: Tables) -> dict[tuple[str, ...], list[Cell]]:
    """The cells by their levels of all axes but those of the task."""
    by: dict[tuple[str, ...], list[Cell]] = {}
    for cell in spread(found.locked.cells):
        by.setdefault(tuple(str(cell.axes[name]) for name in _axes(found)), []).append(cell)
    return by


def _form(found: Tables) -> Iterator[Shown]:
    if "form" in found.experiment.measures.story:
        notes = [f"{kind}: {said(about)}." for kind, about in KINDS.items()]
        notes.append(t("findings.enforced"))
        yield from _beside(found, "form_CS", ["CS", "BUS", "RUS", "NoR", "NoB"], notes)


def _beside(found: Tables, measure: str, short: Sequence[str], notes: Sequence[str] = ()) -> Iterator[Shown]:
    """A table of percentages that a paper published by model, with one's own."""
    table = figures(PAPER).table_of(measure)
    assert table is not None
    rows: list[list[Value]] = []
    for name in table.names:
        each = [table.values(name, one) for one in table.measures]
        rows.append([t("findings.published_of", what=name), *(_spread(values) for values in each)])
    rows.append([t("findings.published_n"), *table.n])
    for label, cells in _by_model(found).items():
        pooled = [_pooled(found, cells, one) for one in table.measures]
        here = [t("findings.here_of", what=label), t("findings.here_of", what="n")]
        rows += [[here[0], *(value for value, _ in pooled)], [here[1], *_counts(pooled)]]
    several = any(len(table.values(name, measure)) > 1 for name in table.names)
    about = said(table.about)
    caption = t("findings.published_and_here", about=f"{about[0].upper()}{about[1:]}")
    how = [t("findings.published_means")] if several else []
    yield Shown(caption, [t("findings.model"), *short], rows, [*notes, *how, _differed(found, table)])


def _spread(values: Sequence[float]) -> Value:
    return values[0] if len(values) == 1 else (fmean(values), min(values), max(values))


def _pooled(found: Tables, cells: Sequence[Cell], measure: str) -> tuple[float | None, float]:
    """A percentage over all answers of these cells, and how many answers there are."""
    ids = {cell.id for cell in cells}
    rows: Sequence[Any] = found.rows["measures"]
    counts = {row.cell: row.value for row in rows if row.measure == COUNTED and row.who == measure and row.cell in ids}
    there = [(value, n) for cell, n in counts.items() if (value := found.values.get((cell, measure))) is not None]
    total = sum(n for _, n in there)
    return (sum(value * n for value, n in there) / total if total else None), total


def _by_model(found: Tables) -> dict[str, list[Cell]]:
    by: dict[str, list[Cell]] = {}
    for cell in spread(found.locked.cells):
        by.setdefault(", ".join(_models(cell)), []).append(cell)
    return by


def _differed(found: Tables, table: FigureTable) -> str:
    paper = figures(PAPER)
    names = ", ".join(dict.fromkeys(name for cell in found.locked.cells for name in _models(cell)))
    parts = [t("findings.early_models", models=names), *map(said, table.differs), *map(said, paper.differs)]
    return t("findings.differed_table", source=paper.source, number=table.table, what="; ".join(parts))


def _entropy(found: Tables) -> Iterator[Shown]:
    if "entropy" not in found.experiment.measures.story:
        return
    notes = [said(UNCLEAR), t("findings.about_entropy")]
    forms = [(f"{said(pieces)}, {said(unit)}", pieces, unit) for pieces, unit in FORMS]
    rows: list[list[Value]] = []
    for levels, cells in _by_level(found).items():
        for label, pieces, unit in forms:
            each = [
                [value for cell in cells if (value := found.values.get((cell.id, name))) is not None]
                for name in (entropy_name(pieces, unit), entropy_name(pieces, unit, at_n=True))
            ]
            rows.append([*levels, label, len(each[0]), *((_spread(values) if values else None) for values in each)])
    head = [*_axes(found), t("findings.form"), t("findings.runs"), "H", t("findings.h_at_n")]
    yield Shown(t("findings.entropy"), head, rows, notes)
    yield from _changes_of_entropy(found, forms)


def _changes_of_entropy(found: Tables, forms: Sequence[tuple[str, str, str]]) -> Iterator[Shown]:
    """Differences from the level `base` of the axis `variant`, if others are called as in the paper's table."""
    table = figures(PAPER).table_of("entropy")
    assert table is not None
    base, *changes = table.names
    levels = found.locked.axes.get("variant", ())
    known = [level for level in levels if level in changes]
    if base not in levels or not known:
        return
    rows: list[list[Value]] = []
    for level in known:
        for at_n in (False, True):
            names = [entropy_name(pieces, unit, at_n=at_n) for _, pieces, unit in forms]
            each = [_differences(found, str(level), base, name) for name in names]
            published = localised(f"{table.values(str(level), 'entropy')[0]:+g}") if not at_n else ""
            label = str(level) if not at_n else t("findings.level_at_n", level=level)
            rows.append([label, published, len(each[0]), *((_spread(values) if values else None) for values in each)])
    head = ["variant", t("findings.published"), t("findings.seeds"), *(label for label, _, _ in forms)]
    value = localised(f"{table.values(base, 'entropy')[0]:g}")
    notes = [t("findings.published_entropy", value=value, base=base), _differed(found, table)]
    yield Shown(t("findings.entropy_changes", base=base), head, rows, notes)


def _differences(found: Tables, level: str, base: str, measure: str) -> list[float]:
    """The differences of a measure between two variants, one for each pair of cells that are equal in all else."""
    sides: dict[str, Mapping[tuple[str, ...], float]] = {}
    for wanted in (level, base):
        own = [cell for cell in spread(found.locked.cells) if cell.axes["variant"] == wanted]
        there = {rest_of(cell, "variant"): found.values.get((cell.id, measure)) for cell in own}
        sides[wanted] = {rest: value for rest, value in there.items() if value is not None}
    return [value - sides[base][rest] for rest, value in sides[level].items() if rest in sides[base]]


def effects(found: Tables) -> Iterator[Shown]:
    """The tables of all comparisons that the experiment asks for; none without winners or ends to compare."""
    for wanted, made in zip(found.experiment.compare, found.at_end, strict=True):
        yield from _other_winners(found, wanted)
        yield from _ends(wanted, made)


def _other_winners(found: Tables, wanted: Compare) -> Iterator[Shown]:
    results = _values_by_part(found, (WON,))
    won = {cell: who for (_, who), by_cell in results.items() for cell, value in by_cell.items() if value}
    if not won:
        return
    rows: list[list[Value]] = []
    cells = [
        cell for cell in spread(found.locked.cells) if all(cell.axes[n] == label for n, label in wanted.within.items())
    ]
    pairs = pairs_of_levels(found.locked.axes[wanted.by])
    if wanted.reference is not None:
        pairs = [(level, wanted.reference) for level in found.locked.axes[wanted.by] if level != wanted.reference]
    for a, b in pairs:
        sides = [_of_level(cells, wanted.by, level, won) for level in (a, b)]
        both = [rest for rest in sides[0] if rest in sides[1]]
        other = sum(sides[0][rest] != sides[1][rest] for rest in both)
        share = proportion(other, len(both))
        rows.append([f"{a}, {b}", len(both), other, share.value, (share.low, share.high)])
    head = [t("findings.column_compared"), t("findings.column_pairs"), t("findings.other_result")]
    head += [t("findings.share"), t("findings.interval")]
    notes = [t("findings.about_other_wins"), t("findings.about_other_words")]
    yield Shown(t("findings.other_wins", axis=wanted.by), head, rows, notes)


def _of_level(cells: Sequence[Cell], by: str, level: object, won: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    return {rest_of(cell, by): won[cell.id] for cell in cells if cell.axes[by] == level and cell.id in won}


def _ends(wanted: Compare, made: Sequence[Comparison]) -> Iterator[Shown]:
    if not made:
        return
    rows: list[list[Value]] = []
    for one in made:
        measure, _, who = one.measure.partition("\n")
        difference = one.difference
        rows.append(
            [
                f"{one.a} − {one.b}",
                t(f"findings.end_{measure}"),
                who,
                difference.n,
                one.second.value,
                difference.value,
                (difference.low, difference.high),
                one.p_holm,
                said(one.shown or NOT_SHOWN),
            ]
        )
    head = [t("findings.column_compared"), t("findings.column_of"), t("report.who"), t("findings.column_pairs")]
    head += [t("findings.mean_second"), t("findings.difference"), t("findings.interval"), "p (Holm)"]
    notes = [t("findings.about_ends")]
    yield Shown(t("findings.ends", axis=wanted.by), [*head, t("findings.shown")], rows, notes)


def _values_by_part(found: Tables, measures: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """Values by measure and part, then by cell."""
    by: dict[tuple[str, str], dict[str, float]] = {}
    for row in found.rows["measures"]:
        one = row.model_dump()
        if one["measure"] in measures and one["value"] is not None and one["who"]:
            by.setdefault((one["measure"], one["who"]), {})[one["cell"]] = one["value"]
    return by
