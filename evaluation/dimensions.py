"""Ten dimensions on which a model judges a conversation as a whole, one at a time, and what the scores come to.

One integer a conversation and dimension (thesis, chapter 6); the first four dimensions go back to SOTOPIA-EVAL (Zhou
et al. 2024). The words that the judge reads are in `dimensions.yaml` and in the template `dimension`. The value of a
conversation is the mean of its repeated scores. Mean ± SD are over conversations, as the thesis prints them; the
interval is over tasks, because conversations of one task hang together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ..graph.node import wait_for
from ..models.ledger import Ledger
from ..models.naming import ModelName, parse_model_name
from ..runs.events import OWN_ENDS
from ..runs.folder.answers import Key, RecordedJudgement
from ..runs.folder.reading import Record
from ..state.assessment import ChangeScore, DimensionScore
from ..state.configuration import load_settings
from ..state.document import table
from ..state.errors import InputError, suggestion
from ..state.wording import localised, t
from .asking import MODULE, NOT_ASKED, Asked, Judge, Place, Question, Questions, judge_all
from .statistics.claims import related
from .statistics.effects import Effect, krippendorff, spearman
from .statistics.intervals import Estimate, Kind, mean_over_tasks
from .transcripts import Conversation, of_outputs, of_run

MEASURE: Final = "dimension"
FEW_TASKS: Final = 10
"""Fewer tasks than these are warned of."""
_SCHEMAS: Final[dict[tuple[int, int], type[DimensionScore] | type[ChangeScore]]] = {
    (0, 10): DimensionScore,
    (-5, 5): ChangeScore,
}


class Dimension(BaseModel):
    """A dimension.

    Attributes:
        key: its short name.
        name: in words.
        source: who proposed it.
        applies: to which conversations.
        rated: what is rated, as the judge reads it.
        low: the lowest score.
        high: the highest.
        least: what the lowest means.
        most: what the highest means.
        middle: what the score between them means; empty if that is not said.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    name: str
    source: Literal["SOTOPIA-EVAL", "thesis"]
    applies: Literal["always", "goals", "relationships", "ended"]
    rated: str
    low: int = 0
    high: int = 10
    least: str
    most: str
    middle: str = ""

    @property
    def kind(self) -> Kind:
        """What a score can be."""
        return Kind(low=self.low, high=self.high)

    def fits(self, conversation: Conversation) -> bool:
        """Whether it applies to a conversation."""
        match self.applies:
            case "always":
                return True
            case "goals":
                return bool(conversation.goals().items)
            case "relationships":
                return bool(conversation.ties().items)
            case "ended":
                return conversation.ending in OWN_ENDS

    def asked(self, conversation: Conversation) -> Asked:
        """The question about a conversation. Goals and relationships are shown only to the dimension about them."""
        goals, ties = conversation.goals(), conversation.ties()
        values = {
            "scene": conversation.scene(),
            "profiles": conversation.profiles(),
            "goals": goals if self.applies == "goals" else replace(goals, items=()),
            "ties": ties if self.applies == "relationships" else replace(ties, items=()),
            "transcript": conversation.transcript(),
            "dimension": self.model_dump(),
        }
        return Asked("dimension", _SCHEMAS[self.low, self.high], values)


def _read() -> dict[str, Dimension]:
    every = TypeAdapter(list[Dimension]).validate_python(table(__file__, "dimensions.yaml")["dimensions"])
    return {dimension.key: dimension for dimension in every}


DIMENSIONS: Final = _read()
"""All dimensions by key, in the thesis's order. Read once at import: no file is read in an event loop."""


def chosen(only: Iterable[str] | None = None, *, where: str = "--only") -> list[Dimension]:
    """The dimensions of these keys, in the order of `DIMENSIONS`; all of them by default.

    Args:
        only: the keys.
        where: they are given, for errors.

    Raises:
        InputError: there is no dimension of a key, or none is named.
    """
    if only is None:
        return list(DIMENSIONS.values())
    wanted = [key.strip().upper() for key in only if key.strip()]
    if not wanted:
        raise InputError("no dimension is named", where=where, remedy=f"Known: {', '.join(DIMENSIONS)}.")
    for key in wanted:
        if key not in DIMENSIONS:
            raise InputError(f"there is no dimension {key!r}", where=where, remedy=suggestion(key, list(DIMENSIONS)))
    return [dimension for key, dimension in DIMENSIONS.items() if key in wanted]


def questions_on(
    conversation: Conversation, dimensions: Iterable[Dimension], place: Place, repeats: int = 1
) -> Questions[RecordedJudgement]:
    """The questions about a conversation: each dimension that applies, for so many independent scores.

    Args:
        conversation: what is judged.
        dimensions: on what.
        place: where the answers are kept: the run's folder.
        repeats: scores of each dimension.
    """
    run, units = conversation.run, list[Question[RecordedJudgement]]()
    for one in (one for one in dimensions if one.fits(conversation)):
        asked = one.asked(conversation)
        for n in range(1, repeats + 1):
            fields = {"dimension": one.key}
            units.append(Question(asked, RecordedJudgement, fields, run, (MEASURE, run, one.key, n), n))
    return Questions(place, RecordedJudgement, units)


def current(record: Record, rows: Iterable[RecordedJudgement]) -> list[RecordedJudgement]:
    """The judgements that answer the question as it would be asked today, in the order of dimensions and repeats.

    Others are stale: the conversation has gone on, or the words of the question are others.
    """
    found = [row for row in rows if row.measure == MEASURE and row.dimension in DIMENSIONS]
    if not found:
        return []
    conversation = of_run(record)
    requests = {key: DIMENSIONS[key].asked(conversation).request for key in {row.dimension for row in found}}
    order = list(DIMENSIONS)
    fresh = [row for row in found if row.request == requests[row.dimension]]
    return sorted(fresh, key=lambda row: (order.index(row.dimension), row.judge, row.repeat))


# What the judgements on many conversations come to


@dataclass(frozen=True)
class Value:
    """A conversation's value on a dimension.

    Attributes:
        run: the conversation's.
        task: what conversations are paired and counted by.
        dimension: its key.
        applies: whether the dimension applies to the conversation.
        scores: the valid ones, by their repeats' numbers.
        missing: reason: how many scores are missing for it.
        words: mean words of an utterance.
    """

    run: str
    task: str
    dimension: str
    applies: bool
    scores: Mapping[int, float]
    missing: Mapping[str, int]
    words: float

    @property
    def value(self) -> float | None:
        """The mean of the scores; None without a valid one."""
        return fmean(self.scores.values()) if self.scores else None


@dataclass(frozen=True)
class DimensionResult:
    """A dimension over all conversations.

    Attributes:
        dimension: what was judged.
        mean: over conversations; None without a value.
        sd: sample standard deviation over conversations; None of fewer than two.
        interval: the mean over tasks with its interval.
        n: conversations with a value.
        not_applicable: conversations to which the dimension does not apply.
        missing: reason: scores that are missing.
        reliability: Krippendorff's α over the repeats; None without repeats, or if it is undefined.
        length: Spearman's ρ of value and mean words of an utterance.
    """

    dimension: Dimension
    mean: float | None
    sd: float | None
    interval: Estimate
    n: int
    not_applicable: int
    missing: Mapping[str, int]
    reliability: float | None
    length: Effect


def values_of(
    conversation: Conversation,
    dimensions: Iterable[Dimension],
    part: Questions[RecordedJudgement],
    judge: str,
    rows: Mapping[Key, RecordedJudgement],
) -> list[Value]:
    """The values of one conversation, one a dimension.

    Args:
        conversation: that was judged.
        dimensions: on which.
        part: the questions about it.
        judge: the judge's name.
        rows: the answers.
    """
    scores: dict[str, dict[int, float]] = defaultdict(dict)
    missing: dict[str, Counter[str]] = defaultdict(Counter)
    for unit in part.units:
        row, key = rows.get(unit.key(judge)), unit.fields["dimension"]
        if row is not None and row.score is not None:
            scores[key][unit.repeat] = row.score
        else:
            missing[key][row.missing if row is not None else NOT_ASKED] += 1
    run, task, words = conversation.run, conversation.task, conversation.words
    return [
        Value(run, task, one.key, one.fits(conversation), scores[one.key], dict(missing[one.key]), words)
        for one in dimensions
    ]


def result_of(dimension: Dimension, values: Sequence[Value]) -> DimensionResult:
    """A dimension's mean, spread, interval, reliability and relation to length.

    Args:
        dimension: what was judged.
        values: of all dimensions; those of others are ignored.
    """
    own = [value for value in values if value.dimension == dimension.key]
    there = [(value, value.value) for value in own if value.applies]
    known = [(value, score) for value, score in there if score is not None]
    scores = [score for _, score in known]
    repeats = max((max(value.scores, default=0) for value in own), default=0)
    alpha = krippendorff([list(value.scores.values()) for value in own], "interval") if repeats > 1 else None
    return DimensionResult(
        dimension=dimension,
        mean=fmean(scores) if scores else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        interval=mean_over_tasks(task_means((value.task, score) for value, score in there), dimension.kind),
        n=len(scores),
        not_applicable=len(own) - len(there),
        missing=dict(sum((Counter(value.missing) for value in own), Counter())),
        reliability=alpha.value if alpha else None,
        length=spearman(scores, [value.words for value, _ in known]),
    )


def task_means(values: Iterable[tuple[str, float | None]]) -> list[float | None]:
    """The mean of each task's values, in order of the tasks' names; None for a task without a value."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for task, value in values:
        by_task[task].extend([] if value is None else [value])
    return [fmean(by_task[task]) if by_task[task] else None for task in sorted(by_task)]


def warnings(judge: ModelName, conversations: Sequence[Conversation], lengths: Mapping[str, Effect]) -> list[str]:
    """What a reader must know before believing the numbers, a sentence each.

    Args:
        judge: the model that judged.
        conversations: those that were judged.
        lengths: what was scored: how its score goes together with the length of utterances.
    """
    found = []
    spoken = set[str]().union(*(conversation.models for conversation in conversations))
    if any(model == judge.written or _model_in(model) == judge.model for model in spoken):
        found.append(t("findings.own_words", judge=judge.written))
    tasks = len({conversation.task for conversation in conversations})
    if tasks < FEW_TASKS:
        found.append(t("findings.few_tasks", n=tasks))
    for name, effect in related(lengths).items():
        way = "rise" if (effect.value or 0) > 0 else "fall"
        told = {"name": name, "rho": localised(f"{effect.value:.2f}"), "number": str(effect.n)}
        found.append(t(f"findings.length_{way}", **told))
    return found


def _model_in(name: str) -> str | None:
    """The model that a name means; None for a name that is none."""
    try:
        return parse_model_name(name).model
    except InputError:
        return None


def dimension(key: str, *, by: str, repeats: int = 1, **settings: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An evaluator that lets a model judge a conversation on one dimension, for `langsmith.evaluate` and here.

    Args:
        key: of the dimension, one of `DIMENSIONS`.
        by: the model that judges.
        repeats: independent scores, of which the mean is taken.
        **settings: `budget_calls`, `prices` and so on. A budget holds for all calls of the evaluator together.

    Returns:
        A function of a target's outputs. Its score is None if the dimension does not apply, or no answer is valid; the
        comment then says why, and else has the judge's reasons.

    Raises:
        InputError: there is no such dimension, the model cannot judge, or a setting is wrong.
    """
    if repeats < 1:
        raise InputError(f"repeats is {repeats}", where="argument repeats", remedy="Give 1 or more.")
    (wanted,) = chosen([key])
    named: dict[str, Any] = {f"module_models.{MODULE}": by, **settings}
    judge, ledger = Judge(load_settings(**named)), Ledger()

    def evaluator(outputs: dict[str, Any]) -> dict[str, Any]:
        conversation = of_outputs(outputs)
        if not wanted.fits(conversation):
            return {"key": wanted.key, "score": None, "comment": "the dimension does not apply"}
        part = questions_on(conversation, [wanted], {}, repeats)
        asking = wait_for(judge_all(judge, [part], ledger=ledger))
        rows = part.answers(judge.name)
        scores = [row.score for row in rows if row.score is not None]
        reasons = [row.reasoning or row.missing for row in rows]
        comment = " | ".join([*reasons, *([asking.exhausted] if asking.exhausted else [])])
        return {"key": wanted.key, "score": fmean(scores) if scores else None, "comment": comment}

    evaluator.__name__ = wanted.key
    evaluator.__doc__ = f"{wanted.name}, {wanted.low} to {wanted.high}, judged by {judge.name}."
    return evaluator
