"""What a report says of stories: parts over runs, and published figures beside one's own with what differed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from ..evaluation.published.figures import FigureTable, figures
from ..evaluation.statistics.intervals import EXACT, proportion
from ..evaluation.stories import FORMS, KINDS
from ..models.naming import parse_model_name
from .comparing import OF_THE_TASK, Comparison, pairs_of_levels, rest_of, spread
from .file import Compare
from .plan import Cell, defaults
from .report import NOT_SHOWN, Shown, Value
from .stories import (
    ATTITUDES,
    BALLOTS,
    BELIEF,
    CEDED,
    CLOSED,
    CLOSENESS,
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
HALF: Final = 50.0
"""Percent of rounds; where the others turned away in no more, nothing shows that they were provoked."""


def stories_shown(found: Tables) -> dict[str, Any]:
    """The values of the report's section on stories; empty without measures of stories."""
    if not found.stories:
        return {}
    shown = [*_winners(found), *effects(found), *_by_part(found), *_attitude(found), *_form(found), *_entropy(found)]
    return {"tables": shown, "made_up": MADE_UP if _offline(found) else ""}


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
                f"{one.who} gave way" if one.measure == CEDED else one.who,
                one.n,
                round(one.total),
                one.estimate.value,
                (one.estimate.low, one.estimate.high),
            ]
            for levels in _by_level(found)
            for one in parts
            if tuple(_levels(one)) == levels
        ]
        yield Shown(
            "Who won, over runs",
            [*_axes(found), "winner", "runs", "won", "share", "95 % interval"],
            rows,
            ["The interval is Clopper and Pearson's: where the share may well lie if very many runs were held."],
        )


_PARTS: Final = (
    (SUPPORTED, "Other characters who stand behind a main one, by round", "round", "mean share"),
    ("supporters", "Who stands behind whom at the end", "main character", "mean number of others"),
    ("reciprocity", "Whether closeness is returned, by round", "round", "mean correlation"),
    (TALKS, "Who chose whom for a talk", "host and partner", "mean talks a run"),
)


def _by_part(found: Tables) -> Iterator[Shown]:
    for measure, caption, what, value in _PARTS:
        parts = [one for one in found.parts if one.measure == measure]
        if parts:
            rows: list[list[Value]] = [
                [*_levels(one), _part(one), one.n, one.estimate.value, (one.estimate.low, one.estimate.high)]
                for one in parts
            ]
            shares = all(one.estimate.method == EXACT for one in parts)
            how = "Clopper and Pearson's, for every value is a share" if shares else "Student's over tasks"
            yield Shown(
                caption, [*_axes(found), what, "runs", value, "95 % interval"], rows, [f"The interval is {how}."]
            )


def _part(one: Part) -> str:
    return "first impressions" if one.unit == "round" and one.who == "0" else one.who


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
    notes = [
        "All values are percent; T1 rests on rounds, T2 on answered changes to other main characters. Changes that "
        "come by chance are negative in about half of the cases: compare with a control, in which nobody is provoked."
    ]
    if unmoved := [name for name, value in provoked.items() if _is_unmoved(value, calm.get(name))]:
        notes.append(
            f"Towards {', '.join(unmoved)}, the others' closeness fell no more often than "
            f"{'in the control' if calm else 'in half of the rounds'}: nothing shows that they were provoked, so "
            "T1 and T2 do not say how somebody answers to provocation."
        )
    head = ["character", "rounds", "changes", "T1", "T2", "check: others' T1", "check: others' T2"]
    yield Shown("Attitude of the observed character to the others", [*_axes(found), *head], rows, notes)
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
        notes = [f"{kind}: {about}." for kind, about in KINDS.items()]
        notes.append("A server that enforces the schema of answers gives 100 throughout.")
        yield from _beside(found, "form_CS", ["CS", "BUS", "RUS", "NoR", "NoB"], notes)


def _beside(found: Tables, measure: str, short: Sequence[str], notes: Sequence[str] = ()) -> Iterator[Shown]:
    """A table of percentages that a paper published by model, with one's own."""
    table = figures(PAPER).table_of(measure)
    assert table is not None
    rows: list[list[Value]] = []
    for name in table.names:
        each = [table.values(name, one) for one in table.measures]
        rows.append([f"published: {name}", *(_spread(values) for values in each)])
    rows.append(["published: n a row", *table.n])
    for label, cells in _by_model(found).items():
        pooled = [_pooled(found, cells, one) for one in table.measures]
        rows += [[f"here: {label}", *(value for value, _ in pooled)], ["here: n", *_counts(pooled)]]
    several = any(len(table.values(name, measure)) > 1 for name in table.names)
    caption = f"{table.about[0].upper()}{table.about[1:]}: published and here, in percent"
    how = ["Published values are means over the observed characters (least to greatest)."] if several else []
    yield Shown(caption, ["model", *short], rows, [*notes, *how, _differed(found, table)])


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
    parts = [f"models of early 2024, here {names}", *table.differs, *paper.differs]
    return f"What differed from {paper.source} (table {table.table}): {'; '.join(parts)}. It is no target."


def _entropy(found: Tables) -> Iterator[Shown]:
    if "entropy" not in found.experiment.measures.story:
        return
    notes = [
        'The paper says neither what is counted nor in which unit, so none of the four forms is "the" published one.',
        "H grows with the amount that is said; at n, every run counts its first n 2-grams alone. Lower is less "
        "disorder, not better talk. In brackets: the least and the greatest value over runs.",
    ]
    forms = [(f"{pieces}, {unit}", pieces, unit) for pieces, unit in FORMS]
    rows: list[list[Value]] = []
    for levels, cells in _by_level(found).items():
        for label, pieces, unit in forms:
            each = [
                [value for cell in cells if (value := found.values.get((cell.id, name))) is not None]
                for name in (entropy_name(pieces, unit), entropy_name(pieces, unit, at_n=True))
            ]
            rows.append([*levels, label, len(each[0]), *((_spread(values) if values else None) for values in each)])
    yield Shown("Entropy-2 of all words", [*_axes(found), "form", "runs", "H", "H at n"], rows, notes)
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
            published = f"{table.values(str(level), 'entropy')[0]:+g}" if not at_n else ""
            label = str(level) if not at_n else f"{level}, at n"
            rows.append([label, published, len(each[0]), *((_spread(values) if values else None) for values in each)])
    yield Shown(
        f"What leaving something out changes in Entropy-2, from {base}",
        ["variant", "published", "seeds", *(label for label, _, _ in forms)],
        rows,
        [
            f"Published: {table.values(base, 'entropy')[0]:g} for {base}, and one difference each, without a spread. "
            "Differences count within one form. In brackets: the least and the greatest difference over seeds.",
            _differed(found, table),
        ],
    )


def _differences(found: Tables, level: str, base: str, measure: str) -> list[float]:
    """The differences of a measure between two variants, one for each pair of cells that are equal in all else."""
    sides: dict[str, Mapping[tuple[str, ...], float]] = {}
    for wanted in (level, base):
        own = [cell for cell in spread(found.locked.cells) if cell.axes["variant"] == wanted]
        there = {rest_of(cell, "variant"): found.values.get((cell.id, measure)) for cell in own}
        sides[wanted] = {rest: value for rest, value in there.items() if value is not None}
    return [value - sides[base][rest] for rest, value in sides[level].items() if rest in sides[base]]


_COMPARED = {BELIEF: "belief", CLOSENESS: "closeness", BALLOTS: "open ballots", CLOSED: "closed ballots"}


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
    yield Shown(
        f"How often another wins, by {wanted.by}",
        ["compared", "pairs", "other result", "share", "95 % interval"],
        rows,
        [
            "A pair is equal in seed and in every other axis. A draw and nobody are results of their own. The interval "
            "is Clopper and Pearson's.",
            "Any other wording changes what follows by chance, too. Compare with a level that says the same in other "
            "words: only what goes beyond its share is the word's effect.",
        ],
    )


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
                _COMPARED[measure],
                who,
                difference.n,
                one.second.value,
                difference.value,
                (difference.low, difference.high),
                one.p_holm,
                one.shown or NOT_SHOWN,
            ]
        )
    yield Shown(
        f"What differs at the end, by {wanted.by}",
        ["compared", "of", "who", "pairs", "mean of the second", "difference", "95 % interval", "p (Holm)", "shown"],
        rows,
        [
            "Means over pairs that are equal in seed and in every other axis; beliefs and closeness have 0 to 100 "
            "points. The intervals are Student's. p is Wilcoxon's, adjusted for all that the file "
            "tests: only up to 0.05 a difference is shown.",
        ],
    )


def _values_by_part(found: Tables, measures: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """Values by measure and part, then by cell."""
    by: dict[tuple[str, str], dict[str, float]] = {}
    for row in found.rows["measures"]:
        one = row.model_dump()
        if one["measure"] in measures and one["value"] is not None and one["who"]:
            by.setdefault((one["measure"], one["who"]), {})[one["cell"]] = one["value"]
    return by
