"""What `persimchat evaluate diversity` prints: settings side by side, over cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.diversity.cases import Chosen
from persimchat.evaluation.diversity.dialogues import apart_in_words
from persimchat.evaluation.diversity.measuring import CASE, GAIN, MEASURES, NO_OTHERS, POSITION, UNEQUAL, Diversity
from persimchat.evaluation.diversity.ngrams import ORDERS
from persimchat.evaluation.statistics.intervals import Estimate
from persimchat.experiments.report_diversity import BESIDE, CHECKED, CUT, ITSELF, LEFT_OUT, SIDE_BY_SIDE
from persimchat.runs.reports.words import UNKNOWN, count

HEADINGS: Final = {
    "sim": "sim",
    **{f"dist_{n}": f"dist-{n}" for n in ORDERS},
    **{f"dist_{n}_cut": f"dist-{n}\n(cut)" for n in ORDERS},
    "words": "words an\nutterance",
    "repeated_end": "repeated\nend",
    "words_left_out": "share of\nwords left out",
    GAIN: "gain in\ndist-3",
    "inconsistency": "inconsistency\n1–10",
    "inconsistency_first": "of first\nwordings",
    "max_sim": "max\nsimilarity",
    **{f"exclusive_{n}": f"exclusive\n{n}-grams" for n in ORDERS},
}
_BESIDE: Final = "Beside the reference"
_TABLES: Final = (
    ("Each setting by itself", SIDE_BY_SIDE),
    ("Every dialogue cut to the words of its case's shortest", CUT),
    ("What pruning left out, and what it brought", LEFT_OUT),
    ("Contradictions of what was left out", CHECKED),
    (_BESIDE, BESIDE),
)
_READ: Final = (
    "Lower sim and higher dist-N mean more diverse dialogues. dist-N falls as texts grow: what vanishes when they are "
    "cut is length."
)
_INTERVALS: Final = (
    "The intervals are of means over cases (bootstrap, 1,000 samples, seed 0); with few cases too narrow."
)


def number(value: float | None) -> str:
    """A number with three decimals."""
    return UNKNOWN if value is None else f"{value:,.3f}".replace("-", "−")


def shown(chosen: Chosen, found: Diversity, look: Look) -> RenderableType:
    """All tables, what was left out, and what the figures mean."""
    return Group(*_parts(chosen, found, look))


def _parts(chosen: Chosen, found: Diversity, look: Look) -> Iterator[RenderableType]:
    cases, settings = len(found.cases.sets), [one.label for one in found.cases.settings]
    dialogues = sum(len(each) for by_setting in found.cases.sets.values() for each in by_setting.values())
    head = f"{count(dialogues, 'dialogue')} in {count(cases, 'case')}, {count(len(settings), 'setting')}"
    yield look(f"{head}. Embedding for sim: {found.embedding}.")
    yield Text("")
    for title, names in _TABLES:
        taken = [name for name in names if name in found.measures]
        rows = list(_rows(found, settings, taken))
        if rows:
            beside = ["reference"] * (title == _BESIDE)
            columns = ["setting", "cases", *(HEADINGS[name] for name in taken), *beside]
            if title == _BESIDE:
                rows = [[*row, found.cases.reference(row[0]) or ITSELF] for row in rows]
            yield table(look, title, columns, rows)
            yield Text("")
    if found.options.positions:
        yield from _positions(found, settings, look)
    intervals = list(_intervals(found))
    if intervals:
        columns = ["setting", "measure", "mean", "95 % interval", "cases", "reference", "difference", "95 % interval"]
        yield table(look, "Means over cases, and differences from the reference", [*columns, "in both"], intervals)
        yield Text("")
        yield look(_INTERVALS)
    yield look(_READ)
    yield from map(look, _notes(chosen, found))


def _rows(found: Diversity, settings: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    for setting in settings:
        means = [found.mean(setting, name) for name in names]
        known = [one for one in means if one is not None]
        if known:
            cases = max(one.estimate.n for one in known)
            yield [setting, str(cases), *(number(one.estimate.value if one else None) for one in means)]


def _positions(found: Diversity, settings: Sequence[str], look: Look) -> Iterator[RenderableType]:
    names = ("sim", *(f"dist_{n}" for n in ORDERS))
    rows = []
    for setting in settings:
        places = dict.fromkeys(one.who for one in found.means if one.setting == setting and one.unit == POSITION)
        for who in sorted(places, key=int):
            means = [found.mean(setting, name, who) for name in names]
            rows.append([setting, who, *(number(one.estimate.value if one else None) for one in means)])
    if rows:
        yield table(look, "By position in the dialogue", ["setting", "utterance", *(HEADINGS[n] for n in names)], rows)
        yield Text("")


def _intervals(found: Diversity) -> Iterator[list[str]]:
    for one in found.means:
        if one.unit == CASE and one.estimate.low is not None:
            difference = one.difference or Estimate(value=None, method="none", n=0)
            both = str(difference.n) if one.difference else UNKNOWN
            away = [one.against or UNKNOWN, number(difference.value), _between(difference), both]
            own = [number(one.estimate.value), _between(one.estimate), str(one.estimate.n)]
            yield [one.setting, one.measure, *own, *away]


def _between(one: Estimate) -> str:
    return UNKNOWN if one.low is None else f"{number(one.low)} to {number(one.high)}"


def _notes(chosen: Chosen, found: Diversity) -> Iterator[str]:
    if chosen.left_out:
        yield f"Left out: {', '.join(f'{run} ({why})' for run, why in chosen.left_out.items())}."
    yield from apart_in_words(chosen.apart)
    yield from found.notes
    missing = dict.fromkeys(
        f"{one.case}, {one.setting}: {one.measure} is missing ({one.missing})."
        for one in found.values
        if one.value is None
        and one.unit == CASE
        and one.missing not in (UNEQUAL, NO_OTHERS)
        and one.measure in MEASURES
    )
    yield from missing
