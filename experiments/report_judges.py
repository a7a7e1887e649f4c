"""What a report says of judges: what they answered, what is missing, and what a reader must know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from ..evaluation.asking import NOT_ASKED
from ..evaluation.dimensions import warnings
from ..evaluation.statistics.effects import Effect, spearman
from ..evaluation.tables import reasons
from ..models.naming import parse_model_name
from ..state.wording import localised, said, t
from .axes import Label
from .comparing import OF_THE_TASK
from .contests import PairVerdicts
from .measuring import DOES_NOT_APPLY, AskedMeasure
from .plan import Cell
from .tables import Tables

TOO_MANY: Final = 0.05
"""The share of missing, failed or corrected answers in a group above which the report warns."""

GroupName = tuple[str, Label]
"""An axis and one of its levels; both empty for all conversations together."""


@dataclass(frozen=True)
class Answers:
    """What one judge was asked for one measure.

    Attributes:
        measure: its field under `measures`.
        judge: the model.
        of: what the questions are about, in words.
        questions: about conversations that are complete.
        missing: reason: how many answers are missing for it.
    """

    measure: str
    judge: str
    of: str
    questions: int
    missing: Mapping[str, int]

    @property
    def valid(self) -> int:
        """Answers that count."""
        return self.questions - sum(self.missing.values())

    @property
    def why(self) -> str:
        """The reasons in words."""
        return in_words_of(self.missing)


def in_words_of(missing: Mapping[str, int]) -> str:
    """Why answers are missing, in the current language."""
    named = {why: why.partition(": ") for why in missing}
    return reasons({f"{said(head)}{sep}{said(rest)}": missing[why] for why, (head, sep, rest) in named.items()})


@dataclass(frozen=True)
class _Answer:
    """One answer: to which measure, about which cells, and why it is missing."""

    measure: str
    cells: Sequence[Cell]
    missing: str


def answers(found: Tables) -> list[Answers]:
    """What judges were asked, one a measure."""
    every = list(_answers(found))
    listed = []
    for measure in found.asked:
        own = [one for one in every if one.measure == measure.field]
        missing = Counter(one.missing for one in own if one.missing)
        about = ", ".join(one.name for one in measure.named)
        if isinstance(measure, PairVerdicts):
            about = t("findings.judged_pairs", n=measure.k, axis=measure.axis, k=measure.k)
        listed.append(Answers(measure.field, measure.judge, about, len(own), dict(missing)))
    return listed


def _answers(found: Tables) -> Iterator[_Answer]:
    """All answers that judges gave or owe."""
    cells = {cell.id: cell for cell in found.locked.cells}
    of = {named.name: measure.field for measure in found.asked for named in measure.named}
    for row in found.rows["measures"]:
        if row.measure in of and row.missing != DOES_NOT_APPLY:
            yield _Answer(of[row.measure], [cells[row.cell]], row.missing or "")
    for pair in found.pairs:
        if pair.result is not None:
            both = [pair.cells.first, pair.cells.second]
            missing = [why for why, times in pair.result.missing.items() for _ in range(times)]
            for why in [*missing, *[""] * pair.result.verdict.n]:
                yield _Answer("pairs", both, why)


def groups_to_watch(found: Tables) -> list[GroupName]:
    """The levels of all axes that are compared; all conversations together where none is."""
    paired = [measure.axis for measure in found.asked if isinstance(measure, PairVerdicts)]
    axes = dict.fromkeys([*(one.by for one in found.experiment.compare), *paired])
    return [(axis, level) for axis in axes for level in found.locked.axes[axis]] or [("", "")]


def _in(cell: Cell, group: GroupName) -> bool:
    return not group[0] or any(axes[group[0]] == group[1] for axes in (cell.axes, *cell.also))


def too_many(found: Tables) -> list[str]:
    """Groups of which more than `TOO_MANY` of the answers are missing, failed or corrected, a sentence each."""
    cells = {cell.id: cell for cell in found.locked.cells}
    every, rows = list(_answers(found)), found.rows["cells"]
    told = []
    for group in groups_to_watch(found):
        where = f"{group[0]} {group[1]}" if group[0] else ""
        own: Sequence[Any] = [row for row in rows if _in(cells[getattr(row, "cell", "")], group)]
        asked = sum(row.judgements or 0 for row in own)
        for name, everywhere, inside in (
            ("failed", "findings.minds_failed", "findings.minds_failed_in"),
            ("corrected", "findings.minds_corrected", "findings.minds_corrected_in"),
        ):
            number = sum(getattr(row, name) or 0 for row in own)
            if asked and number / asked > TOO_MANY:
                told.append(t(inside if where else everywhere, share=_share(number, asked), group=where))
        for measure in found.asked:
            given = [one for one in every if one.measure == measure.field and any(_in(c, group) for c in one.cells)]
            missing = Counter(one.missing for one in given if one.missing)
            if given and missing.total() / len(given) > TOO_MANY:
                share, why = _share(missing.total(), len(given)), in_words_of(missing)
                key = "findings.judge_lacks_in" if where else "findings.judge_lacks"
                told.append(t(key, share=share, measure=measure.field, group=where, why=why))
    return told


def _share(number: int, of: int) -> str:
    return t("findings.share_of", n=number, of=of, percent=f"{number / of * 100:.0f}")


def notes(found: Tables) -> list[str]:
    """What a reader must know before believing the judges, a sentence each."""
    told = [note for measure in found.asked for note in _notes(found, measure)]
    if found.asked:
        told += _lengths(found)
    if any(NOT_ASKED in one.missing for one in answers(found)):
        told.append(t("findings.some_not_asked"))
    return list(dict.fromkeys(told))


def _notes(found: Tables, measure: AskedMeasure) -> list[str]:
    judge, conversations = parse_model_name(measure.by), [one.conversation for one in found.held if one.conversation]
    lengths: dict[str, Effect] = {}
    for named in measure.named:
        scored = [(found.values.get((one.cell.id, named.name)), one.words) for one in found.held]
        lengths[named.name] = spearman([score for score, _ in scored], [words for _, words in scored])
    if isinstance(measure, PairVerdicts):
        lengths = {t("findings.a_against_b", a=one.a, b=one.b): one.length for one in found.contests}
    return warnings(judge, conversations, lengths)


def _lengths(found: Tables) -> list[str]:
    """How long utterances are in each group, because judges may reward length."""
    told = []
    for axis in dict.fromkeys(axis for axis, _ in groups_to_watch(found) if axis):
        means = []
        for level in found.locked.axes[axis]:
            words = [one.words for one in found.held if _in(one.cell, (axis, level)) and one.words is not None]
            means += [f"{level} {localised(f'{fmean(words):.1f}')}"] if words else []
        told += [t("findings.words_by", axis=axis, words=", ".join(means))] if means else []
    return told


def not_judged(found: Tables) -> list[str]:
    """The measures that need a judge and have none, each as it is written in the file."""
    measures, axes = found.experiment.measures, found.locked.axes
    compared = [name for name in axes if name not in OF_THE_TASK]
    axis = next((name for name in ("method", "variant", *compared) if len(axes.get(name, ())) > 1), None)
    missing = ["dimensions: {by: MODEL}"] if measures.dimensions is None else []
    return missing + ([f"pairs: {{by: MODEL, axis: {axis}}}"] if measures.pairs is None and axis is not None else [])
