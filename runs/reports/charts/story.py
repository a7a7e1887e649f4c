"""The figures of a story's charts: who is close to whom, and beliefs, influence and sides over its rounds.

Pure functions of where the characters stand after each update (`story_course.py`); `scales.py` has scales and paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.story_course import CharacterNow, Update
from persimchat.state.standing import HIGHEST


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
