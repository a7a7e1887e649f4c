"""Effects: how large a difference is, in a number that does not grow with the number of units.

Each is between −1 and 1 or a ratio, and needs no assumption on how values are spread. A test says whether a difference
could be chance; an effect says whether it matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from persimchat.evaluation.statistics.library import stats
from persimchat.evaluation.statistics.values import Numbers, known, ranked_alike


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The size of a difference or of a relation.

    Attributes:
        name: which effect it is.
        value: None where it is undefined.
        n: the units on which it rests.
        dropped: the units left out because a value is missing.
    """

    name: str
    value: float | None
    n: int
    dropped: int = 0


@dataclass(frozen=True, kw_only=True)
class SignedRanks:
    """Differences, ranked by their size.

    Attributes:
        differences: those that are not zero, to nine decimals.
        signed: their ranks, with their signs.
        positive: W⁺, the sum of the ranks of those above zero; equal sizes share their mean rank.
        negative: W⁻, the sum of the ranks of those below zero.
        zeros: how many differences were zero.
        missing: how many were None.
    """

    differences: Numbers
    signed: Numbers
    positive: float
    negative: float
    zeros: int
    missing: int


def signed_ranks(differences: Sequence[float | None]) -> SignedRanks:
    """Rank differences by size; zeros are left out first. Source: Wilcoxon 1945; `scipy.stats.rankdata`.

    Args:
        differences: one a unit, first minus second; None where one of the two is missing.
    """
    there, missing = known(differences)
    there = ranked_alike(there)
    used = there[there != 0]
    ranks = stats().rankdata(np.abs(used))
    return SignedRanks(
        differences=used,
        signed=ranks * np.sign(used),
        positive=float(ranks[used > 0].sum()),
        negative=float(ranks[used < 0].sum()),
        zeros=len(there) - len(used),
        missing=missing,
    )


def rank_biserial(differences: Sequence[float | None]) -> Effect:
    """The effect beside Wilcoxon's signed-rank test: r = (W⁺ − W⁻)/(W⁺ + W⁻), −1 to 1.

    1 means that every difference is positive, 0 that both sides weigh the same. None where every difference is zero.
    Source: Kerby 2014, matched-pairs rank-biserial correlation.

    Args:
        differences: one a unit, first minus second; None where one of the two is missing.
    """
    ranks = signed_ranks(differences)
    n = len(ranks.differences)
    value = (ranks.positive - ranks.negative) / (ranks.positive + ranks.negative) if n else None
    return Effect(name="rank-biserial r", value=value, n=n, dropped=ranks.missing)


def cliffs_delta(first: Sequence[float | None], second: Sequence[float | None]) -> Effect:
    """The effect for two groups that share no tasks: δ = 2U/(nm) − 1, −1 to 1.

    It is the share of all pairs in which the first group's value is greater, minus the share in which it is smaller.
    None where a group is empty. Source: Cliff 1993; U from `scipy.stats.mannwhitneyu`.
    """
    (a, missing_a), (b, missing_b) = known(first), known(second)
    value = None
    if len(a) and len(b):
        u = stats().mannwhitneyu(ranked_alike(a), ranked_alike(b), method="asymptotic").statistic
        value = 2 * float(u) / (len(a) * len(b)) - 1
    return Effect(name="Cliff's δ", value=value, n=len(a) + len(b), dropped=missing_a + missing_b)


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Effect:
    """Spearman's rank correlation ρ of two values a unit, −1 to 1.

    A unit that lacks one of the two is left out. None for fewer than two units, or where one side never varies. Source:
    Spearman 1904; `scipy.stats.spearmanr`.

    Raises:
        ValueError: the two are of different lengths.
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    a, b = (ranked_alike(known([pair[side] for pair in both]).values) for side in (0, 1))
    varies = len(both) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0
    value = float(stats().spearmanr(a, b).statistic) if varies else None
    return Effect(name="Spearman's ρ", value=value, n=len(both), dropped=len(first) - len(both))


def variance_ratio(
    simulated: Sequence[float], human: Sequence[float], places: Sequence[float] | None = None
) -> float | None:
    """How much simulated answers vary against those of people: the ratio of the two variances, 0 upwards.

    Below 1, the simulated people vary too little. None where a side is empty or people do not vary at all.

    Args:
        simulated: counts or shares of the ordered options.
        human: the same for people.
        places: the options' values; 1, 2, 3, … where none are given.

    Raises:
        ValueError: the lengths differ, or a count is negative.
    """
    if places is None:
        places = range(1, len(simulated) + 1)
    if not len(simulated) == len(human) == len(places):
        raise ValueError("the two sides have different options")
    at = np.asarray(places, dtype=float)
    varying = [_variance(known(side).values, at) for side in (simulated, human)]
    if varying[0] is None or not varying[1]:
        return None
    return varying[0] / varying[1]


def _variance(counts: Numbers, places: Numbers) -> float | None:
    """The variance of a distribution over places; None of an empty one."""
    if (counts < 0).any():
        raise ValueError("a count is negative")
    total = counts.sum()
    if total == 0:
        return None
    shares = counts / total
    mean = shares @ places
    return float(shares @ (places - mean) ** 2)
