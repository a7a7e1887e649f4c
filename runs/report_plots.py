"""A plot of the report as data: what the template draws, in pixels of the plot's own coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from persimchat.runs.report_charts import Point, Scale, area, bin_size, binned, path, spread, ticks
from persimchat.runs.report_words import count

WIDTH: Final = 400
"""Width of every plot. A phone shows it about as large as it is, a desktop up to twice as large."""

MOST_POINTS: Final = 160
"""Points of a line; what has more is thinned to means."""

_MOST_DOTS: Final = 160
_LEFT, _TOP, _BOTTOM, _MARKS = 28.0, 10.0, 20.0, 14.0
_LABEL_GAP: Final = 12.0
_APART: Final = 1.3
"""Pixels between lines of equal value, so that none hides another."""


@dataclass(frozen=True)
class Series:
    """What becomes one line.

    Attributes:
        name: in descriptions.
        label: at the line's end, short.
        style: class of the style sheet.
        points: of turn and value, in order of turns.
        strong: places in `points` of those that stand out.
        what: what the strong ones stand for, added to what they say of themselves.
    """

    name: str
    label: str
    style: str
    points: Sequence[Point]
    strong: frozenset[int] = frozenset()
    what: str = ""


@dataclass(frozen=True)
class Dot:
    """A point that stands out or says something of itself."""

    x: float
    y: float
    title: str
    style: str = ""


@dataclass(frozen=True)
class Line:
    """A drawn line."""

    style: str
    path: str
    area: str
    dots: list[Dot]
    label: str
    label_x: float
    label_y: float


@dataclass(frozen=True)
class Bar:
    """A drawn bar."""

    x: float
    y: float
    width: float
    height: float
    style: str
    title: str
    label: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot; see the module."""

    title: str
    description: str
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lines: list[Line] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    marks: list[Dot] = field(default_factory=list)
    rule: float | None = None
    note: str = ""
    width: float = WIDTH


def turn_ticks(first: float, last: float, scale: Scale) -> list[tuple[float, str]]:
    """Ticks of an axis of turns: whole numbers."""
    return [(scale(value), f"{value:,.0f}") for value in ticks(first, last, 7, least_step=1)]


def course_in_words(name: str, values: Sequence[float]) -> str:
    """How a line goes, for those who do not see it."""
    return f"{name}: from {values[0]:g} to {values[-1]:g}, lowest {min(values):g}, highest {max(values):g}."


def thinning_note(size: int) -> str:
    """What a thinned plot says of itself; nothing where all is drawn."""
    return f"Each point is the mean of {count(size, 'utterance')}." if size > 1 else ""


def _dot(series: Series, place: int, at: Point) -> Dot:
    turn, value = series.points[place]
    strong = place in series.strong
    title = f"{series.name}, turn {turn:g}: {value:g}" + (f", {series.what}" if strong else "")
    return Dot(*at, title, "strong" if strong else "")


def level_plot(
    title: str,
    series: Sequence[Series],
    *,
    height: float = 200.0,
    labels: float = 84.0,
    filled: bool = False,
    axis: bool = True,
    y_values: Sequence[float] = (0, 5, 10),
    marks: Sequence[tuple[float, str, str]] = (),
    note: str = "",
) -> Plot:
    """Lines of levels (0–10) over turns.

    Args:
        title: of the plot.
        series: the lines; those without points are not drawn.
        height: of the plot, in pixels; it grows where the labels need more.
        labels: pixels kept free for labels at the lines' ends; 0 for no labels.
        filled: whether the area under the lines is tinted.
        axis: whether the turns are written along the bottom.
        y_values: where the vertical axis has ticks.
        marks: of turn, style and title, drawn along the top.
        note: what is said below; how the plot was thinned comes after it.
    """
    drawn = [one for one in series if one.points]
    top, below = _TOP + _MARKS * bool(marks), _BOTTOM if axis else 6.0
    height = max(height + _MARKS * bool(marks), top + below + _LABEL_GAP * len(drawn) * bool(labels))
    turns = [x for one in drawn for x, _ in one.points] or [0.0]
    right, bottom = WIDTH - max(labels, 8.0), height - below
    x, y = Scale(min(turns), max(turns), _LEFT, right), Scale(0, 10, bottom, top)
    size = bin_size(max((len(one.points) for one in drawn), default=1), MOST_POINTS)
    ends = spread([y(one.points[-1][1]) for one in drawn], _LABEL_GAP, top, bottom)
    lines = []
    for place, (one, end) in enumerate(zip(drawn, ends, strict=True)):
        shift = (place - (len(drawn) - 1) / 2) * min(_APART, 8 / len(drawn))
        points = [(x(turn), round(y(value) + shift, 1)) for turn, value in binned(one.points, size)]
        dots = []
        if size == 1 and len(points) * len(drawn) <= _MOST_DOTS:
            dots = [_dot(one, n, at) for n, at in enumerate(points)]
        lines.append(
            Line(
                style=one.style,
                path=path(points),
                area=area(points, bottom) if filled else "",
                dots=dots,
                label=f"{one.label} {one.points[-1][1]:g}" if labels else "",
                label_x=right + 6,
                label_y=round(end + 3.5, 1),
            )
        )
    return Plot(
        title=title,
        description=" ".join(course_in_words(one.name, [value for _, value in one.points]) for one in drawn),
        height=height,
        left=_LEFT,
        right=right,
        top=top,
        bottom=bottom,
        x_ticks=turn_ticks(min(turns), max(turns), x) if axis else [],
        y_ticks=[(y(value), f"{value:g}") for value in y_values],
        lines=lines,
        marks=[Dot(x(turn), top - _MARKS, said, style) for turn, style, said in marks],
        note=" ".join(part for part in (note, thinning_note(size)) if part),
    )
