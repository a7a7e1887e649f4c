"""What a chart consists of, in pixels: lines, cells, marks and texts. Other modules lay them out, `drawing.py` draws.

A chart over turns knows where its turns are, so that a page can find the turn of a click and move a line to the turn
that its slider shows without drawing again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

WIDTH: Final = 400
"""The usual width of a chart. Texts are 12 pixels at this width, so a page shows a chart no smaller than its width."""

MOST_POINTS: Final = 160
"""Points of a line, or cells of a row; what has more is thinned to means."""

LETTER: Final = 6.7
"""About the width of a letter in pixels."""

Value = str | float | int | None
Table = Sequence[Sequence[Value]]


@dataclass(frozen=True)
class Dot:
    """A point that is emphasised or has a title.

    Attributes:
        x: its place.
        y: its place.
        title: what it says.
        style: class of the style sheet.
        turn: where a click on it goes; None if it has no turn.
        size: its radius; None for the usual one.
    """

    x: float
    y: float
    title: str
    style: str = ""
    turn: int | None = None
    size: float | None = None


@dataclass(frozen=True)
class Line:
    """A drawn line, with what lies below it if that is tinted, and its label at the end."""

    style: str
    path: str
    area: str = ""
    dots: Sequence[Dot] = ()
    label: str = ""
    label_x: float = 0.0
    label_y: float = 0.0


@dataclass(frozen=True)
class Cell:
    """A rectangle: a bar, a cell of a strip, a sample in a legend.

    Attributes:
        x: its left edge.
        y: its upper edge.
        width: its width.
        height: its height.
        style: classes of the style sheet.
        title: what it says; empty for decoration.
        strength: how opaque it is, 0–1.
        turn: where a click on it goes; None if it has no turn.
        text: written inside.
        below: written below, small.
    """

    x: float
    y: float
    width: float
    height: float
    style: str
    title: str = ""
    strength: float = 1.0
    turn: int | None = None
    text: str = ""
    below: str = ""


@dataclass(frozen=True)
class Text:
    """A text; `anchor` is `start`, `middle` or `end`."""

    x: float
    y: float
    text: str
    style: str = ""
    anchor: str = "start"


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        title: its name.
        description: what it shows, in words.
        width: in pixels.
        height: in pixels.
        left: where the turns begin.
        right: where they end.
        top: where what is drawn over turns begins.
        bottom: where it ends.
        first: the first turn, in the middle of its column.
        last: the last one.
        grid: the heights of horizontal lines.
        texts: ticks, names, legends.
        cells: bars and strips.
        lines: over turns.
        marks: along the top, and on cells.
        rule: the height of a dashed line; None for none.
        note: is shown below.
        table: the data, the head first, to be kept as CSV.
    """

    title: str
    description: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    first: float = 0
    last: float = 1
    grid: Sequence[float] = ()
    texts: Sequence[Text] = ()
    cells: Sequence[Cell] = ()
    lines: Sequence[Line] = ()
    marks: Sequence[Dot] = ()
    rule: float | None = None
    note: str = ""
    table: Table = field(default=())

    @property
    def span(self) -> float:
        """The width of the part over turns."""
        return round(self.right - self.left, 1)


def over_turns(first: float, last: float, left: float, right: float) -> Scale:
    """The scale of turns: each has a column, and lies in its middle."""
    return Scale(first - 0.5, last + 0.5, left, right)


def shortened(text: str, room: float) -> str:
    """As much of a text as fits into `room` pixels, by the usual width of letters; with an ellipsis if it is cut."""
    most = max(1, int(room / LETTER))
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


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
