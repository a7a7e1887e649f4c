"""Robustness of answers: how often a change that should not matter changes the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from persimchat.evaluation.statistics.intervals import Estimate, mean_over_tasks


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
