"""What a report says of stories that differ in one thing, such as one private word.

How often another wins, and mean differences of beliefs, closeness and ballots, over pairs of stories that are equal in
seed and in every other axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from persimchat.evaluation.statistics.intervals import proportion
from persimchat.experiments.comparing import compare, pairs_of_levels, rest_of, spread
from persimchat.experiments.file import Compare
from persimchat.experiments.plan import Cell
from persimchat.experiments.report_table import Shown, Value
from persimchat.experiments.stories import WON
from persimchat.experiments.story_ends import BALLOTS, BELIEF, CLOSED, CLOSENESS
from persimchat.experiments.tables import Tables

_COMPARED = {BELIEF: "belief", CLOSENESS: "closeness", BALLOTS: "open ballots", CLOSED: "closed ballots"}


def effects(found: Tables) -> Iterator[Shown]:
    """The tables of all comparisons that the experiment asks for; none without winners or ends to compare."""
    for wanted in found.experiment.compare:
        yield from _winners(found, wanted)
        yield from _ends(found, wanted)


def _winners(found: Tables, wanted: Compare) -> Iterator[Shown]:
    results = _by_part(found, (WON,))
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
            "is Wilson's.",
            "Any other wording changes what follows by chance, too. Compare with a level that says the same in other "
            "words: only what goes beyond its share is the word's effect.",
        ],
    )


def _of_level(cells: Sequence[Cell], by: str, level: object, won: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    return {rest_of(cell, by): won[cell.id] for cell in cells if cell.axes[by] == level and cell.id in won}


def _ends(found: Tables, wanted: Compare) -> Iterator[Shown]:
    parts = _by_part(found, tuple(_COMPARED))
    values = {
        (cell, f"{measure}\n{who}"): value
        for (measure, who), by_cell in parts.items()
        for cell, value in by_cell.items()
    }
    if not values:
        return
    names = list(dict.fromkeys(name for _, name in values))
    made = compare(wanted, found.locked.axes, found.locked.cells, names, values)
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
            ]
        )
    yield Shown(
        f"What differs at the end, by {wanted.by}",
        ["compared", "of", "who", "pairs", "mean of the second", "difference", "95 % interval"],
        rows,
        [
            "Means over pairs that are equal in seed and in every other axis; beliefs and closeness have 0 to 100 "
            "points. The intervals are Student's, and are not adjusted for their number: one of "
            "twenty leaves 0 out by chance.",
        ],
    )


def _by_part(found: Tables, measures: Sequence[str]) -> dict[tuple[str, str], dict[str, float]]:
    """Values by measure and part, then by cell."""
    by: dict[tuple[str, str], dict[str, float]] = {}
    for row in found.rows["measures"]:
        one = row.model_dump()
        if one["measure"] in measures and one["value"] is not None and one["who"]:
            by.setdefault((one["measure"], one["who"]), {})[one["cell"]] = one["value"]
    return by
