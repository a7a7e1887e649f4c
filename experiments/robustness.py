"""Robustness: whether answers and differences hold when something changes that should not matter.

The axes that should not matter are wording, order of the participants, and model; seeds stand for chance.

- An *answer* of a conversation (whether a debate found consensus, what it concluded, what most answered to a poll)
  flips where two conversations that are equal in all but the axis answer differently. Seeds flip answers, too: only
  what passes that is the axis's.
- A *contrast* (a comparison's mean difference) is looked at within each level of the axis. Seeds have no contrasts of
  their own: their spread is what the interval of the difference is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..evaluation.polls import END
from ..evaluation.statistics.claims import WORDS, beyond_seeds, side
from ..evaluation.statistics.distributions import Answered, FlipExcess, flip_excess
from ..evaluation.statistics.intervals import Kind
from ..evaluation.statistics.significance import Significance
from .axes import Label
from .comparing import Comparison, Values, compare
from .file import Compare
from .place import Standing
from .plan import Cell, Plan

CHANCE: Final = "seed"
"""The axis that stands for chance."""
AXES: Final = ("wording", "order", "model", CHANCE)
"""Axes over which an answer or a difference should hold."""

Answers = Mapping[str, Mapping[str, str | None]]
"""By question, the answer of each complete cell; None is no answer, which counts as one."""
Ruling = Literal["survives", "reversed", "undecided"]


@dataclass(frozen=True)
class AnswerFinding:
    """How often an axis changes an answer.

    Attributes:
        question: what is answered.
        axis: what is changed.
        flips: its rate, that of the seeds, and the difference. Without several seeds there is no floor.
        test: whether the axis changes the answer oftener than seeds do.
        base: the first level.
        alike: the levels whose most frequent answer is that of the first.
        levels: all levels with an answer.
        p_holm: the test's p, adjusted for all that the file tests.
    """

    question: str
    axis: str
    flips: FlipExcess
    test: Significance
    base: Label
    alike: int
    levels: int
    p_holm: float | None = None

    @property
    def shown(self) -> str:
        """Higher where the axis may be said to change the answer oftener than seeds; else empty."""
        return WORDS[max(0, side(self.flips.excess, self.p_holm))]


@dataclass(frozen=True)
class ContrastFinding:
    """Whether a difference holds at every level of an axis.

    Attributes:
        whole: the difference over all levels.
        axis: what is changed.
        at: the difference within each level; without a value where the level has no complete task.
    """

    whole: Comparison
    axis: str
    at: Mapping[Label, Comparison]

    @property
    def ruling(self) -> Ruling:
        """Whether the difference holds at every level.

        survives: the whole may be claimed, and every level has its sign. reversed: a level may be claimed to differ the
        other way. undecided: anything else.
        """
        if self.reversed_in:
            return "reversed"
        return "survives" if self.whole.side and self.alike == len(self.at) else "undecided"

    @property
    def reversed_in(self) -> list[Label]:
        """The levels that are reversed."""
        sign = _sign(self.whole.difference.value)
        return [label for label, one in self.at.items() if sign and one.side == -sign]

    @property
    def missing(self) -> list[Label]:
        """The levels in which there is nothing to compare."""
        return [label for label, one in self.at.items() if one.difference.value is None]

    @property
    def alike(self) -> int:
        """How many levels have the sign of the whole."""
        sign = _sign(self.whole.difference.value)
        return sum(_sign(one.difference.value) == sign for one in self.at.values())


@dataclass(frozen=True)
class Robustness:
    """What holds when something changes that should not matter.

    Attributes:
        axes: those of `AXES` that are varied.
        answers: one a question and axis.
        contrasts: one a comparison and axis.
    """

    axes: Sequence[str]
    answers: Sequence[AnswerFinding]
    contrasts: Sequence[ContrastFinding]

    @property
    def levels(self) -> list[Comparison]:
        """The comparisons within levels, in order."""
        return [one for found in self.contrasts for one in found.at.values()]

    def adjusted(
        self, wholes: Sequence[Comparison], answers: Sequence[AnswerFinding], levels: Sequence[Comparison]
    ) -> Robustness:
        """The same with comparisons and answers whose p is adjusted for all that the file tests, in the same order."""
        whole = {(one.measure, one.by, one.a, one.b, str(one.within)): one for one in wholes}
        rest, contrasts = iter(levels), []
        for one in self.contrasts:
            key = (one.whole.measure, one.whole.by, one.whole.a, one.whole.b, str(one.whole.within))
            contrasts.append(ContrastFinding(whole[key], one.axis, {label: next(rest) for label in one.at}))
        return Robustness(self.axes, answers, contrasts)


def answers_are_compared(plan: Plan) -> bool:
    """Whether answers will be compared over an axis, which takes statistics."""
    answered = any(END in poll.at for poll in plan.experiment.measures.polls)
    answered = answered or any(planned.settings.mode == "debate" for planned in plan.cells)
    return answered and any(axis.name in AXES and axis.name != CHANCE and len(axis.levels) > 1 for axis in plan.axes)


def answers_of(standings: Mapping[str, Standing]) -> Answers:
    """The answers of complete debates, by question and cell.

    A conclusion counts only where the debate has a form of answer: two sentences are never equal.
    """
    consensus: dict[str, str | None] = {}
    conclusions: dict[str, str | None] = {}
    for cell, standing in standings.items():
        manifest = standing.manifest
        if standing.status != "done" or manifest is None or manifest.settings.mode != "debate":
            continue
        concluded = manifest.conclusion
        consensus[cell] = "consensus" if concluded is not None and concluded.consensus else "no consensus"
        if manifest.settings.answer_format != "free":
            conclusions[cell] = concluded.answer if concluded is not None else None
    return {question: given for question, given in (("consensus", consensus), ("conclusion", conclusions)) if given}


def poll_answers_of(rows: Iterable[Any]) -> Answers:
    """The most frequent answer to each poll at the end, by question and cell; none where two are equally frequent.

    Args:
        rows: of the table `polls`.
    """
    given: dict[str, dict[str, list[str | None]]] = {}
    for row in rows:
        if END in row.at.split(", "):
            given.setdefault(f"poll {row.poll}", {}).setdefault(row.cell, []).append(row.answer)
    return {
        question: {cell: _only(_most_frequent([one for one in each if one is not None])) for cell, each in own.items()}
        for question, own in given.items()
    }


def _only(answers: frozenset[str | None]) -> str | None:
    """The answer, if there is one alone."""
    return next(iter(answers)) if len(answers) == 1 else None


def robustness(
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    answers: Answers,
    comparisons: Sequence[Comparison],
    values: Values,
    kinds: Mapping[str, Kind],
) -> Robustness:
    """Look at answers and differences level by level; nothing is adjusted yet for what else is tested.

    Args:
        axes: the levels of every axis of the experiment.
        cells: of the experiment.
        answers: by question and cell.
        comparisons: those of the experiment.
        values: of the measures.
        kinds: what values each can have.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    varied = [name for name in AXES if len(axes.get(name, ())) > 1]
    found = [
        finding
        for question, given in answers.items()
        for axis in varied
        if axis != CHANCE and (finding := _answer(question, axis, axes[axis], cells, given)) is not None
    ]
    contrasts = [
        _contrast(one, axis, axes, cells, values, kinds[one.measure])
        for one in comparisons
        for axis in varied
        if axis not in (one.by, CHANCE) and axis not in one.within and one.difference.value is not None
    ]
    return Robustness(varied, found, contrasts)


def _answer(
    question: str, axis: str, labels: Sequence[Label], cells: Sequence[Cell], given: Mapping[str, str | None]
) -> AnswerFinding | None:
    answered = [
        Answered({**cell.axes, CHANCE: cell.axes.get(CHANCE), "task": (cell.task, cell.round)}, given[cell.id])
        for cell in cells
        if cell.id in given and not {axis, CHANCE} & cell.not_varied.keys()  # held once for several levels
    ]
    if not answered:
        return None
    usual = {label: _most_frequent([one.answer for one in answered if one.levels[axis] == label]) for label in labels}
    there = {label: tied for label, tied in usual.items() if tied}
    base = next(iter(there))
    return AnswerFinding(
        question=question,
        axis=axis,
        flips=flip_excess(answered, axis, floor=CHANCE),
        test=beyond_seeds(answered, axis, floor=CHANCE),
        base=base,
        alike=sum(tied == there[base] for tied in there.values()),
        levels=len(there),
    )


def _most_frequent(answers: Sequence[str | None]) -> frozenset[str | None]:
    """The most frequent answers; several where they are equally frequent, none of nothing."""
    counts = Counter(answers)
    return frozenset(answer for answer, number in counts.items() if number == max(counts.values()))


def _contrast(
    whole: Comparison,
    axis: str,
    axes: Mapping[str, Sequence[Label]],
    cells: Sequence[Cell],
    values: Values,
    kind: Kind,
) -> ContrastFinding:
    pair = {**axes, whole.by: [whole.b, whole.a]}
    at: dict[Label, Comparison] = {}
    for label in axes[axis]:
        wanted = Compare(by=whole.by, reference=whole.b, within={**whole.within, axis: label})
        (at[label],) = compare(wanted, pair, cells, {whole.measure: kind}, values)
    return ContrastFinding(whole, axis, at)


def _sign(value: float | None) -> int:
    return 0 if value is None else (value > 0) - (value < 0)
