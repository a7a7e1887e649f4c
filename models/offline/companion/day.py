"""An agent's day: a skeleton by occupation, with what lifestyle and appointments fix."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.nouns import one_word
from persimchat.models.offline.persona_facts import facts_of
from persimchat.models.offline.prompt import Prompt
from persimchat.state.day import FREE, QUARTER, clock_of, minutes_of
from persimchat.state.habits import SLEEPS, WAKES, day_by_habit

_SHORTEST: Final = 8 * 60
"""Waking hours of the shortest day that is planned by lifestyle; others take the usual hours."""
_LAST: Final = 24 * 60 - QUARTER
_APART: Final = 45
"""The least minutes between two entries."""
_MOST, _LEAST = 8, 5
_FIXED: Final = _MOST - _LEAST
"""The most appointments of a day."""


@dataclass(frozen=True)
class _Point:
    """Something that begins at a minute of the day; `minutes` is 0 unless its length is fixed."""

    start: int
    activity: str
    place: int
    minutes: int = 0


def _words(text: str) -> set[str]:
    return {one_word(word) for word in re.findall(r"[^\W\d_]{3,}", text)} - {"the", "and", "for", "with"}


def place_for(text: str, places: Mapping[int, str], otherwise: int) -> int:
    """The number of the place whose address has most words in common with a text, the first of equals."""
    wanted = _words(text)
    shared = {number: len(wanted & _words(address)) for number, address in places.items()}
    best = max(shared, key=lambda number: (shared[number], -number), default=otherwise)
    return best if shared.get(best) else otherwise


def _work(prompt: Prompt) -> str:
    facts = facts_of(prompt)
    if facts.child or facts.teen or "student" in facts.domains:
        return "is busy at school"
    return "sees to the day's errands" if facts.retired or not facts.as_noun else f"works as {facts.as_noun}"


def _skeleton(prompt: Prompt, known: Known, home: int, wakes: int, sleeps: int) -> list[_Point]:
    """A usual day between wake-up and bedtime, at least `_APART` minutes from one entry to the next."""
    at_work = place_for(prompt.characteristics.get("occupation", ""), known.places, home)
    promises = known.words.get("promises", ())
    later = f"keeps a promise: {promises[0]}"[:200] if promises else "goes for a walk"
    points = [
        _Point(wakes, "gets up and has breakfast", home),
        _Point(wakes + 60, _work(prompt), at_work),
        _Point(12 * 60 + 30, "eats at midday", at_work),
        _Point(13 * 60 + 30, _work(prompt), at_work),
        _Point(17 * 60 + 30, later, home),
        _Point(19 * 60, "has supper and rests", home),
        _Point(sleeps - 90, "tidies up and gets ready for the night", home),
    ]
    return _apart(sorted((one for one in points if wakes <= one.start <= sleeps - _APART), key=lambda one: one.start))


def _apart(points: Sequence[_Point], others: Sequence[_Point] = ()) -> list[_Point]:
    """The points, in order, that are not too near to those before them and to others."""
    kept: list[_Point] = []
    for point in points:
        if all(abs(point.start - one.start) >= _APART for one in (*kept, *others)):
            kept.append(point)
    return kept


def day_plan(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`DayPlan`: five to eight entries in order, inside waking hours; appointments at their times."""
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    lifestyle, appointments = str(known.words.get("lifestyle", "")), list(known.words.get("appointments", ()))
    habit = day_by_habit(lifestyle, appointments, "")
    wakes, sleeps = minutes_of(habit.wakes), minutes_of(habit.sleeps)
    ends = sleeps if sleeps > wakes else _LAST
    if ends - wakes < _SHORTEST:
        wakes, ends, sleeps = WAKES, SLEEPS, SLEEPS
    told = place_for(prompt.description, known.places, min(known.places, default=1))
    home = place_for(prompt.characteristics.get("residence", ""), known.places, told)
    skeleton = _skeleton(prompt, known, home, wakes, ends)
    given = [
        _Point(
            minutes_of(one["start"]), one["activity"], place_for(one["activity"], known.places, home), one["minutes"]
        )
        for one in habit.entries
        if one["activity"] != FREE
    ]
    meetings = _apart([one for one in given if wakes + _APART <= one.start <= ends - _APART])[:_FIXED]
    free = _apart(skeleton, meetings)[: _MOST - len(meetings)]
    points = _filled_up(sorted([*free, *meetings], key=lambda one: one.start), home, ends)
    entries = []
    for place, point in enumerate(points):
        gap = (points[place + 1].start if place + 1 < len(points) else ends) - point.start
        minutes = min(gap, point.minutes) if point.minutes else gap
        entries.append(
            {"start": clock_of(point.start), "minutes": minutes, "activity": point.activity, "place": point.place}
        )
    return {"wakes": clock_of(wakes), "sleeps": clock_of(sleeps), "entries": entries}


def _filled_up(points: list[_Point], home: int, ends: int) -> list[_Point]:
    """The points with as many more as the shortest plan needs: the longest entry is divided."""
    while len(points) < _LEAST:
        until = [*(point.start for point in points[1:]), ends]
        widest = max(range(len(points)), key=lambda place: until[place] - points[place].start)
        middle = (points[widest].start + until[widest]) // (2 * QUARTER) * QUARTER
        points = [*points[: widest + 1], _Point(middle, FREE, home), *points[widest + 1 :]]
    return points


def chunks(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Chunks`: an entry in up to four equal parts of quarters of an hour, which add up to it."""
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    activity = str(known.words.get("activity", "")).strip() or FREE
    quarters = max(1, round(int(known.words.get("minutes", QUARTER)) / QUARTER))
    count = min(4, quarters)
    sizes = [quarters // count + (place < quarters % count) for place in range(count)]
    return {"chunks": [{"minutes": QUARTER * size, "activity": activity[:300]} for size in sizes]}
