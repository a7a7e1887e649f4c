"""Agreement: how far raters who judge the same thing say the same, beyond what chance would bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from persimchat.evaluation.statistics.intervals import RESAMPLES, Estimate, bootstrap
from persimchat.evaluation.statistics.values import Numbers, known

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
