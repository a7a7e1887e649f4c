"""The arithmetic of charts: scales, ticks, thinning, paths, labels that do not overlap. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """Values to pixels, linearly.

    Attributes:
        low: the value at `start`.
        high: the value at `end`; if it equals `low`, every value is in the middle.
        start: pixels.
        end: pixels; may be less than `start`, as on a vertical axis.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value is, in pixels with one decimal."""
        share = (value - self.low) / (self.high - self.low) if self.high != self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def step_for(length: float, most: int) -> float:
    """The smallest step of 1, 2 or 5 times a power of ten that divides `length` into at most `most` parts."""
    if length <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(length / most))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if length / (factor * power) <= most * (1 + 1e-9))


def ticks(low: float, high: float, most: int, *, least_step: float = 0.0) -> list[float]:
    """Round values from `low` to `high` at even steps, at most `most` + 1 of them."""
    step = max(step_for(high - low, most), least_step)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 10) for n in range(first, last + 1)]


def bin_size(number: int, most: int) -> int:
    """How many neighbours are drawn as one, so that `number` points become at most `most`."""
    return max(1, math.ceil(number / most))


def binned(points: Sequence[Point], size: int) -> list[Point]:
    """Points thinned to the means of `size` neighbours each; all of them where `size` is 1."""
    if size == 1:
        return list(points)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups]


def path(points: Sequence[Point]) -> str:
    """The data of an SVG path through points."""
    return "".join(f"{'L' if n else 'M'}{x:g} {y:g}" for n, (x, y) in enumerate(points))


def area(points: Sequence[Point], base: float) -> str:
    """The data of an SVG path around what lies between points and a base line; empty without points."""
    if not points:
        return ""
    return path([(points[0][0], base), *points, (points[-1][0], base)]) + "Z"


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved apart until neighbours are at least `gap` from each other, in the order given.

    They keep their order, and stay between `low` and `high` if there is room for all.
    """
    order = sorted(range(len(places)), key=lambda n: places[n])
    moved = [0.0] * len(places)
    place = -math.inf
    for n in order:
        place = max(places[n], place + gap, low)
        moved[n] = place
    place = math.inf
    for n in reversed(order):
        place = min(moved[n], place - gap, high)
        moved[n] = place
    return [round(place, 1) for place in moved]
