"""Circles among things that were compared pair by pair: A beats B, B beats C, and C beats A."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


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
