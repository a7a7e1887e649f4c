"""Robustness of answers: how often a change that should not matter changes the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
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
    alike: dict[Hashable, list[Answered]] = defaultdict(list)
    for one in conversations:
        alike[frozenset(item for item in one.levels.items() if item[0] != axis)].append(one)
    pairs = [
        a.answer != b.answer
        for group in alike.values()
        for a, b in combinations(group, 2)
        if a.levels[axis] != b.levels[axis]
    ]
    return FlipRate(axis=axis, value=sum(pairs) / len(pairs) if pairs else None, flipped=sum(pairs), pairs=len(pairs))


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
    units: dict[Hashable, list[Answered]] = defaultdict(list)
    for one in conversations:
        units[one.levels.get(unit)].append(one)
    differences: list[float | None] = []
    for group in units.values():
        rate, by_chance = flip_rate(group, axis).value, flip_rate(group, floor).value
        differences.append(None if rate is None or by_chance is None else rate - by_chance)
    return FlipExcess(
        rate=flip_rate(conversations, axis),
        floor=flip_rate(conversations, floor),
        excess=mean_over_tasks(differences),
    )
