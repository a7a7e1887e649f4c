"""Distances between two distributions of answers, and how often a change of an axis changes the answer.

A side is given as counts or shares of the same options, in the same order; it is scaled to sum 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .intervals import Estimate, Kind, Numbers, distance, known, mean_over_tasks

Shares = Sequence[float]


def total_variation(first: Shares, second: Shares) -> float | None:
    """The total variation distance ½Σ|p − q|, 0–1: the share of answers that would have to change.

    None where a side is empty.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    return None if sides is None else float(total_variations(*sides))


def total_variations(first: Numbers, second: Numbers) -> Numbers:
    """The same of many pairs at once, one a row, of shares that sum to 1."""
    found: Numbers = np.abs(first - second).sum(axis=-1) / 2
    return found


def jensen_shannon(first: Shares, second: Shares) -> float | None:
    """The Jensen–Shannon distance to base 2, 0–1: the root of the divergence from the middle of both sides.

    None where a side is empty. Source: Lin 1991; `scipy.spatial.distance.jensenshannon`.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    return None if sides is None else float(jensen_shannons(*sides))


def jensen_shannons(first: Numbers, second: Numbers) -> Numbers:
    """The same of many pairs at once, one a row, of shares that sum to 1."""
    with np.errstate(invalid="ignore"):  # rounding can make the divergence a little less than zero
        found = np.nan_to_num(distance().jensenshannon(first, second, base=2, axis=-1))
    same: Numbers = np.where((first == second).all(axis=-1), 0.0, np.minimum(1.0, found))
    return same


def wasserstein(
    first: Shares, second: Shares, *, ordered: bool = True, places: Sequence[float] | None = None
) -> float | None:
    """The Wasserstein distance over ordered options: how far answers would have to move on average.

    Without places, it is a share of the scale 1…K, 0–1, and 0 for a single option; with places, it is in their unit.
    None where the options have no order or a side is empty. Source: Vaserstein 1969; as scipy.

    Args:
        first: one side.
        second: the other.
        ordered: whether the options have an order.
        places: the options' values, ascending.

    Raises:
        ValueError: the sides have different options, or a share is negative.
    """
    sides = _sides(first, second)
    if sides is None or not ordered:
        return None
    at = np.linspace(0.0, 1.0, len(first)) if places is None else known(places).values
    return float(wassersteins(*sides, at))


def wassersteins(first: Numbers, second: Numbers, places: Numbers) -> Numbers:
    """The same of many pairs at once, one a row, of shares that sum to 1, over ascending places."""
    found: Numbers = np.abs(np.cumsum(first - second, axis=-1)[..., :-1]) @ np.diff(places)
    return found


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
        excess: rate minus floor, the mean over tasks with its interval; no value where no task has both.
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

    Args:
        conversations: with levels of both axes.
        axis: which one is examined.
        floor: the axis that stands for chance.
        unit: the axis whose levels are independent. Conversations without it are one unit.

    Raises:
        ValueError: a conversation has no level of one of the two axes.
    """
    differences: list[float | None] = []
    for group in units_of(conversations, unit):
        rate, by_chance = flip_rate(group, axis).value, flip_rate(group, floor).value
        differences.append(None if rate is None or by_chance is None else rate - by_chance)
    excess = mean_over_tasks(differences, Kind(low=-1, high=1))
    return FlipExcess(rate=flip_rate(conversations, axis), floor=flip_rate(conversations, floor), excess=excess)


def units_of(conversations: Sequence[Answered], unit: str) -> list[list[Answered]]:
    """The conversations by the level of an axis; those without it together."""
    units: dict[Hashable, list[Answered]] = defaultdict(list)
    for one in conversations:
        units[one.levels.get(unit)].append(one)
    return list(units.values())
