"""Effects: how large a difference is, in a number that does not grow with the number of units.

Each is between −1 and 1 or a ratio, and needs no assumption on how values are spread. A test says whether a difference
could be chance; an effect says whether it matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .intervals import RESAMPLES, Estimate, Numbers, bootstrap, known, ranked_alike, stats


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


Metric = Literal["nominal", "ordinal", "interval"]
Value = float | str
Units = Sequence[Sequence[Value | None]]


@dataclass(frozen=True, kw_only=True)
class Alpha:
    """Krippendorff's α.

    Attributes:
        value: 1 is full agreement, 0 what chance brings, below 0 worse than chance; None where it is undefined.
        metric: what counts as how different.
        observed: the disagreement observed.
        expected: the disagreement that chance would bring.
        units: the units with at least two ratings.
        dropped: the units with fewer, which are left out.
        ratings: the ratings that count.
        interval: of the value, by resampling units; None where none was asked for.
    """

    value: float | None
    metric: Metric
    observed: float | None
    expected: float | None
    units: int
    dropped: int
    ratings: int
    interval: Estimate | None = None


@dataclass(frozen=True, kw_only=True)
class Kappa:
    """Cohen's κ of two raters.

    Attributes:
        value: 1 is full agreement, 0 what chance brings; None where it is undefined.
        observed: the share of units on which the two agree, 0–1; None of nothing.
        expected: the share on which they would agree by chance, 0–1; None of nothing.
        n: the units that both rated.
        dropped: the units that only one or none rated.
    """

    value: float | None
    observed: float | None
    expected: float | None
    n: int
    dropped: int


def krippendorff(units: Units, metric: Metric) -> Alpha:
    """Krippendorff's α = 1 − D_o/D_e for any number of raters, with missing ratings.

    A unit with m ratings adds its pairs to the coincidences, each with the weight 1/(m − 1). D_o is their mean squared
    difference, D_e that of all ratings thrown together. The squared difference of values c and k is 1 (nominal),
    (c − k)² (interval), or the square of the ratings from c to k, the two ends counted half (ordinal). Units with fewer
    than two ratings are left out; α is None where all ratings are the same. Source: Krippendorff, *Computing
    Krippendorff's Alpha-Reliability*, 2011.

    Args:
        units: for each thing rated, one rating a rater; None where there is none. Raters need no fixed place. Text is
            for "nominal" alone.
        metric: of the ratings' scale.

    Raises:
        ValueError: a rating is no finite number, and the metric needs one.
    """
    counted, values = _coincidences(units, metric)
    return _alpha(counted, values, metric, len(units))


def krippendorff_with_interval(units: Units, metric: Metric, *, seed: int = 0, resamples: int = RESAMPLES) -> Alpha:
    """Krippendorff's α with a bootstrap interval over units.

    Args:
        units: as for `krippendorff`.
        metric: of the ratings' scale.
        seed: of the draws.
        resamples: how many draws.

    Raises:
        ValueError: as `krippendorff`.
    """
    counted, values = _coincidences(units, metric)
    whole = _alpha(counted, values, metric, len(units))

    def of_units(drawn: Sequence[Numbers]) -> float | None:
        return _alpha(np.stack(drawn), values, metric, len(drawn)).value

    return replace(whole, interval=bootstrap(list(counted), of_units, seed=seed, resamples=resamples))


def cohen(first: Sequence[Value | None], second: Sequence[Value | None]) -> Kappa:
    """Cohen's κ = (p_o − p_e)/(1 − p_e) of two raters' classes.

    Units that one of the two did not rate are left out. None where p_e = 1, that is both give one same class always.
    Source: Cohen 1960.

    Raises:
        ValueError: the two rated different numbers of units.
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    n, dropped = len(both), len(first) - len(both)
    if not n:
        return Kappa(value=None, observed=None, expected=None, n=0, dropped=dropped)
    ones, others = Counter(a for a, _ in both), Counter(b for _, b in both)
    agreed, by_chance = sum(a == b for a, b in both), sum(ones[value] * others[value] for value in ones)
    observed, expected = agreed / n, by_chance / n**2
    value = None if by_chance == n**2 else (observed - expected) / (1 - expected)
    return Kappa(value=value, observed=observed, expected=expected, n=n, dropped=dropped)


def _coincidences(units: Units, metric: Metric) -> tuple[Numbers, list[Value]]:
    """The coincidences of each unit with two ratings or more (unit × value × value), and the values in order."""
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    if metric != "nominal":
        for unit in rated:
            if any(isinstance(rating, str) for rating in unit):
                raise ValueError(f"ratings that are text are nominal, not {metric}")
            known([float(rating) for rating in unit])
    values = sorted({rating for unit in rated for rating in unit}, key=lambda value: (isinstance(value, str), value))
    place = {value: i for i, value in enumerate(values)}
    counts = np.zeros((len(rated), len(values)))
    for i, unit in enumerate(rated):
        for rating in unit:
            counts[i, place[rating]] += 1
    m = counts.sum(axis=1)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(len(values))
    return pairs / np.maximum(m - 1, 1), values


def _alpha(by_unit: Numbers, values: Sequence[Value], metric: Metric, given: int) -> Alpha:
    """α from the coincidences of single units."""
    together = by_unit.sum(axis=0)
    totals = together.sum(axis=1)
    n = totals.sum()
    counts: dict[str, Any] = {"units": len(by_unit), "dropped": given - len(by_unit), "ratings": round(float(n))}
    if (totals > 0).sum() < 2:
        return Alpha(value=None, metric=metric, observed=None, expected=None, **counts)
    apart = _squared_differences(values, totals, metric)
    observed = float((together * apart).sum() / n)
    expected = float((np.outer(totals, totals) * apart).sum() / (n * (n - 1)))
    return Alpha(value=1 - observed / expected, metric=metric, observed=observed, expected=expected, **counts)


def _squared_differences(values: Sequence[Value], totals: Numbers, metric: Metric) -> Numbers:
    """How different each two values are, squared."""
    if metric == "nominal":
        return 1 - np.eye(len(values))
    at = np.cumsum(totals) - totals / 2  # how far two middles are apart: the ratings between, the ends counted half
    if metric == "interval":
        at = np.array([float(value) for value in values])
    apart: Numbers = (at[:, None] - at[None, :]) ** 2
    return apart
