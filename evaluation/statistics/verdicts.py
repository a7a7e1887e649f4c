"""The verdict on a pair of conversations from a judge's scores in both orders, in exact fractions.

The method is FairEval's (Wang et al., *Large Language Models are not Fair Evaluators*, 2023): the judge scores both
conversations k times in one order and k times in the other, because judges favour a position.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Outcome = Literal["win", "tie", "loss"]
Scores = tuple[int | float | Fraction, int | float | Fraction]
"""The scores of A and of B, whichever of them was shown first."""
Missing = Literal["", "no answer", "one order only"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the scores of one pair say.

    Attributes:
        outcome: of A against B; None where it is missing.
        missing: why there is no outcome; empty where there is one.
        score_a: A's mean score, each order weighing the same; None without an outcome.
        score_b: B's.
        alone: what either order by itself would have said, (A, B) first; None for an order without answers.
        position: (d₁ − d₂)/2, where d is the mean of A − B in an order: above 0, the judge favours what is shown
            first. None unless both orders have answers.
        conflict: whether the two orders say different things; None unless both have answers.
        bpde: the entropy of the single verdicts, 0 to ln 3: how undecided the judge is; None unless both orders have
            answers.
        n: valid answers.
        dropped: invalid answers.
    """

    outcome: Outcome | None
    missing: Missing
    score_a: Fraction | None
    score_b: Fraction | None
    alone: tuple[Outcome | None, Outcome | None]
    position: Fraction | None
    conflict: bool | None
    bpde: float | None
    n: int
    dropped: int


def verdict(a_first: Sequence[Scores | None], b_first: Sequence[Scores | None] | None) -> Verdict:
    """The verdict on A against B.

    The outcome is the sign of d₁ + d₂, where d is the mean of A − B in an order: where no answer is missing, that is
    the comparison of the means of all 2k scores. Without a valid answer in one order there is no verdict, because the
    favour for a position would stay in it.

    Args:
        a_first: the scores of (A, B) with A shown first; None for an invalid answer.
        b_first: the scores of (A, B), too, with B shown first; None as a whole where that order was not asked. Then
            the first order alone decides.
    """
    orders = [_valid(a_first), _valid(b_first or ())]
    asked = len(a_first) + len(b_first or ())
    single = [_outcome(a - b) for order in orders for a, b in order]
    differences = [_mean([a - b for a, b in order]) for order in orders]
    alone = tuple(None if difference is None else _outcome(difference) for difference in differences)
    first, second = differences
    counted = orders if b_first is not None else orders[:1]
    missing: Missing = "" if all(counted) else "one order only" if any(counted) else "no answer"
    position = conflict = bpde = None
    if first is not None and second is not None:
        position, conflict, bpde = (first - second) / 2, alone[0] != alone[1], entropy(single)
    a, b = (None if missing else _mean([_mean([pair[side] for pair in order]) for order in counted]) for side in (0, 1))
    return Verdict(
        outcome=None if a is None or b is None else _outcome(a - b),
        missing=missing,
        score_a=a,
        score_b=b,
        alone=(alone[0], alone[1]),
        position=position,
        conflict=conflict,
        bpde=bpde,
        n=len(single),
        dropped=asked - len(single),
    )


def entropy(outcomes: Sequence[Outcome]) -> float:
    """−Σ p ln p over win, tie and loss, 0 to ln 3 (FairEval's balanced position diversity entropy)."""
    shares = [count / len(outcomes) for count in Counter(outcomes).values()]
    return -sum(share * math.log(share) for share in shares) + 0.0  # -0.0 becomes 0.0


def _valid(order: Sequence[Scores | None]) -> list[tuple[Fraction, Fraction]]:
    """The valid answers as exact fractions: 8.1 is 81/10, not its nearest binary number."""
    return [(_exact(pair[0]), _exact(pair[1])) for pair in order if pair is not None]


def _exact(score: float | Fraction) -> Fraction:
    return score if isinstance(score, Fraction) else Fraction(str(score))


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    there = [value for value in values if value is not None]
    return sum(there, Fraction()) / len(there) if there else None


def _outcome(difference: Fraction) -> Outcome:
    return "win" if difference > 0 else "loss" if difference < 0 else "tie"
