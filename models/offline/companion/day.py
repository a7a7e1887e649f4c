"""An agent's day: a skeleton by occupation and lifestyle, with the appointments whose times stand in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from persimchat.models.offline.companion.known import Known
from persimchat.models.offline.companion.nouns import one_word
from persimchat.models.offline.persona_facts import Facts, facts_of
from persimchat.models.offline.prompt import Prompt
from persimchat.state.day import FREE, QUARTER, clock_of

_HOURS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
)  # fmt: skip
_HOUR: Final = rf"(?:{'|'.join(reversed(_HOURS))})"
_TIME: Final = re.compile(
    rf"\b(?:(?P<h>[01]?\d|2[0-3])[:.](?P<m>[0-5]\d)|(?P<noon>noon|midday)|(?P<midnight>midnight)"
    rf"|(?P<past>half past|quarter past|quarter to)\s+(?P<word>{_HOUR}|1[0-2]|[1-9])"
    rf"|(?P<plain>{_HOUR}|1[0-2]|[1-9])"
    r"(?=\s*(?:o['’]clock|am\b|pm\b|a\.m|p\.m|in the|at night|[,.;]|$|\sand\b|\sfor\b)))"
    r"(?P<half>\s*(?:o['’]clock\s*)?(?:pm\b|p\.m\.?|in the (?:evening|afternoon)|at night))?",
    re.IGNORECASE,
)
_UP: Final = re.compile(
    r"\b(?:up|rises?|rising|wakes?|waking|gets? up)\s+(?:at|around|about|by|before|from)\s+", re.IGNORECASE
)
_BED: Final = re.compile(r"\b(?:bed|sleeps?|asleep|lights out)\s+(?:at|around|about|by|before|from)\s+", re.IGNORECASE)
_DAY: Final = 24 * 60
_WAKES, _SLEEPS = 7 * 60, 22 * 60 + 30
_LEAST_DAY: Final = 8 * 60
_LONGEST_MEETING: Final = 60
_APART: Final = 45
_MOST: Final = 8
_LEAST: Final = 5
_CHUNKS: Final = 4


@dataclass(frozen=True)
class _Point:
    """Something that begins at a minute of the day; `fixed` if its time is given."""

    start: int
    activity: str
    place: int
    fixed: bool = False


def _minutes_of(found: re.Match[str]) -> int:
    """A time in a text as minutes since midnight."""
    if found["noon"]:
        return 12 * 60
    if found["midnight"]:
        return _DAY - QUARTER
    if found["h"]:
        return int(found["h"]) * 60 + int(found["m"])
    text = (found["word"] or found["plain"]).casefold()
    hour = int(text) if text.isdigit() else _HOURS.index(text) + 1
    shift = {"half past": 30, "quarter past": 15, "quarter to": -15}.get((found["past"] or "").casefold(), 0)
    return ((hour % 12 + 12 if found["half"] else hour) * 60 + shift) % _DAY


def _after(cue: re.Pattern[str], text: str) -> int | None:
    """The time right behind a cue in a text."""
    for match in cue.finditer(text):
        found = _TIME.match(text, match.end())
        if found:
            return _minutes_of(found)
    return None


def _rounded(minutes: int) -> int:
    return round(minutes / QUARTER) * QUARTER


def waking(lifestyle: str) -> tuple[int, int]:
    """When somebody gets up and goes to bed, in minutes since midnight, by times in their lifestyle."""
    up, bed = _after(_UP, lifestyle), _after(_BED, lifestyle)
    wakes = _rounded(_WAKES if up is None else up)
    sleeps = _rounded(_SLEEPS if bed is None else bed + _DAY // 2 if bed <= _DAY // 2 else bed)
    if wakes > _DAY - _LEAST_DAY - QUARTER:
        wakes = _WAKES
    return wakes, min(max(sleeps, wakes + _LEAST_DAY), _DAY - QUARTER)


def _words(text: str) -> set[str]:
    return {one_word(word) for word in re.findall(r"[^\W\d_]{3,}", text)} - {"the", "and", "for", "with"}


def place_for(text: str, places: dict[int, str], otherwise: int) -> int:
    """The number of the place whose address has most words in common with a text, the first of equals."""
    wanted = _words(text)
    shared = {number: len(wanted & _words(address)) for number, address in places.items()}
    best = max(shared, key=lambda number: (shared[number], -number), default=otherwise)
    return best if shared.get(best) else otherwise


def _work(facts: Facts, prompt: Prompt) -> str:
    if facts.child or facts.teen or "student" in facts.domains:
        return "is busy at school"
    if facts.retired or not facts.as_noun:
        return "sees to the day's errands"
    return f"works as {facts.as_noun}"


def _meetings(texts: Sequence[str], places: dict[int, str], otherwise: int) -> list[_Point]:
    """What has a time in a text: "12:00 noon boat"."""
    points = []
    for text in texts:
        found = _TIME.search(text)
        if found:
            rest = re.sub(r"\s+(?:at|by|around)?\s*$", "", text[: found.start()]) + text[found.end() :]
            activity = " ".join(rest.split()).strip(" ,.;:-") or "appointment"
            points.append(
                _Point(_rounded(_minutes_of(found)), activity[:200], place_for(activity, places, otherwise), True)
            )
    return points


def _skeleton(prompt: Prompt, known: Known, wakes: int, sleeps: int) -> list[_Point]:
    facts = facts_of(prompt)
    places = dict(known.places)
    first = min(places, default=1)
    home = place_for(prompt.characteristics.get("residence", ""), places, first)
    job = prompt.characteristics.get("occupation", "")
    work_at = place_for(f"{job} {prompt.description}", places, home)
    work = _work(facts, prompt)
    promises = [str(one) for one in known.words.get("promises", ())] or list(known.promises)
    later = f"keeps a promise: {promises[0]}"[:200] if promises else f"has time for {facts.pastime or 'a walk'}"
    points = [
        _Point(wakes, "gets up and has breakfast", home),
        _Point(wakes + 60, work, work_at),
        _Point(12 * 60 + 30, "eats at midday", work_at),
        _Point(13 * 60 + 30, work, work_at),
        _Point(17 * 60 + 30, later, home),
        _Point(19 * 60, "has supper and rests", home),
        _Point(sleeps - 90, "tidies up and gets ready for the night", home),
    ]
    in_day = [point for point in points if wakes <= point.start <= sleeps - _APART]
    ordered = sorted(in_day, key=lambda point: point.start)
    return [p for n, p in enumerate(ordered) if not n or p.start - ordered[n - 1].start >= _APART]


def day_plan(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`DayPlan`: five to eight entries in order, inside waking hours; appointments at their times."""
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    lifestyle = str(known.words.get("lifestyle", ""))
    wakes, sleeps = waking(lifestyle)
    skeleton = _skeleton(prompt, known, wakes, sleeps)
    clauses = [one for one in re.split(r"[,.;]", lifestyle) if not (_UP.search(one) or _BED.search(one))]
    given = [*map(str, known.words.get("appointments", ())), *clauses]
    meetings: list[_Point] = []
    for point in sorted(_meetings(given, dict(known.places), skeleton[0].place), key=lambda one: one.start):
        inside = wakes + _APART <= point.start <= sleeps - _APART
        if inside and all(abs(point.start - other.start) >= _APART for other in meetings):
            meetings.append(point)
    meetings = meetings[: _MOST - _LEAST]
    free = [p for p in skeleton if all(abs(p.start - m.start) >= _APART for m in meetings)]
    points = sorted([*free[: _MOST - len(meetings)], *meetings], key=lambda point: point.start)
    points = _filled_up(points, sleeps)
    entries = []
    for point, following in zip(points, [*points[1:], None], strict=True):
        gap = (sleeps if following is None else following.start) - point.start
        length = min(gap, _LONGEST_MEETING) if point.fixed else gap
        entries.append(
            {"start": clock_of(point.start), "minutes": length, "activity": point.activity, "place": point.place}
        )
    return {"wakes": clock_of(wakes), "sleeps": clock_of(sleeps), "entries": entries}


def _filled_up(points: list[_Point], sleeps: int) -> list[_Point]:
    """The points with as many more as the shortest plan needs: the longest entry is divided."""
    while len(points) < _LEAST:
        ends = [*(point.start for point in points[1:]), sleeps]
        widest = max(range(len(points)), key=lambda place: ends[place] - points[place].start)
        middle = _rounded((points[widest].start + ends[widest]) // 2)
        points = [*points[: widest + 1], _Point(middle, FREE, points[widest].place), *points[widest + 1 :]]
    return points


def chunks(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`Chunks`: an entry in up to four equal parts of quarters of an hour, which add up to it."""
    known = prompt.companion
    assert known is not None  # the task is one of a companion
    activity = str(known.words.get("activity", "")).strip() or FREE
    quarters = max(1, round(int(known.words.get("minutes", 60)) / QUARTER))
    count = min(_CHUNKS, quarters)
    sizes = [quarters // count + (place < quarters % count) for place in range(count)]
    named = [activity] if count == 1 else [f"begins: {activity}", *[activity] * (count - 2), f"ends: {activity}"]
    return {
        "chunks": [{"minutes": QUARTER * size, "activity": name[:300]} for size, name in zip(sizes, named, strict=True)]
    }
