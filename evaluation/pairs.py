"""Pairs of conversations, judged side by side in both orders (FairEval), and what the answers come to.

Wang et al., *Large Language Models are not Fair Evaluators*, arXiv:2305.17926: judges favour a position. So a judge
gives its evidence first, then scores from 1 to 10 for both. It is asked k times in one order and k times in the other,
and the mean of all 2k scores of each side decides. As in the thesis, what is scored is realism.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field

from ..runs.folder.answers import Answered, Key
from ..state.assessment import PairScores
from ..state.errors import InputError
from ..state.plain_text import quoted
from .asking import NOT_ASKED, AnswerFile, Asked, Question, Questions
from .csv_rows import read_rows
from .statistics.effects import Effect, Kappa, cohen, spearman
from .statistics.intervals import Estimate, Kind, mean_over_tasks, proportion, win_rate
from .statistics.significance import Outcome, Significance, Verdict, holm, sign_test, verdict, wilcoxon
from .transcripts import Conversation

MEASURE: Final = "pair"
PAIRS: Final = "pairs.sqlite"
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_SHOWN: Final = 60

Order = Literal[1, 2]
"""1: A is shown first; 2: B is."""
Rating = Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]


class PairAnswer(Answered):
    """One answer about one pair in one order."""

    a: str = Field(description="run of side A")
    b: str = Field(description="run of side B")
    order: Order = Field(description="1: A was shown first; 2: B was")
    score_a: Rating | None = None
    score_b: Rating | None = None

    @property
    def key(self) -> Key:
        """The runs as they were shown, judge, request and repeat: whichever side was called A, it is one question."""
        shown = (self.a, self.b) if self.order == 1 else (self.b, self.a)
        return (MEASURE, *shown, self.judge, self.request, self.repeat)

    def scores(self, of: Pair) -> tuple[float, float] | None:
        """The scores of a pair's A and B; None if they are missing."""
        if self.score_a is None or self.score_b is None:
            return None
        return (self.score_a, self.score_b) if self.a == of.a.run else (self.score_b, self.score_a)


@dataclass(frozen=True)
class Pair:
    """Two conversations about one task.

    Attributes:
        a: of the first side.
        b: of the second side.
    """

    a: Conversation
    b: Conversation

    @property
    def equal(self) -> bool:
        """Whether both are word for word the same, which is a tie that nobody need be asked for."""
        return self.a.lines == self.b.lines

    def asked(self, order: Order) -> Asked:
        """The question, with A or with B shown first."""
        first, second = (self.a, self.b) if order == 1 else (self.b, self.a)
        values = {
            "scene": self.a.scene(),
            "profiles": self.a.profiles(),
            "first": first.transcript("first_conversation"),
            "second": second.transcript("second_conversation"),
        }
        return Asked("pair", PairScores, values)


def matched(a: Sequence[Conversation], b: Sequence[Conversation]) -> list[Pair]:
    """The pairs of two groups of conversations with the same task, in the order of the first group.

    Raises:
        InputError: a side has two conversations of one task, or one that the other side has no partner for.
    """
    sides = {"--a": _by_task(a, "--a"), "--b": _by_task(b, "--b")}
    for side, other in (("--a", "--b"), ("--b", "--a")):
        alone = [found.run for task, found in sides[side].items() if task not in sides[other]]
        if alone:
            more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
            raise InputError(
                f"no run of {other} has the topic, participants and seed of {', '.join(alone[:3])}{more}",
                where=side,
                remedy="Leave these runs out, or give the runs that belong to them.",
            )
    pairs = [Pair(found, sides["--b"][task]) for task, found in sides["--a"].items()]
    same = [pair.a.run for pair in pairs if pair.a.run == pair.b.run]
    if same:
        raise InputError(f"the run {same[0]} is on both sides", where="--a and --b", remedy="Compare different runs.")
    return pairs


def _by_task(side: Sequence[Conversation], name: str) -> dict[str, Conversation]:
    found: dict[str, Conversation] = {}
    for conversation in side:
        if conversation.task in found:
            raise InputError(
                f"the runs {found[conversation.task].run} and {conversation.run} have the same topic, participants and "
                "seed, so it is not clear which of them makes the pair",
                where=name,
                remedy="Leave one of them out.",
            )
        found[conversation.task] = conversation
    return found


def questions_on(
    pairs: Iterable[Pair], file: Path, k: int = 3, *, swap: bool = True, expected: bool = False
) -> Questions[PairAnswer]:
    """The questions about pairs; about equal conversations there are none.

    Args:
        pairs: what is judged.
        file: where the answers are kept.
        k: answers in each order.
        swap: whether the second order is asked, too.
        expected: whether the conversations stand for others that are not held yet, and will differ.
    """
    orders: tuple[Order, ...] = (1, 2) if swap else (1,)
    units = list[Question[PairAnswer]]()
    for pair in pairs:
        if pair.equal and not expected:
            continue
        a, b = pair.a.run, pair.b.run
        for order in orders:
            asked, fields = pair.asked(order), {"a": a, "b": b, "order": order}
            for n in range(1, k + 1):
                seeded, read = (MEASURE, a, b, order, n), _a_first if order == 1 else _b_first
                units.append(Question(asked, PairAnswer, fields, f"{a} and {b}", seeded, n, read))
    return Questions(AnswerFile(file, "pair", PairAnswer), PairAnswer, units)


def _a_first(answer: PairScores) -> dict[str, Any]:
    return {"score_a": answer.first, "score_b": answer.second, "reasoning": answer.reasoning}


def _b_first(answer: PairScores) -> dict[str, Any]:
    return {"score_a": answer.second, "score_b": answer.first, "reasoning": answer.reasoning}


# What the answers come to


@dataclass(frozen=True)
class PairResult:
    """What the judge says of one pair.

    Attributes:
        pair: the conversations.
        verdict: on A against B.
        missing: reason: how many answers are missing for it.
    """

    pair: Pair
    verdict: Verdict
    missing: Mapping[str, int]


@dataclass(frozen=True)
class Counts:
    """Verdicts on A against B, counted."""

    win: int
    tie: int
    loss: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome | None]) -> Counts:
        """The counts of these outcomes; None is not counted."""
        found = Counter(outcome for outcome in outcomes if outcome is not None)
        return cls(*(found[outcome] for outcome in OUTCOMES))


@dataclass(frozen=True)
class PairsResult:
    """All pairs together.

    Attributes:
        pairs: one by one.
        counts: of the verdicts.
        missing: reason: how many pairs have no verdict for it.
        answers_missing: reason: how many single answers are missing for it.
        rate: wins and half of the ties as a share.
        test: wins against losses.
        position: mean of (d₁ − d₂)/2 over pairs: above 0, what is shown first is favoured. Without the second order,
            it is not known.
        position_test: of the position effect against 0.
        conflicts: share of pairs whose verdict changes with the order.
        alone: what either order by itself would have said.
        length: Spearman's ρ of score difference and difference in mean words of an utterance.
    """

    pairs: Sequence[PairResult]
    counts: Counts
    missing: Mapping[str, int]
    answers_missing: Mapping[str, int]
    rate: Estimate
    test: Significance
    position: Estimate
    position_test: Significance
    conflicts: Estimate
    alone: tuple[Counts, Counts]
    length: Effect

    @property
    def p_holm(self) -> list[float | None]:
        """The p of both tests, of wins and of the position, adjusted for each other."""
        return holm([self.test.p, self.position_test.p])


def results_of(
    pairs: Sequence[Pair], part: Questions[PairAnswer], judge: str, rows: Mapping[Key, PairAnswer]
) -> list[PairResult]:
    """The verdict on each pair from its answers, in order of the pairs."""
    units: dict[tuple[str, str], list[Question[PairAnswer]]] = {}
    for unit in part.units:
        units.setdefault((unit.fields["a"], unit.fields["b"]), []).append(unit)
    return [
        PairResult(pair, _EQUAL, {}) if pair.equal else _result(pair, units[pair.a.run, pair.b.run], judge, rows)
        for pair in pairs
    ]


_EQUAL: Final = Verdict(
    outcome="tie",
    missing="",
    score_a=None,
    score_b=None,
    alone=(None, None),
    position=None,
    conflict=None,
    bpde=None,
    n=0,
    dropped=0,
)
"""Of equal conversations: nobody was asked."""


def _result(
    pair: Pair, units: Iterable[Question[PairAnswer]], judge: str, rows: Mapping[Key, PairAnswer]
) -> PairResult:
    scores: dict[Order, list[tuple[float, float] | None]] = {}
    missing: Counter[str] = Counter()
    for unit in units:
        row = rows.get(unit.key(judge))
        found = row.scores(pair) if row is not None else None
        scores.setdefault(unit.fields["order"], []).append(found)
        if found is None:
            missing[row.missing if row is not None else NOT_ASKED] += 1
    return PairResult(pair, verdict(scores[1], scores.get(2)), dict(missing))


def pairs_result(results: Sequence[PairResult]) -> PairsResult:
    """What the verdicts on all pairs come to."""
    verdicts = [result.verdict for result in results]
    counts = Counts.of([one.outcome for one in verdicts])
    positions = [None if one.position is None else float(one.position) for one in verdicts]
    conflicts = [one.conflict for one in verdicts if one.conflict is not None]
    return PairsResult(
        pairs=results,
        counts=counts,
        missing=dict(Counter(one.missing for one in verdicts if one.missing)),
        answers_missing=dict(sum((Counter(result.missing) for result in results), Counter())),
        rate=win_rate(counts.win, counts.tie, counts.loss),
        test=sign_test(counts.win, counts.loss, counts.tie),
        position=mean_over_tasks(positions, Kind(low=-9, high=9)),
        position_test=wilcoxon(positions),
        conflicts=proportion(sum(conflicts), len(conflicts)),
        alone=(Counts.of([one.alone[0] for one in verdicts]), Counts.of([one.alone[1] for one in verdicts])),
        length=length_effect(results),
    )


def length_effect(results: Iterable[PairResult]) -> Effect:
    """Spearman's ρ of the difference of scores and the difference in mean words of an utterance."""
    apart = [(one.verdict.difference, one.pair.a.words - one.pair.b.words) for one in results]
    return spearman([score for score, _ in apart], [words for _, words in apart])


def read_labels(path: Path, pairs: Sequence[Pair]) -> dict[str, Outcome]:
    """People's verdicts on pairs, by the run of side A: a CSV file with the columns pair and verdict.

    Raises:
        InputError: the file cannot be read, a column is missing, a pair is unknown or given twice, or a verdict is not
            one of win, tie and loss; the line is named.
    """
    remedy = "Name the run of side A, and win, tie or loss of side A."
    given = read_rows(path, ["pair", "verdict"], what="labels", remedy=remedy)
    known, found = {pair.a.run for pair in pairs}, dict[str, Outcome]()
    for where, row in given:
        run, said = row["pair"], row["verdict"].lower()
        outcome = next((one for one in OUTCOMES if one == said), None)
        if outcome is None:
            raise InputError(
                f"{quoted(said, _SHOWN)} is no verdict", where=where, remedy="Write win, tie or loss, of side A."
            )
        if run not in known:
            raise InputError(
                f"there is no pair {quoted(run, _SHOWN)}", where=where, remedy="Name the run of side A, by its id."
            )
        if run in found:
            raise InputError(f"the pair {run} has two verdicts", where=where, remedy="Keep one of them.")
        found[run] = outcome
    return found


def agreement(result: PairsResult, labels: Mapping[str, Outcome]) -> Kappa:
    """How far the judge's verdicts agree with people's: the share that is equal, and Cohen's κ of the three classes."""
    ours = [one.verdict.outcome for one in result.pairs]
    return cohen(ours, [labels.get(one.pair.a.run) for one in result.pairs])
