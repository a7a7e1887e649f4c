"""A story's charts: a graph of who is close to whom, and closeness, beliefs, influence and sides over its rounds.

Pure functions of where the characters stand after each update (`story_course.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...state.stories.support import HIGHEST
from ..palette import Person
from ..story_course import CharacterNow, Update
from .model import WIDTH, Chart, Dot, Line, Point, Text, path, shortened


@dataclass(frozen=True)
class Cell:
    """One cell of the heat map of closeness.

    Attributes:
        who: whose closeness it is.
        to: towards whom.
        value: 0–100; None for oneself, and where it is not known.
        change: since the first update; None if one of the two is not known.
    """

    who: str
    to: str
    value: int | None
    change: int | None

    @property
    def share(self) -> float:
        """How strongly it is tinted, 0–1."""
        return (self.value or 0) / HIGHEST


def closeness(updates: Sequence[Update], names: Sequence[str]) -> list[list[Cell]]:
    """The heat map of closeness after the last update: a row for each character, a column towards each.

    Args:
        updates: in order; none make no heat map.
        names: the characters, in order of listing.
    """
    if not updates:
        return []
    first, last = _by_name(updates[0]), _by_name(updates[-1])

    def cell(who: str, to: str) -> Cell:
        then, now = (one[who].closeness.get(to) if who in one else None for one in (first, last))
        return Cell(who, to, now, None if then is None or now is None else now - then)

    return [[cell(who, to) for to in names] for who in names]


def belief_lines(updates: Iterable[Update], name: str) -> dict[str, list[Point]]:
    """A character's beliefs over the rounds: by text, round and strength (0–100)."""
    found: dict[str, list[Point]] = {}
    for update in updates:
        for one in update.characters:
            for belief in one.beliefs if one.name == name else ():
                found.setdefault(belief.text, []).append((update.round, belief.score))
    return found


def influence_courses(updates: Iterable[Update], names: Sequence[str]) -> dict[str, list[Point]]:
    """Round and influence by character, of those who have had any."""
    courses: dict[str, list[Point]] = {name: [] for name in names}
    for update in updates:
        for name, now in _by_name(update).items():
            if name in courses:
                courses[name].append((update.round, now.influence))
    return {name: points for name, points in courses.items() if any(value for _, value in points)}


def supports(updates: Iterable[Update], names: Sequence[str]) -> dict[str, list[str | None]]:
    """By character, whom it supports after each update: empty for nobody, None if it is not known."""
    every = [_by_name(update) for update in updates]
    return {name: [found[name].supports if name in found else None for found in every] for name in names}


def _by_name(update: Update) -> dict[str, CharacterNow]:
    return {one.name: one for one in update.characters}


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
