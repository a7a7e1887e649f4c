"""Distances between two distributions of answers, and the distance that the size of a sample brings by itself.

A side is given as counts or shares of the same options, in the same order; it is scaled to sum 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from .intervals import Estimate, Numbers, distance, known, mean_over_tasks, stats

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


# Robustness of answers: how often a change that should not matter changes the answer


@dataclass(frozen=True)
class Answered:
    """The answer of one conversation.

    Attributes:
        levels: the level of every axis on which conversations differ, task and seed among them.
        answer: None where there is no answer, which counts as an answer of its own.
    """

    levels: Mapping[str, Hashable]
    answer: str | None


@dataclass(frozen=True, kw_only=True)
class FlipRate:
    """How often an axis changes the answer.

    Attributes:
        axis: which axis.
        value: the share of pairs whose answers differ, 0–1; None where there are no pairs.
        flipped: pairs whose answers differ.
        pairs: pairs of conversations that are equal in all but the axis.
    """

    axis: str
    value: float | None
    flipped: int
    pairs: int


@dataclass(frozen=True, kw_only=True)
class FlipExcess:
    """How much oftener an axis changes the answer than chance does.

    Attributes:
        rate: of the axis.
        floor: of the axis that stands for chance.
        excess: rate minus floor, the mean over tasks with its interval, or over seeds where there is one task; no value
            where no task has both.
    """

    rate: FlipRate
    floor: FlipRate
    excess: Estimate


def flip_rate(conversations: Sequence[Answered], axis: str) -> FlipRate:
    """The share of pairs of conversations equal in all but one axis whose answers differ.

    An axis of one level has no pairs, and no rate.

    Raises:
        ValueError: a conversation has no level of the axis.
    """
    if any(axis not in one.levels for one in conversations):
        raise ValueError(f"a conversation has no level of {axis!r}")
    return _rate(_pairs(conversations, axis), axis)


def _pairs(conversations: Sequence[Answered], axis: str) -> list[tuple[Answered, Answered]]:
    """The pairs of conversations that are equal in all but one axis."""
    alike: dict[Hashable, list[Answered]] = defaultdict(list)
    for one in conversations:
        alike[frozenset(item for item in one.levels.items() if item[0] != axis)].append(one)
    every = (pair for group in alike.values() for pair in combinations(group, 2))
    return [(a, b) for a, b in every if a.levels[axis] != b.levels[axis]]


def _rate(pairs: Sequence[tuple[Answered, Answered]], axis: str) -> FlipRate:
    flipped = sum(a.answer != b.answer for a, b in pairs)
    return FlipRate(axis=axis, value=flipped / len(pairs) if pairs else None, flipped=flipped, pairs=len(pairs))


def flip_excess(conversations: Sequence[Answered], axis: str, *, floor: str = "seed", unit: str = "task") -> FlipExcess:
    """An axis's flip rate minus that of the seeds, −1 to 1, with the interval of `mean_over_tasks`.

    Two conversations that differ in the seed alone give different answers, too. Only what passes that is the axis's.
    Where there is one task, the seeds are the units: each has its own pairs on the axis, and the pairs of seeds to
    which it belongs. Such an interval is rough, because two seeds share a pair.

    Args:
        conversations: with levels of both axes.
        axis: which one is examined.
        floor: the axis that stands for chance.
        unit: the axis whose levels are independent. Conversations without it are one unit.

    Raises:
        ValueError: a conversation has no level of one of the two axes.
    """
    units: dict[Hashable, list[Answered]] = defaultdict(list)
    for one in conversations:
        units[one.levels.get(unit)].append(one)
    differences: list[float | None] = []
    for group in units.values():
        rate, by_chance = flip_rate(group, axis).value, flip_rate(group, floor).value
        differences.append(None if rate is None or by_chance is None else rate - by_chance)
    excess = mean_over_tasks(differences) if len(units) > 1 else _over_seeds(conversations, axis, floor)
    return FlipExcess(rate=flip_rate(conversations, axis), floor=flip_rate(conversations, floor), excess=excess)


def _over_seeds(conversations: Sequence[Answered], axis: str, floor: str) -> Estimate:
    """The excess with the seeds as units."""
    by_chance = _pairs(conversations, floor)
    differences: list[float | None] = []
    for seed in dict.fromkeys(one.levels[floor] for one in conversations):
        rate = flip_rate([one for one in conversations if one.levels[floor] == seed], axis).value
        own = _rate([pair for pair in by_chance if any(one.levels[floor] == seed for one in pair)], floor).value
        differences.append(None if rate is None or own is None else rate - own)
    return replace(mean_over_tasks(differences), method="t over seeds")
