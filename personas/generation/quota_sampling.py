"""From quotas to single personas, exactly: no count differs from its share by one or more.

Every division of the group (see `quotas.py`) is dealt out independently, in its own order that the seed gives. So two
characteristics depend on each other only if cells say so.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

from persimchat.personas.generation.quotas import Cell, Quotas


def counts(shares: Sequence[Fraction], number: int, rng: random.Random) -> list[int]:
    """How many of `number` personas belong to each share, by the method of the largest remainder.

    Args:
        shares: parts that sum to one.
        number: how many personas there are.
        rng: decides between equal remainders.

    Returns:
        Whole numbers that sum to `number`, each less than 1 away from share × number.
    """
    exact = [share * number for share in shares]
    whole = [math.floor(value) for value in exact]
    lots = rng.sample(range(len(exact)), len(exact))
    by_remainder = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], lots[i]))
    for index in by_remainder[: number - sum(whole)]:
        whole[index] += 1
    return whole


def persons(quotas: Quotas | None, number: int, seed: int) -> list[dict[str, str]]:
    """The fixed characteristics of `number` personas.

    Args:
        quotas: the group's shares; None if nothing is fixed.
        number: how many personas.
        seed: decides which persona gets what, and which age of a band.

    Returns:
        Characteristic → value for each persona; empty if nothing is fixed.
    """
    made: list[dict[str, str]] = [{} for _ in range(number)]
    for name, cells in (quotas.divisions if quotas else {}).items():
        rng = random.Random(f"quotas:{seed}:{name}")
        dealt = _dealt(cells, counts([cell.share for cell in cells], number, rng), rng)
        rng.shuffle(dealt)
        for person, fixed in zip(made, dealt, strict=True):
            person |= fixed
    return made


def _dealt(cells: Sequence[Cell], numbers: Sequence[int], rng: random.Random) -> list[dict[str, str]]:
    """The characteristics of each persona in a division, cell by cell."""
    dealt: list[dict[str, str]] = []
    for cell, number in zip(cells, numbers, strict=True):
        ages = cell.ages.drawn(number, rng) if cell.ages else []
        for n in range(number):
            dealt.append(({"age": str(ages[n])} if ages else {}) | dict(cell.fixed))
    return dealt
