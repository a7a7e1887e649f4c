"""Intervals: between which bounds a value may well lie, at 95 % confidence.

Over many repetitions of the same study, 95 of 100 such intervals hold the true value. A wide one says that there were
few units, or that they differ much.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...state.errors import MissingExtraError

LEVEL: Final = 0.95
"""The confidence of all intervals."""
RESAMPLES: Final = 9_999
"""How many resamples a bootstrap draws."""
FEWEST: Final = 6
"""The fewest units from which a bootstrap makes an interval."""
_DEFINED: Final = 0.95
"""The least share of resamples for which a statistic must be defined."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its interval.

    Attributes:
        value: None where there is nothing to estimate it from.
        low: the interval's lower bound; None where there is no interval.
        high: its upper bound; None where there is no interval.
        method: how the interval is made.
        n: the units on which the value rests.
        dropped: the units left out because their value is missing.
        sd: the sample standard deviation (n − 1) over the units; None where it does not apply.
        note: why there is no interval; empty where there is one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    method: str
    n: int
    dropped: int = 0
    sd: float | None = None
    note: str = ""


def proportion(successes: int, n: int) -> Estimate:
    """A share of `n` independent trials, 0–1, with Wilson's interval.

    The interval stays within 0 and 1 and has a width for 0 of n and n of n, too. None of nothing. Source: Wilson 1927;
    `scipy.stats.binomtest`.

    Raises:
        ValueError: there are more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return Estimate(value=None, method="Wilson", n=0, note="there are no trials")
    interval = stats().binomtest(successes, n).proportion_ci(confidence_level=LEVEL, method="wilson")
    return Estimate(value=successes / n, low=float(interval.low), high=float(interval.high), method="Wilson", n=n)


def mean_over_tasks(values: Sequence[float | None]) -> Estimate:
    """The mean m of one value a unit with Student's interval, m ± t(0.975, n−1)·s/√n.

    For a comparison, give the difference of each task. The interval may pass the ends of the scale, for cutting it
    would hide how wide it is. One unit has no interval. Source: Student 1908; `scipy.stats.t`.

    Args:
        values: one a unit; None where it is missing.
    """
    there, missing = known(values)
    n = len(there)
    if n == 0:
        return Estimate(value=None, method="t", n=0, dropped=missing, note="there are no values")
    mean = float(there.mean())
    if n == 1:
        return Estimate(value=mean, method="t", n=1, dropped=missing, note="one unit has no interval")
    sd = float(there.std(ddof=1))
    half = float(stats().t.ppf((1 + LEVEL) / 2, n - 1)) * sd / math.sqrt(n)
    return Estimate(value=mean, low=mean - half, high=mean + half, method="t", n=n, dropped=missing, sd=sd)


def win_rate(wins: int, ties: int, losses: int) -> Estimate:
    """Wins and half of the ties as a share of all pairs, 0–1, with the interval of `mean_over_tasks` on 1, ½, 0.

    Raises:
        ValueError: a count is negative.
    """
    if min(wins, ties, losses) < 0:
        raise ValueError("a count is negative")
    return mean_over_tasks([1.0] * wins + [0.5] * ties + [0.0] * losses)


def unpaired_difference(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """The mean of one group minus that of another with Welch's interval, for groups that share no tasks.

    The groups may differ in size and spread. A group of fewer than two units has no interval. Source: Welch 1947;
    `scipy.stats.ttest_ind`.

    Returns:
        `n` and `dropped` count both groups; `sd` is None.
    """
    (a, missing_a), (b, missing_b) = known(first), known(second)
    told: dict[str, Any] = {"method": "Welch", "n": len(a) + len(b), "dropped": missing_a + missing_b}
    if not len(a) or not len(b):
        return Estimate(value=None, note="a group has no values", **told)
    difference = float(a.mean() - b.mean())
    if len(a) < 2 or len(b) < 2:
        return Estimate(value=difference, note="a group of one unit has no interval", **told)
    if np.ptp(a) == np.ptp(b) == 0:
        return Estimate(value=difference, low=difference, high=difference, **told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scipy's, for a group whose values are all the same
        interval = stats().ttest_ind(a, b, equal_var=False).confidence_interval(confidence_level=LEVEL)
    return Estimate(value=difference, low=float(interval.low), high=float(interval.high), **told)


def bootstrap(
    units: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Any statistic of whole units with the percentile bootstrap's interval.

    Units are drawn with replacement, each with everything in it; the bounds are the 2.5 % and 97.5 % points of the
    statistic over all draws. Fewer than `FEWEST` units have no interval, nor has a statistic that is undefined for
    more than one draw in twenty. Source: Efron 1979; `scipy.stats.bootstrap`.

    Args:
        units: tasks, raters or runs.
        statistic: of a list of units; None where it is undefined.
        seed: of the draws. The same seed and units give the same interval.
        resamples: how many draws.
    """
    value = statistic(units) if units else None
    method = f"percentile bootstrap, {resamples:,} resamples, seed {seed}"
    if value is None:
        return Estimate(value=None, method=method, n=len(units), note="the statistic is undefined")
    if len(units) < FEWEST:
        return Estimate(value=value, method=method, n=len(units), note=f"fewer than {FEWEST} units have no interval")
    drawn = resampled(units, statistic, seed=seed, resamples=resamples)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < _DEFINED * len(drawn):
        note = f"the statistic is undefined for {len(drawn) - len(defined):,} of {len(drawn):,} resamples"
        return Estimate(value=value, method=method, n=len(units), note=note)
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=value, low=float(low), high=float(high), method=method, n=len(units))


def bootstrap_mean(values: Sequence[float | None], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """The mean of one value a unit with the percentile bootstrap's interval, from two units on.

    Of few units the interval is too narrow: of two it lies between their values.

    Args:
        values: one a unit; None where it is missing.
        seed: of the draws.
        resamples: how many draws.
    """
    there, missing = known(values)
    method, n = f"percentile bootstrap, {resamples:,} resamples, seed {seed}", len(there)
    if n == 0:
        return Estimate(value=None, method=method, n=0, dropped=missing, note="there are no values")
    mean = float(there.mean())
    if n == 1:
        return Estimate(value=mean, method=method, n=1, dropped=missing, note="one unit has no interval")
    drawn = stats().bootstrap(
        (there,), np.mean, n_resamples=resamples, vectorized=True, method="percentile", rng=np.random.default_rng(seed)
    )
    low, high = np.quantile(drawn.bootstrap_distribution, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=mean, low=float(low), high=float(high), method=method, n=n, dropped=missing)


def resampled(
    units: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Numbers:
    """The statistic of each resample of at least two units; NaN where it is undefined.

    Args: as of `bootstrap`.
    """

    def of_indices(indices: Numbers) -> float:
        value = statistic([units[int(index)] for index in indices])
        return math.nan if value is None else value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats().DegenerateDataWarning)  # `bootstrap` says it in words
        found = stats().bootstrap(
            (np.arange(len(units)),),
            of_indices,
            n_resamples=resamples,
            vectorized=False,
            method="percentile",
            rng=np.random.default_rng(seed),
        )
    return np.asarray(found.bootstrap_distribution, dtype=float)


@cache
def stats() -> Any:
    """The module `scipy.stats`.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    return _loaded("scipy.stats")


@cache
def distance() -> Any:
    """The module `scipy.spatial.distance`.

    Raises:
        MissingExtraError: the extra `evaluation` is not installed.
    """
    return _loaded("scipy.spatial.distance")


def _loaded(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        raise MissingExtraError("the statistics of comparisons", "evaluation") from None


# What statistics are given: numbers, and None where a value is missing


Numbers = npt.NDArray[np.float64]
DECIMALS: Final = 9
"""Values are ranked to so many decimals, so that the arithmetic of averages neither makes nor breaks a tie."""


class Known(NamedTuple):
    """The values that are there.

    Attributes:
        values: in the order given.
        missing: how many were None.
    """

    values: Numbers
    missing: int


def known(given: Sequence[float | None]) -> Known:
    """Leave out what is missing.

    Raises:
        ValueError: a value is infinite or not a number.
    """
    values = np.array([value for value in given if value is not None], dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a value is infinite or not a number; a missing value is None")
    return Known(values, len(given) - len(values))


def ranked_alike(values: Numbers) -> Numbers:
    """Values to `DECIMALS` decimals, so that what is equal but for rounding has the same rank."""
    rounded: Numbers = np.round(values, DECIMALS) + 0.0  # -0.0 becomes 0.0
    return rounded


def have_ties(*groups: Numbers) -> bool:
    """Whether two of all values are equal."""
    together = np.concatenate(groups)
    return len(np.unique(together)) < len(together)


# Circles among things that were compared pair by pair: A beats B, B beats C, and C beats A


def circular_triads(items: Sequence[T], beats: Collection[tuple[T, T]]) -> list[tuple[T, T, T]]:
    """All threes of which each beats the next and the last beats the first.

    Where there is one, no order of the items says who is better. Pairs that are tied or were not compared make no
    circle. Source: Kendall and Babington Smith 1940, who count them as a measure of inconsistency.

    Args:
        items: what was compared, in order of listing.
        beats: pairs of which the first won against the second.

    Returns:
        Each circle once, in the order in which they beat each other, beginning with the item listed first.
    """
    won = set(beats)
    found = []
    for a, b, c in combinations(items, 3):
        found += [(x, y, z) for x, y, z in ((a, b, c), (a, c, b)) if {(x, y), (y, z), (z, x)} <= won]
    return found


# How values spread: quartiles, without any assumption on their distribution


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """The values below which a quarter, a half and three quarters of all values lie.

    Attributes:
        low: the lower quartile; None of nothing, as the others.
        median: the middle.
        high: the upper quartile.
        n: the values that count.
        dropped: the values left out because they are missing.
    """

    low: float | None
    median: float | None
    high: float | None
    n: int
    dropped: int = 0


def quartiles(values: Sequence[float | None]) -> Quartiles:
    """Median and quartiles, interpolated linearly between neighbours (type 7 of Hyndman and Fan 1996).

    Args:
        values: None where one is missing.
    """
    there, missing = known(values)
    if not len(there):
        return Quartiles(low=None, median=None, high=None, n=0, dropped=missing)
    low, median, high = (float(value) for value in np.quantile(there, (0.25, 0.5, 0.75)))
    return Quartiles(low=low, median=median, high=high, n=len(there), dropped=missing)
