"""What the judgements on many conversations come to: mean, spread and interval of each dimension, and warnings.

The value of a conversation is the mean of its repeated scores. Mean ± SD are over conversations, as the thesis prints
them; the interval is over tasks, because conversations of one task hang together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from persimchat.evaluation.dimensions import Dimension, Judged
from persimchat.evaluation.statistics.agreement import krippendorff
from persimchat.evaluation.statistics.effects import Effect, spearman
from persimchat.evaluation.statistics.intervals import Estimate, mean_over_tasks
from persimchat.evaluation.transcripts import Conversation
from persimchat.models.naming import ModelName, parse_model_name
from persimchat.runs.folder.judgements import Key, RecordedJudgement
from persimchat.state.errors import InputError

NOT_ASKED: Final = "not asked"
"""The reason of a score that is missing because a budget was exhausted first."""
FEW_TASKS: Final = 10
"""Fewer tasks than these are warned of."""
LENGTH_MATTERS: Final = 0.3
"""From this Spearman's ρ on, in absolute value, scores may reward length."""
_FEWEST: Final = 4
"""Of fewer conversations a rank correlation says nothing."""


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


def values_of(judged: Judged, judge: str, rows: Mapping[Key, RecordedJudgement]) -> list[Value]:
    """The values of one conversation, one a dimension.

    Args:
        judged: the questions about it.
        judge: the judge's name.
        rows: the answers.
    """
    scores: dict[str, dict[int, float]] = defaultdict(dict)
    missing: dict[str, Counter[str]] = defaultdict(Counter)
    for unit in judged.units:
        key = unit.key(judge)
        row = rows.get(key)
        if row is not None and row.score is not None:
            scores[unit.dimension.key][unit.repeat] = row.score
        else:
            missing[unit.dimension.key][row.missing if row is not None else NOT_ASKED] += 1
    conversation = judged.conversation
    return [
        Value(
            run=conversation.run,
            task=conversation.task,
            dimension=one.key,
            applies=one.fits(conversation),
            scores=scores[one.key],
            missing=dict(missing[one.key]),
            words=conversation.words,
        )
        for one in judged.dimensions
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
        interval=mean_over_tasks(task_means((value.task, score) for value, score in there)),
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


def length_matters(effect: Effect) -> bool:
    """Whether scores go together with length so far that a reader must know."""
    return effect.value is not None and effect.n >= _FEWEST and abs(effect.value) > LENGTH_MATTERS


def warnings(judge: ModelName, conversations: Sequence[Conversation], lengths: Mapping[str, Effect]) -> list[str]:
    """What a reader must know before believing the numbers, a sentence each.

    Args:
        judge: the model that judged.
        conversations: those that were judged.
        lengths: what was scored: how its score goes together with the length of utterances.
    """
    found = []
    spoken = set[str]().union(*(conversation.models for conversation in conversations))
    if any(_same(judge, model) for model in spoken):
        found.append(
            f"{judge.written} judges words of its own: models tend to prefer what they wrote. Name another judge."
        )
    tasks = len({conversation.task for conversation in conversations})
    if tasks < FEW_TASKS:
        found.append(f"Only {tasks} {'task' if tasks == 1 else 'tasks'}: the intervals are wide, and chance is large.")
    for name, effect in lengths.items():
        if effect.value is not None and length_matters(effect):
            rises = "rise" if effect.value > 0 else "fall"
            found.append(
                f"{name}: scores {rises} with the length of utterances "
                f"(Spearman's ρ {effect.value:.2f}, n {effect.n}); the judge may reward length itself."
            )
    return found


def _same(judge: ModelName, model: str) -> bool:
    """Whether a conversation's model is the judge."""
    try:
        return parse_model_name(model).model == judge.model
    except InputError:
        return model == judge.written
