"""Distances between two distributions of answers, and the distance that the size of a sample brings by itself.

A side is given as counts or shares of the same options, in the same order; it is scaled to sum 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from persimchat.evaluation.statistics.library import distance, stats
from persimchat.evaluation.statistics.values import Numbers, known

DRAWS: Final = 2_000
"""How many samples a floor draws."""

Shares = Sequence[float]
Distance = Callable[[Shares, Shares], float | None]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The distances that samples of one size have from the distribution they are drawn from.

    Attributes:
        mean: of the distances.
        high: their 95 % point. A distance below it cannot be told from chance at this size.
        n: the size of the samples.
        draws: how many samples were drawn.
        seed: of the draws.
    """

    mean: float
    high: float
    n: int
    draws: int
    seed: int

    def hides(self, found: float) -> bool:
        """Whether a distance is not distinguishable from chance at this size."""
        return found < self.high


def total_variation(first: Shares, second: Shares) -> float | None:
    """The total variation distance ½Σ|p − q|, 0–1: the share of answers that would have to change.

    None where a side is empty.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    return None if sides is None else float(np.abs(sides[0] - sides[1]).sum() / 2)


def jensen_shannon(first: Shares, second: Shares) -> float | None:
    """The Jensen–Shannon distance to base 2, 0–1: the root of the divergence from the middle of both sides.

    None where a side is empty. Source: Lin 1991; `scipy.spatial.distance.jensenshannon`.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    if sides is None:
        return None
    if np.array_equal(*sides):
        return 0.0  # rounding can make the divergence a little less than zero
    found = float(distance().jensenshannon(*sides, base=2))
    return 0.0 if np.isnan(found) else min(1.0, found)


def wasserstein(first: Shares, second: Shares, *, ordered: bool = True) -> float | None:
    """The Wasserstein distance over ordered options 1…K, divided by K − 1, 0–1.

    It is how far answers would have to move on average, as a share of the scale. 0 for a single option; None where the
    options have no order or a side is empty. Source: Vaserstein 1969; `scipy.stats.wasserstein_distance`.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    if sides is None or not ordered:
        return None
    if len(first) == 1:
        return 0.0
    places = np.arange(1, len(first) + 1)
    return float(stats().wasserstein_distance(places, places, *sides)) / (len(first) - 1)


def floor(measure: Distance, human: Shares, n: int, *, seed: int = 0, draws: int = DRAWS) -> Floor | None:
    """The distance that samples of `n` answers have from people's shares although nothing differs.

    `draws` samples are drawn from people's shares. No simulation can be expected to come nearer.

    Args:
        measure: `total_variation`, `jensen_shannon` or `wasserstein`.
        human: counts or shares of people.
        n: how many simulated answers there are.
        seed: of the draws.
        draws: how many samples.

    Returns:
        None where there are no answers, people's side is empty, or the measure does not apply.

    Raises:
        ValueError: a share is negative.
    """
    sides = _sides(human, human)
    if sides is None or n < 1:
        return None
    samples = np.random.default_rng(seed).multinomial(n, sides[0], size=draws)
    found = [measure(sample, human) for sample in samples]
    there = known(found).values
    if len(there) < len(found):
        return None
    return Floor(mean=float(there.mean()), high=float(np.quantile(there, 0.95)), n=n, draws=draws, seed=seed)


def _sides(first: Shares, second: Shares) -> tuple[Numbers, Numbers] | None:
    """Both sides scaled to sum 1; None where one is empty."""
    if len(first) != len(second):
        raise ValueError("the two sides have different options")
    a, b = known(first).values, known(second).values
    if (a < 0).any() or (b < 0).any():
        raise ValueError("a share is negative")
    if a.sum() == 0 or b.sum() == 0:
        return None
    return a / a.sum(), b / b.sum()
