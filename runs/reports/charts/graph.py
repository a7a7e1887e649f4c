"""A graph of who is close to whom: everybody on a circle, an arrow for each closeness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from persimchat.runs.reports.charts.model import WIDTH, Chart, Dot, Line, Text, shortened
from persimchat.runs.reports.charts.scales import path
from persimchat.runs.reports.report_people import Person

Edge = tuple[str, str, int]
"""Who is close, to whom, and how much, 0–100."""

_SMALLEST, _LARGEST = 8.0, 18.0
"""Radii of circles, from no weight to the greatest."""

_BEND = 0.16
"""How far an arrow bends, as a share of its length, so that two in opposite directions stay apart."""

_ARROW = 7.0


def graph(
    title: str,
    people: Mapping[str, Person],
    edges: Sequence[Edge],
    weights: Mapping[str, float],
    description: str,
    *,
    width: float = WIDTH,
) -> Chart:
    """A graph.

    Args:
        title: of the chart.
        people: everybody, by name.
        edges: the arrows.
        weights: the greater, the larger is somebody's circle; 0 where they have none.
        description: the graph in words.
        width: of the chart.
    """
    height = width * 0.8
    centre_x, centre_y, across, down = width / 2, height / 2, width * 0.32, height * 0.36
    most = max(weights.values(), default=0) or 1
    places: dict[str, tuple[float, float]] = {}
    radii: dict[str, float] = {}
    for number, name in enumerate(people):
        angle = 2 * math.pi * number / max(len(people), 1) - math.pi / 2
        places[name] = (centre_x + across * math.cos(angle), centre_y + down * math.sin(angle))
        radii[name] = _SMALLEST + (_LARGEST - _SMALLEST) * weights.get(name, 0) / most
    lines = [
        Line(f"{people[a].style} c-link", _arrow(places[a], places[b], radii[b] + 3))
        for a, b, _ in edges
        if a in places and b in places and a != b
    ]
    circles, texts = list[Line](), list[Text]()
    for name, person in people.items():
        (x, y), radius = places[name], radii[name]
        circles.append(Line(person.style, "", dots=[Dot(round(x, 1), round(y, 1), person.name, "strong", size=radius)]))
        texts.append(Text(round(x, 1), round(y + radius + 14, 1), shortened(person.name, width / 3), "name", "middle"))
    return Chart(
        title=title,
        description=description,
        width=width,
        height=height,
        left=0,
        right=width,
        top=0,
        bottom=height,
        texts=texts,
        lines=[*lines, *circles],
        table=[["from", "to", "closeness"], *edges],
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], short: float) -> str:
    """The path of an arrow that bends, and ends `short` pixels before its end."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    bend_x, bend_y = (start[0] + end[0]) / 2 - dy * _BEND, (start[1] + end[1]) / 2 + dx * _BEND
    length = math.hypot(end[0] - bend_x, end[1] - bend_y) or 1.0
    along_x, along_y = (end[0] - bend_x) / length, (end[1] - bend_y) / length
    tip_x, tip_y = end[0] - along_x * short, end[1] - along_y * short
    back_x, back_y = tip_x - along_x * _ARROW, tip_y - along_y * _ARROW
    side_x, side_y = -along_y * _ARROW / 2, along_x * _ARROW / 2
    ends = [(back_x + side_x, back_y + side_y), (tip_x, tip_y), (back_x - side_x, back_y - side_y)]
    return (
        f"M{start[0]:.1f} {start[1]:.1f}Q{bend_x:.1f} {bend_y:.1f} {tip_x:.1f} {tip_y:.1f}"
        f"{path([(round(x, 1), round(y, 1)) for x, y in ends])}"
    )
