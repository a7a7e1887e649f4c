"""Charts of lines over turns: small multiples, a lane for each name; and several lines with direct labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...state.wording import t
from ..words import plain_number
from .model import (
    MOST_POINTS,
    WIDTH,
    Chart,
    Dot,
    Line,
    Point,
    Scale,
    Table,
    Text,
    area,
    bin_size,
    binned,
    over_turns,
    path,
    shortened,
    spread,
    ticks,
)

MARKS: Final = 16.0
"""The height of the row of marks along the top."""

HEAD: Final = 18.0
"""The height of a lane's name."""

AXIS: Final = 20.0
"""The height of the turns below a chart."""

LEFT: Final = 20.0
_MOST_DOTS: Final = 160
_LABEL_GAP: Final = 13.0
_APART: Final = 1.3
"""Pixels between lines of equal value, so that none hides another."""

Mark = tuple[int, str, str]
"""Turn, style and title of a mark."""


@dataclass(frozen=True)
class Series:
    """The data of one line.

    Attributes:
        name: in descriptions.
        label: at the line's end, short; empty for the last value alone.
        style: class of the style sheet.
        points: of turn and value, in order of turns.
        strong: indices in `points` of those that are emphasised.
        what: the meaning of the emphasised ones, added to their titles.
    """

    name: str
    label: str
    style: str
    points: Sequence[Point]
    strong: frozenset[int] = frozenset()
    what: str = ""


@dataclass(frozen=True)
class Lane:
    """One of the small multiples.

    Attributes:
        name: stands above it.
        style: class of the style sheet that has the colour of the name.
        series: one, or several to be compared: all but the first are dashed.
    """

    name: str
    style: str
    series: Sequence[Series]


def turn_texts(first: float, last: float, scale: Scale, y: float, most: int = 7) -> list[Text]:
    """Ticks of an axis of turns: whole numbers."""
    return [Text(scale(value), y, f"{value:,.0f}", "", "middle") for value in ticks(first, last, most, least_step=1)]


def in_words(name: str, values: Sequence[float]) -> str:
    """A line in words, for those who do not see it."""
    return t(
        "charts.course",
        name=name,
        first=plain_number(values[0]),
        last=plain_number(values[-1]),
        low=plain_number(min(values)),
        high=plain_number(max(values)),
    )


def described(series: Iterable[Series]) -> str:
    """Lines in words."""
    return " ".join(in_words(one.name, [value for _, value in one.points]) for one in series if one.points)


def notes(size: int, note: str = "") -> str:
    """A note, followed by that on thinning if a point stands for several turns."""
    return " ".join(part for part in (note, t("charts.thinned", n=size) if size > 1 else "") if part)


def data_of(series: Sequence[Series], axis: str) -> Table:
    """The data of lines as a table: a row for each turn, a column for each line."""
    values = [dict(one.points) for one in series]
    turns = sorted({turn for column in values for turn in column})
    return [[axis, *(one.name for one in series)], *([turn, *(at.get(turn) for at in values)] for turn in turns)]


def marked(marks: Iterable[Mark], x: Scale, y: float) -> list[Dot]:
    """Marks in a row along the top."""
    return [Dot(x(turn), y, said, style, turn) for turn, style, said in marks]


def _dots(one: Series, points: Sequence[Point], axis: str) -> list[Dot]:
    """The points of a line that is not thinned."""
    found = []
    for place, ((turn, value), (x, y)) in enumerate(zip(one.points, points, strict=True)):
        said = t("charts.point", name=one.name, axis=axis, x=plain_number(turn), value=plain_number(value))
        strong = place in one.strong
        title = t("charts.emphasised", point=said, what=one.what) if strong else said
        found.append(Dot(x, y, title, "strong" if strong else "", int(turn)))
    return found


def lanes(
    title: str,
    rows: Sequence[Lane],
    *,
    last: float | None = None,
    width: float = WIDTH,
    height: float = 40.0,
    highest: float = 10,
    marks: Sequence[Mark] = (),
    note: str = "",
) -> Chart:
    """Small multiples of levels over turns: a lane for each row, with one common axis of turns.

    Args:
        title: of the chart.
        rows: the lanes; those without any point are left out.
        last: the last turn of the axis, which begins at 0; None for the greatest one that has a value.
        width: of the chart.
        height: of a lane without its name.
        highest: the level at a lane's top; 0 is at its bottom.
        marks: in a row along the top.
        note: is shown below.
    """
    drawn = [row for row in rows if any(one.points for one in row.series)]
    series = [one for row in drawn for one in row.series if one.points]
    end = max((x for one in series for x, _ in one.points), default=1) if last is None else last
    left, right, top = LEFT, width - 26, MARKS * bool(marks)
    x = over_turns(0, max(end, 1), left, right)
    size = bin_size(max((len(one.points) for one in series), default=1), MOST_POINTS)
    dotted = size == 1 and sum(len(one.points) for one in series) <= _MOST_DOTS * 2
    lines, texts, grid, ticked = list[Line](), list[Text](), list[float](), list[Dot]()
    for place, row in enumerate(drawn):
        start = top + place * (HEAD + height + 6)
        y = Scale(0, highest, start + HEAD + height, start + HEAD)
        texts.append(Text(left, start + 12, shortened(row.name, right - left), f"name {row.style}"))
        texts += [Text(left - 5, y(value) + 4, plain_number(value), "tiny", "end") for value in (0, highest)]
        grid += [y(0), y(highest)]
        known = [one for one in row.series if one.points]
        ends = spread([y(one.points[-1][1]) for one in known], _LABEL_GAP, start + HEAD, start + HEAD + height)
        for number, (one, beside) in enumerate(zip(known, ends, strict=True)):
            points = [(x(turn), y(value)) for turn, value in binned(one.points, size)]
            lines.append(
                Line(
                    style=f"{one.style} solid" if one is row.series[0] else f"{one.style} dashed",
                    path=path(points),
                    area=area(points, y(0)) if not number else "",
                    dots=_dots(one, points, t("charts.turn")) if dotted else (),
                    label=f"{one.label} {plain_number(one.points[-1][1])}".strip(),
                    label_x=right + 5,
                    label_y=round(beside + 4, 1),
                )
            )
            if not dotted:
                ticked += [Dot(x(one.points[n][0]), start + HEAD, one.what, "tick") for n in sorted(one.strong)]
    bottom = top + len(drawn) * (HEAD + height + 6)
    return Chart(
        title=title,
        description=described(series),
        width=width,
        height=bottom + AXIS,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        last=max(end, 1),
        grid=grid,
        texts=[*texts, *turn_texts(0, max(end, 1), x, bottom + 13)],
        lines=lines,
        marks=[*marked(marks, x, top - MARKS / 2), *ticked],
        note=notes(size, note),
        table=data_of(series, t("charts.turn")),
    )


def levels(
    title: str,
    series: Sequence[Series],
    *,
    first: float = 0,
    last: float | None = None,
    width: float = WIDTH,
    height: float = 200.0,
    labels: float = 84.0,
    axis: str = "",
    highest: float = 10,
    values: Sequence[float] = (0, 5, 10),
    marks: Sequence[Mark] = (),
    note: str = "",
) -> Chart:
    """Several lines of levels in one chart, each with its label at its end.

    Args:
        title: of the chart.
        series: the lines; those without points are not drawn.
        first: where the axis begins.
        last: where it ends; None for the greatest turn that has a value.
        width: of the chart.
        height: of the chart, in pixels; it grows where the labels need more.
        labels: pixels kept free for the labels.
        axis: what is counted along the bottom; empty for turns.
        highest: the level at the top; 0 is at the bottom.
        values: where the vertical axis has ticks.
        marks: in a row along the top.
        note: is shown below.
    """
    drawn = [one for one in series if one.points]
    top = 10.0 + MARKS * bool(marks)
    height = max(height + MARKS * bool(marks), top + AXIS + _LABEL_GAP * len(drawn))
    end = max((x for one in drawn for x, _ in one.points), default=first + 1) if last is None else last
    left, right, bottom = LEFT + 8, width - labels, height - AXIS
    x, y = over_turns(first, max(end, first), left, right), Scale(0, highest, bottom, top)
    size = bin_size(max((len(one.points) for one in drawn), default=1), MOST_POINTS)
    ends = spread([y(one.points[-1][1]) for one in drawn], _LABEL_GAP, top, bottom)
    dotted = size == 1 and sum(len(one.points) for one in drawn) <= _MOST_DOTS
    lines = []
    for place, (one, beside) in enumerate(zip(drawn, ends, strict=True)):
        shift = (place - (len(drawn) - 1) / 2) * min(_APART, 8 / len(drawn))
        points = [(x(turn), round(y(value) + shift, 1)) for turn, value in binned(one.points, size)]
        lines.append(
            Line(
                style=one.style,
                path=path(points),
                dots=_dots(one, points, axis or t("charts.turn")) if dotted else (),
                label=shortened(one.label, labels - 24) + f" {plain_number(one.points[-1][1])}",
                label_x=right + 6,
                label_y=round(beside + 4, 1),
            )
        )
    return Chart(
        title=title,
        description=described(drawn),
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        first=first,
        last=max(end, first),
        grid=[y(value) for value in values],
        texts=[
            *(Text(left - 6, y(value) + 4, plain_number(value), "", "end") for value in values),
            *turn_texts(first, max(end, first), x, bottom + 15),
        ],
        lines=lines,
        marks=marked(marks, x, top - MARKS / 2 - 4),
        note=notes(size, note),
        table=data_of(drawn, axis or t("charts.turn")),
    )
