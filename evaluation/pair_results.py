"""What the answers about pairs come to: verdicts, wins against losses, the judge's favour for a position, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from persimchat.evaluation.csv_rows import read_rows
from persimchat.evaluation.pairs import JudgedPairs, Order, Pair, PairAnswer
from persimchat.evaluation.scores import NOT_ASKED
from persimchat.evaluation.statistics.agreement import Kappa, cohen
from persimchat.evaluation.statistics.effects import Effect, spearman
from persimchat.evaluation.statistics.intervals import Estimate, mean_over_tasks, proportion, win_rate
from persimchat.evaluation.statistics.significance import Significance, sign_test, wilcoxon
from persimchat.evaluation.statistics.verdicts import Outcome, Verdict, verdict
from persimchat.runs.folder.judgements import Key
from persimchat.state.errors import InputError
from persimchat.state.plain_text import quoted

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_COLUMNS: Final = ["pair", "verdict"]
_SHOWN: Final = 60


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


def pair_result(judged: JudgedPairs, pair: Pair, judge: str, rows: Mapping[Key, PairAnswer]) -> PairResult:
    """The verdict on one pair from its answers."""
    scores: dict[Order, list[tuple[float, float] | None]] = {1: [], 2: []}
    missing: Counter[str] = Counter()
    for unit in judged.units_of(pair):
        row = rows.get(unit.key(judge))
        if row is None or row.score_a is None or row.score_b is None:
            missing[row.missing if row is not None else NOT_ASKED] += 1
            scores[unit.order].append(None)
        else:
            scores[unit.order].append((row.score_a, row.score_b))
    return PairResult(pair, verdict(scores[1], scores[2] if judged.swap else None), dict(missing))


def pairs_result(judged: JudgedPairs, judge: str, rows: Mapping[Key, PairAnswer]) -> PairsResult:
    """All pairs' verdicts and what they come to."""
    results = [pair_result(judged, pair, judge, rows) for pair in judged.pairs]
    verdicts = [result.verdict for result in results]
    counts = Counts.of([one.outcome for one in verdicts])
    positions = [None if one.position is None else float(one.position) for one in verdicts]
    conflicts = [one.conflict for one in verdicts if one.conflict is not None]
    apart = [(_difference(result), result.pair.a.words - result.pair.b.words) for result in results]
    return PairsResult(
        pairs=results,
        counts=counts,
        missing=dict(Counter(one.missing for one in verdicts if one.missing)),
        answers_missing=dict(sum((Counter(result.missing) for result in results), Counter())),
        rate=win_rate(counts.win, counts.tie, counts.loss),
        test=sign_test(counts.win, counts.loss, counts.tie),
        position=mean_over_tasks(positions),
        position_test=wilcoxon(positions),
        conflicts=proportion(sum(conflicts), len(conflicts)),
        alone=(Counts.of([one.alone[0] for one in verdicts]), Counts.of([one.alone[1] for one in verdicts])),
        length=spearman([score for score, _ in apart], [words for _, words in apart]),
    )


def _difference(result: PairResult) -> float | None:
    a, b = result.verdict.score_a, result.verdict.score_b
    return None if a is None or b is None else float(a - b)


def read_labels(path: Path, pairs: Sequence[Pair]) -> dict[str, Outcome]:
    """People's verdicts on pairs, by the run of side A: a CSV file with the columns pair and verdict.

    Raises:
        InputError: the file cannot be read, a column is missing, a pair is unknown or given twice, or a verdict is not
            one of win, tie and loss; the line is named.
    """
    given = read_rows(path, _COLUMNS, what="labels", remedy="Name the run of side A, and win, tie or loss of side A.")
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
