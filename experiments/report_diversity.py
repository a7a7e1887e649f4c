"""What a report says of diversity: settings side by side, their means over cases, and differences paired by case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from persimchat.evaluation.diversity.measuring import CASE, GAIN, POSITION, Diversity, Mean
from persimchat.evaluation.diversity.ngrams import ORDERS
from persimchat.experiments.report_published import published_shown
from persimchat.experiments.report_table import Shown, Value
from persimchat.experiments.tables import Tables

ITSELF: Final = "itself, other seeds"
SIDE_BY_SIDE: Final = ("sim", *(f"dist_{n}" for n in ORDERS), "words", "repeated_end")
CUT: Final = tuple(f"dist_{n}_cut" for n in ORDERS)
BESIDE: Final = ("max_sim", *(f"exclusive_{n}" for n in ORDERS))
LEFT_OUT: Final = ("words_left_out", GAIN)
CHECKED: Final = ("inconsistency", "inconsistency_first")
_INTERVALS: Final = (
    "In brackets: the 95 % interval of a mean over cases, by bootstrap (1,000 samples of cases, seed 0). One case has "
    "none; of few cases it is too narrow."
)


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
        "Settings side by side, means over cases",
        SIDE_BY_SIDE,
        ["Lower sim and higher dist_N mean more diverse conversations.", _INTERVALS],
    )
    yield _plain(
        found,
        "The same length for all: every dialogue cut to the words of its case's shortest",
        CUT,
        ["dist_N falls as texts grow. A difference that vanishes here is one of length."],
    )
    if "words_left_out" in found.measures:
        yield _plain(
            found,
            "Efficiency: what leaving words out brings",
            LEFT_OUT,
            [
                "dist_3_gain is dist_3 minus that of the same setting without pruning; read it against the share of "
                "words that were left out."
            ],
        )
    if "inconsistency" in found.measures:
        notes = ["Scores of 1 to 10 by which an utterance contradicts what was left out; where none was checked, none."]
        yield _plain(found, "Contradictions of what was left out", CHECKED, notes)
    beside = [one for one in found.means if one.measure == BESIDE[0]]
    if beside:
        rows: list[list[Value]] = [
            [one.setting, one.against or ITSELF, one.estimate.n, *_values(found, one.setting, BESIDE)] for one in beside
        ]
        notes = [
            "max_sim: how near a dialogue is to the nearest of the reference. exclusive_N: the share of the different "
            "N-grams that the reference has not."
        ]
        yield Shown("Beside the reference", ["setting", "reference", "cases", *BESIDE], rows, notes)
    differences = [row for one in found.means if one.unit == CASE for row in _difference(one)]
    if differences:
        head = ["setting", "reference", "measure", "cases in both", "difference", "95 % interval"]
        yield Shown("Differences from the reference, paired by case", head, differences)
    positions = [one for one in found.means if one.unit == POSITION and one.measure == "sim"]
    if positions:
        names = SIDE_BY_SIDE[:4]
        by_place = [
            [one.setting, int(one.who), *_values(found, one.setting, names, one.who)]
            for setting in found.cases.settings
            for one in positions
            if one.setting == setting.label
        ]
        yield Shown("By position in the dialogue", ["setting", "utterance", *names], by_place)


def _plain(found: Diversity, caption: str, names: Sequence[str], notes: Sequence[str]) -> Shown:
    """A table of settings: each measure with its interval in brackets, where there is one."""
    taken = [name for name in names if name in found.measures]
    rows: list[list[Value]] = []
    for setting in found.cases.settings:
        means = [found.mean(setting.label, name) for name in taken]
        rows.append([setting.label, max((one.estimate.n for one in means if one), default=0), *map(_value, means)])
    missing = dict.fromkeys(
        f"{one.case}, {one.setting}: {one.measure} is missing ({one.missing})."
        for one in found.values
        if one.measure in taken and one.value is None and one.unit == CASE
    )
    return Shown(caption, ["setting", "cases", *taken], rows, [*notes, *missing])


def _value(one: Mean | None) -> Value:
    if one is None or one.estimate.low is None:
        return None if one is None else one.estimate.value
    return one.estimate.value, one.estimate.low, one.estimate.high


def _values(found: Diversity, setting: str, names: Sequence[str], who: str = "") -> list[Value]:
    return [_value(found.mean(setting, name, who)) for name in names]


def _difference(one: Mean) -> Iterator[list[Value]]:
    if one.difference is not None and one.against is not None:
        away = one.difference
        yield [one.setting, one.against, one.measure, away.n, away.value, (away.low, away.high)]
