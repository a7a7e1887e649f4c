"""Intervals: between which bounds a value may well lie, at 95 % confidence.

Over many repetitions of the same study, 95 of 100 such intervals hold the true value. A wide one says that there were
few units, or that they differ much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...state.errors import MissingExtraError

LEVEL: Final = 0.95
"""The confidence of all intervals."""
FEWEST: Final = 6
"""The fewest units of which the jackknife makes an interval."""
EXACT: Final = "Clopper–Pearson"
NO_SPREAD: Final = "nothing varies, so there is no interval"
_GREATEST: Final = 1e100
"""Greater numbers are refused: their squares cannot be added."""

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


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What values a measure can have, known before any is measured. It decides how an interval is made.

    Attributes:
        low: the least value; None where there is none.
        high: the greatest; None where there is none.
        share: whether a value is 0, 1, or a share of such answers; its bounds are then 0 and 1.
    """

    low: float | None = None
    high: float | None = None
    share: bool = False

    @property
    def of_differences(self) -> Kind:
        """What differences of two such values can be."""
        width = None if self.low is None or self.high is None else self.high - self.low
        return Kind(low=None if width is None else -width, high=width)


NUMBER: Final = Kind()
COUNT: Final = Kind(low=0)
UNIT: Final = Kind(low=0, high=1)
SHARE: Final = Kind(low=0, high=1, share=True)
PERCENT: Final = Kind(low=0, high=100)
COSINE: Final = Kind(low=-1, high=1)


def proportion(successes: float, n: int) -> Estimate:
    """A share of `n` independent trials, 0–1, with Clopper and Pearson's interval.

    It covers the true share in at least 95 of 100 studies for every n, and has a width for 0 of n and n of n, too. A
    trial may count in part, as a tie does: such trials vary less than those of 0 and 1, so the interval is too wide
    rather than too narrow. None of nothing. Source: Clopper and Pearson 1934; `scipy.stats.beta`.

    Raises:
        ValueError: there are more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return Estimate(value=None, method=EXACT, n=0, note="there are no trials")
    beta, tail = stats().beta, (1 - LEVEL) / 2
    low = float(beta.ppf(tail, successes, n - successes + 1)) if successes > 0 else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, n - successes)) if successes < n else 1.0
    return Estimate(value=successes / n, low=low, high=high, method=EXACT, n=n)


def mean_over_tasks(values: Sequence[float | None], kind: Kind = NUMBER) -> Estimate:
    """The mean m of one value a unit with its interval: Student's, m ± t(0.975, n−1)·s/√n; of shares `proportion`'s.

    Student's interval ends where the measure does. One unit has none, nor have values that do not vary, for they do not
    say how far others would lie. Source: Student 1908; `scipy.stats.t`.

    Args:
        values: one a unit, of a comparison each difference; None where it is missing.
        kind: what values the measure can have.
    """
    there, missing = known(values)
    n = len(there)
    if n == 0:
        return Estimate(value=None, method="t", n=0, dropped=missing, note="there are no values")
    if kind.share:
        found = proportion(min(float(n), float(there.sum())), n)
        return replace(found, dropped=missing, sd=float(there.std(ddof=1)) if n > 1 else None)
    mean = float(there.mean())
    if n == 1:
        return Estimate(value=mean, method="t", n=1, dropped=missing, note="one unit has no interval")
    if not np.ptp(ranked_alike(there)):
        return Estimate(value=mean, method="t", n=n, dropped=missing, sd=0.0, note=NO_SPREAD)
    sd = float(there.std(ddof=1))
    half = float(stats().t.ppf((1 + LEVEL) / 2, n - 1)) * sd / math.sqrt(n)
    low, high = _within(mean - half, mean + half, kind)
    return Estimate(value=mean, low=low, high=high, method="t", n=n, dropped=missing, sd=sd)


def _within(low: float, high: float, kind: Kind) -> tuple[float, float]:
    """An interval, cut where the measure ends: the true value cannot lie beyond."""
    return (low if kind.low is None else max(low, kind.low)), (high if kind.high is None else min(high, kind.high))


def win_rate(wins: int, ties: int, losses: int) -> Estimate:
    """Wins and half of the ties as a share of all pairs, 0–1, with the interval of `proportion`.

    Raises:
        ValueError: a count is negative.
    """
    if min(wins, ties, losses) < 0:
        raise ValueError("a count is negative")
    return proportion(wins + ties / 2, wins + ties + losses)


def unpaired_difference(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """The mean of one group minus that of another with Welch's interval, for groups that share no tasks.

    The groups may differ in size and spread. A group of fewer than two units, or in which nothing varies, has no
    interval. Source: Welch 1947; `scipy.stats.ttest_ind`.

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
    if not np.ptp(ranked_alike(a)) or not np.ptp(ranked_alike(b)):
        return Estimate(value=difference, note=NO_SPREAD, **told)
    interval = stats().ttest_ind(a, b, equal_var=False).confidence_interval(confidence_level=LEVEL)
    return Estimate(value=difference, low=float(interval.low), high=float(interval.high), **told)


def jackknife(
    units: Sequence[T], statistic: Callable[[Sequence[T]], float | None], kind: Kind = NUMBER, *, fewest: int = FEWEST
) -> Estimate:
    """Any smooth statistic of whole units with the jackknife's interval, value ± t(0.975, n−1)·s.

    s² = (n − 1)/n · Σ(θᵢ − θ̄)², with θᵢ the statistic without unit i. Of a mean it is Student's interval. It is not for
    medians and other statistics that jump. Source: Tukey 1958, Efron and Stein 1981.

    Args:
        units: tasks, raters or runs, each with everything in it.
        statistic: of a list of units; None where it is undefined.
        kind: what values the statistic can have.
        fewest: fewer units have no interval.
    """
    told: dict[str, Any] = {"value": statistic(units) if units else None, "method": "jackknife", "n": len(units)}
    if told["value"] is None:
        return Estimate(note="the statistic is undefined", **told)
    if len(units) < fewest:
        return Estimate(note=f"fewer than {fewest} units have no interval", **told)
    left = [statistic([*units[:place], *units[place + 1 :]]) for place in range(len(units))]
    there, missing = known(left)
    if missing:
        return Estimate(note="the statistic is undefined without some of the units", **told)
    if not np.ptp(ranked_alike(there)):
        return Estimate(note=NO_SPREAD, **told)
    spread = math.sqrt((len(there) - 1) * float(there.var()))
    half = float(stats().t.ppf((1 + LEVEL) / 2, len(there) - 1)) * spread
    low, high = _within(told["value"] - half, told["value"] + half, kind)
    return Estimate(low=low, high=high, **told)


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
DECIMALS: Final = 10
"""Values are ranked to so many decimals of the greatest, so that the arithmetic of averages makes and breaks no tie."""


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
        ValueError: a value is infinite, not a number, or too great to compute with.
    """
    values = np.array([value for value in given if value is not None], dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a value is infinite or not a number; a missing value is None")
    if (np.abs(values) > _GREATEST).any():
        raise ValueError(f"a value is beyond {_GREATEST:g}; give it in a greater unit")
    return Known(values, len(given) - len(values))


def ranked_alike(values: Numbers) -> Numbers:
    """Values as shares of the greatest, to `DECIMALS` decimals: what is equal but for rounding has the same rank."""
    greatest = float(np.abs(values).max(initial=0.0)) or 1.0
    rounded: Numbers = np.round(values / greatest, DECIMALS) + 0.0  # -0.0 becomes 0.0
    return rounded


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
