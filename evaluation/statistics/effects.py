"""Effects: how large a difference is, in a number that does not grow with the number of units.

Each is between −1 and 1 or a ratio, and needs no assumption on how values are spread. A test says whether a difference
could be chance; an effect says whether it matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from .intervals import Estimate, Kind, Numbers, jackknife, known, ranked_alike, stats

ORDERS: Final = 9_999
"""How many random orders a correlation is compared with."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The size of a difference or of a relation.

    Attributes:
        name: which effect it is.
        value: None where it is undefined.
        n: the units on which it rests.
        dropped: the units left out because a value is missing.
        p: two-sided, of a relation; None where there is none.
    """

    name: str
    value: float | None
    n: int
    dropped: int = 0
    p: float | None = None


@dataclass(frozen=True, kw_only=True)
class SignedRanks:
    """Differences, ranked by their size.

    Attributes:
        differences: those that are not zero, as shares of the greatest.
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
        together = ranked_alike(np.concatenate([a, b]))
        u = stats().mannwhitneyu(together[: len(a)], together[len(a) :], method="asymptotic").statistic
        value = 2 * float(u) / (len(a) * len(b)) - 1
    return Effect(name="Cliff's δ", value=value, n=len(a) + len(b), dropped=missing_a + missing_b)


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Effect:
    """Spearman's rank correlation ρ of two values a unit, −1 to 1.

    A unit that lacks one of the two is left out. None for fewer than two units, or where one side never varies. p is
    the share of 9,999 random orders of one side (and of the order found) with a ρ at least as far from 0. Source:
    Spearman 1904; `scipy.stats.spearmanr`.

    Raises:
        ValueError: the two are of different lengths.
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    a, b = (stats().rankdata(ranked_alike(known([pair[side] for pair in both]).values)) for side in (0, 1))
    told: dict[str, Any] = {"name": "Spearman's ρ", "n": len(both), "dropped": len(first) - len(both)}
    if len(both) < 2 or not np.ptp(a) or not np.ptp(b):
        return Effect(value=None, **told)
    a, b = ((ranks - ranks.mean()) / (ranks.std() * len(both) ** 0.5) for ranks in (a, b))
    orders = np.random.default_rng(0).permuted(np.tile(a, (ORDERS, 1)), axis=1) @ b
    p = (1 + np.count_nonzero(np.abs(orders) >= abs(a @ b) - 1e-9)) / (ORDERS + 1)
    return Effect(value=float(a @ b), p=float(p), **told)


def variance_ratio(
    simulated: Sequence[float],
    human: Sequence[float],
    places: Sequence[float] | None = None,
    *,
    sizes: tuple[float, float | None] | None = None,
) -> float | None:
    """How much simulated answers vary against those of people: the ratio of the two variances (n − 1), 0 upwards.

    Below 1, the simulated people vary too little. None where a side has fewer than two answers, or people do not vary.

    Args:
        simulated: counts of the ordered options, or shares with `sizes`.
        human: the same for people.
        places: the options' values; 1, 2, 3, … where none are given.
        sizes: how many answers each side has, where it is not the sum of its counts; None: all that there are.

    Raises:
        ValueError: the lengths differ, or a count is negative.
    """
    if places is None:
        places = range(1, len(simulated) + 1)
    if not len(simulated) == len(human) == len(places):
        raise ValueError("the two sides have different options")
    at, sides = np.asarray(places, dtype=float), [known(side).values for side in (simulated, human)]
    if any((side < 0).any() for side in sides):
        raise ValueError("a count is negative")
    numbers = sizes or (float(sides[0].sum()), float(sides[1].sum()))
    if any(not side.sum() or (n is not None and n < 2) for side, n in zip(sides, numbers, strict=True)):
        return None
    found, of_people = (float(spreads(side / side.sum(), at, n)) for side, n in zip(sides, numbers, strict=True))
    return found / of_people if of_people else None


def spreads(shares: Numbers, places: Numbers, n: float | None) -> Numbers:
    """The variances (n − 1) of distributions over places, one a row; those of all that there are where n is None."""
    apart = places - np.median(places)
    mean = shares @ apart
    found: Numbers = np.maximum(0.0, shares @ apart**2 - mean**2) * (1 if n is None else n / (n - 1))
    return found


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
        interval: of the value, over units.
    """

    value: float | None
    metric: Metric
    observed: float | None
    expected: float | None
    units: int
    dropped: int
    ratings: int
    interval: Estimate


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


_FEWEST: Final = 20
"""The fewest units of which α has an interval: of fewer, it was measured to be too narrow."""


def krippendorff(units: Units, metric: Metric) -> Alpha:
    """Krippendorff's α = 1 − D_o/D_e for any number of raters, with missing ratings; its interval is `jackknife`'s.

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
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    if metric != "nominal":
        for unit in rated:
            if any(isinstance(rating, str) for rating in unit):
                raise ValueError(f"ratings that are text are nominal, not {metric}")
            known([float(rating) for rating in unit])
    values = sorted({rating for unit in rated for rating in unit}, key=lambda value: (isinstance(value, str), value))
    place = {value: i for i, value in enumerate(values)}
    at = [np.array([place[rating] for rating in unit]) for unit in rated]
    where = np.array([float(value) for value in values]) if metric == "interval" else None

    def disagreement(of: Sequence[Numbers]) -> tuple[float, float] | None:
        return _disagreement(of, len(values), metric, where)

    def alpha(of: Sequence[Numbers]) -> float | None:
        found = disagreement(of)
        return None if found is None else 1 - found[0] / found[1]

    found = disagreement(at)
    observed, expected = found or (None, None)
    return Alpha(
        value=alpha(at),
        metric=metric,
        observed=observed,
        expected=expected,
        units=len(rated),
        dropped=len(units) - len(rated),
        ratings=sum(map(len, rated)),
        interval=jackknife(at, alpha, Kind(high=1), fewest=_FEWEST),
    )


def _disagreement(
    units: Sequence[Numbers], size: int, metric: Metric, where: Numbers | None
) -> tuple[float, float] | None:
    """The disagreement observed and that expected; None where all ratings are the same.

    Args:
        units: each unit's ratings, as places among the values.
        size: how many values there are.
        metric: of the scale.
        where: the values themselves, for "interval".
    """
    totals = np.bincount(np.concatenate([*units, np.array([], dtype=int)]).astype(int), minlength=size)
    n = int(totals.sum())
    if (totals > 0).sum() < 2:
        return None
    if metric == "nominal":
        alike = sum(float((np.bincount(unit) ** 2).sum() - len(unit)) / (len(unit) - 1) for unit in units)
        return 1 - alike / n, 1 - float((totals * (totals - 1.0)).sum()) / (n * (n - 1))
    # How far two middles are apart is the number of ratings between, the ends counted half.
    at = where if where is not None else np.cumsum(totals) - totals / 2
    # Over all pairs of m values, the squared differences sum to 2m times the squared distances from their mean.
    observed = sum(2 * len(unit) * float(at[unit].var()) * len(unit) / (len(unit) - 1) for unit in units) / n
    mean = float(totals @ at) / n
    return observed, 2 * float(totals @ (at - mean) ** 2) / (n - 1)


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
