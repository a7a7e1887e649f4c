"""The day of a companion: a plan that fits together, its parts of 15 minutes, and what the agent does now. Pure.

Park et al. 2023 plan a day in hours and then in parts of 5 to 15 minutes; here all times are quarters of an hour.
Entries of a plan are plain mappings, because a mind holds plain values: `start` (HH:MM), `minutes`, `activity`,
`place` (sector/arena), `chunks` once it has begun (each with `minutes` and `activity`), and `heard_by` if only these
persons may hear of it. They follow one another without gaps from wake-up to bedtime, which may be after midnight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from . import CompanionMind
from .judgement import Chunks, DayPlan

FREE: Final = "free time"
"""What fills the gaps of a plan."""
BUSY: Final = "busy"
"""What others see of an entry that they may not hear of."""
ASLEEP: Final = "sleeping"
QUARTER: Final = 15
_DAY: Final = 24 * 60

Entry = dict[str, Any]
"""An entry of a day plan."""


@dataclass(frozen=True)
class Wanted:
    """Something to be done on a day, before it is fitted in.

    Attributes:
        start: minutes after midnight.
        minutes: how long it takes.
        activity: a few words.
        place: sector/arena.
    """

    start: int
    minutes: int
    activity: str
    place: str


@dataclass(frozen=True)
class Day:
    """A checked day plan.

    Attributes:
        wakes: wake-up, HH:MM.
        sleeps: bedtime, HH:MM; at or before `wakes` if it is after midnight.
        entries: they fill the time from wake-up to bedtime.
    """

    wakes: str
    sleeps: str
    entries: list[Entry]


def minutes_of(clock: str) -> int:
    """Minutes after midnight of a time HH:MM."""
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def clock_of(minutes: int) -> str:
    """The time HH:MM of minutes after midnight; those after the next midnight count from there."""
    return f"{minutes % _DAY // 60:02d}:{minutes % 60:02d}"


def checked(plan: DayPlan, places: Sequence[str], home: str) -> Day:
    """The day plan that a model's answer makes.

    Args:
        plan: the answer; its entries may overlap, be out of order or lie outside the waking hours.
        places: those that were listed, numbered from 1.
        home: the place of entries with any other number, and of free time before the first and after the last entry.
    """
    wanted = (
        Wanted(
            minutes_of(entry.start),
            entry.minutes,
            entry.activity,
            places[entry.place - 1] if 1 <= entry.place <= len(places) else home,
        )
        for entry in plan.entries
    )
    return laid_out(minutes_of(plan.wakes), minutes_of(plan.sleeps), wanted, home)


def laid_out(wakes: int, sleeps: int, wanted: Iterable[Wanted], home: str) -> Day:
    """A day on which everything wanted has its time: in order, without overlaps and gaps, within the waking hours.

    Times are moved to the nearest quarter of an hour. An entry ends at the latest where the next one begins; of several
    that begin at once, the first comes first. What is left without time is not done. A gap is free time, where the
    agent is.

    Args:
        wakes: wake-up, minutes after midnight.
        sleeps: bedtime; at or before `wakes` it is after midnight.
        wanted: in any order.
        home: the place of free time before the first and after the last entry.
    """
    begin = _quarters(wakes) % _DAY
    end = _quarters(sleeps) % _DAY
    end += _DAY if end <= begin else 0
    fixed = sorted(
        ((_in_waking_hours(_quarters(one.start), begin, end), one) for one in wanted), key=lambda pair: pair[0]
    )
    starts = sorted({start for start, _ in fixed})
    entries: list[Entry] = []
    now, there = begin, home
    for start, one in fixed:
        next_start = next((other for other in starts if other > start), end)
        last = min(start + max(QUARTER, _quarters(one.minutes)), next_start, end)
        first = max(start, now)
        if last <= first:
            continue
        if first > now:
            entries.append(_entry(now, first, FREE, there))
        entries.append(_entry(first, last, one.activity, one.place))
        now, there = last, one.place
    if now < end:
        entries.append(_entry(now, end, FREE, home))
    return Day(clock_of(begin), clock_of(end), entries)


def _quarters(minutes: int) -> int:
    """The nearest quarter of an hour; between two, the later one."""
    return (minutes + QUARTER // 2) // QUARTER * QUARTER


def _in_waking_hours(start: int, begin: int, end: int) -> int:
    """A start within the waking hours: before wake-up, it is after midnight if the agent is awake then."""
    if start >= begin:
        return start
    return start + _DAY if start + _DAY < end else begin


def _entry(first: int, last: int, activity: str, place: str) -> Entry:
    return {"start": clock_of(first), "minutes": last - first, "activity": activity, "place": place}


def chunks_of(answer: Chunks | None, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of an entry, which add up to its length.

    Parts that do not add up are scaled; each has at least 15 minutes, so that the last ones go if there are too many.

    Args:
        answer: the model's; None, if it was of no use: then all parts are equal.
        entry: of the day plan.
    """
    quarters = max(1, int(entry["minutes"]) // QUARTER)
    if answer is None:
        return [{"minutes": QUARTER, "activity": entry["activity"]} for _ in range(quarters)]
    kept = answer.chunks[:quarters]
    wanted = sum(chunk.minutes for chunk in kept)
    # Each part has one quarter; what is left is shared out by the lengths that were wanted, by largest remainder.
    left = quarters - len(kept)
    exact = [left * chunk.minutes / wanted for chunk in kept]
    if wanted == quarters * QUARTER:
        shares = [chunk.minutes // QUARTER for chunk in kept]
    else:
        shares = [1 + int(share) for share in exact]
        rest = sorted(range(len(kept)), key=lambda n: (int(exact[n]) - exact[n], n))
        for n in rest[: quarters - sum(shares)]:
            shares[n] += 1
    return [{"minutes": share * QUARTER, "activity": chunk.activity} for share, chunk in zip(shares, kept, strict=True)]


def _minute(companion: CompanionMind, at: str) -> int | None:
    """Minutes from the midnight with which the plan's day began; None without a plan."""
    if not companion.get("day"):
        return None
    moment = datetime.fromisoformat(at)
    days = (moment.date() - date.fromisoformat(companion["day"])).days
    return days * _DAY + moment.hour * 60 + moment.minute


def _bounds(companion: CompanionMind) -> tuple[int, int]:
    """Wake-up and bedtime in minutes from the midnight with which the day began."""
    begin, end = minutes_of(companion["wakes"]), minutes_of(companion["sleeps"])
    return begin, end if end > begin else end + _DAY


def needs_plan(companion: CompanionMind, at: str) -> bool:
    """Whether a new day has begun: there is no plan for it, and the last one is over.

    Args:
        companion: what the mind carries.
        at: ISO time.
    """
    minute = _minute(companion, at)
    if minute is None:
        return True
    return minute < 0 or minute >= max(_DAY, _bounds(companion)[1])


def is_asleep(companion: CompanionMind, at: str) -> bool:
    """Whether the agent sleeps: the plan is of this day, or of the day before, and it is not in its waking hours."""
    minute = _minute(companion, at)
    if minute is None:
        return False
    begin, end = _bounds(companion)
    return end - _DAY <= minute < begin or end <= minute < begin + _DAY


def place_in_plan(companion: CompanionMind, at: str) -> int | None:
    """The index of the entry that has begun and is not over; None without one.

    Entries keep their times when others are taken out of the plan.
    """
    minute = _minute(companion, at)
    if minute is None:
        return None
    for index, entry in enumerate(companion.get("plan", [])):
        if 0 <= minute - _start(companion, entry) < entry["minutes"]:
            return index
    return None


def _start(companion: CompanionMind, entry: Entry) -> int:
    """When an entry begins, in minutes from the midnight with which the day began."""
    start, begin = minutes_of(entry["start"]), _bounds(companion)[0]
    return start if start >= begin else start + _DAY


def entry_at(companion: CompanionMind, at: str) -> Entry | None:
    """The entry that has begun and is not over; None while the agent sleeps or nothing is planned."""
    index = place_in_plan(companion, at)
    return None if index is None else companion["plan"][index]


def chunk_at(companion: CompanionMind, at: str) -> dict[str, Any] | None:
    """The part of the entry at this time; None if the entry has no parts yet."""
    entry, minute = entry_at(companion, at), _minute(companion, at)
    if entry is None or minute is None:
        return None
    now = _start(companion, entry)
    for chunk in entry.get("chunks", []):
        now += chunk["minutes"]
        if minute < now:
            return dict(chunk)
    return None


def may_hear(entry: Mapping[str, Any], person: str) -> bool:
    """Whether a person may hear of an entry.

    Args:
        entry: of the day plan.
        person: the person's id; empty for what all may hear.
    """
    return entry.get("heard_by") is None or person in entry["heard_by"]


def plan_for(companion: CompanionMind, person: str = "") -> list[Entry]:
    """The day plan as a person may see it: what the person may not hear of is "busy", at no place.

    Args:
        companion: what the mind carries.
        person: the person's id; empty for what all may see.
    """
    return [
        dict(entry)
        if may_hear(entry, person)
        else {"start": entry["start"], "minutes": entry["minutes"], "activity": BUSY, "place": ""}
        for entry in companion.get("plan", [])
    ]


def activity_at(companion: CompanionMind, at: str, person: str = "") -> str:
    """What the agent is doing, as a person may hear of it; empty if nothing is known.

    Args:
        companion: what the mind carries.
        at: ISO time.
        person: the person's id; empty for what all may hear.
    """
    entry = entry_at(companion, at)
    if entry is None:
        return ASLEEP if is_asleep(companion, at) else ""
    if not may_hear(entry, person):
        return BUSY
    return str((chunk_at(companion, at) or entry)["activity"])


def action_at(world: str, agent: str, companion: CompanionMind, at: str, person: str = "") -> str:
    """What the agent does now as `subject:predicate:object`, for games.

    The subject is the address of the place where it is done, or the agent's name where there is none; it may have
    colons, so that readers begin from the right. Predicate and object have none.

    Args:
        world: its name, the first part of addresses.
        agent: the agent's name.
        companion: what the mind carries.
        at: ISO time.
        person: the id of the person who sees it; empty for what all may see.
    """
    activity = activity_at(companion, at, person)
    entry = entry_at(companion, at)
    place = entry["place"] if entry is not None and may_hear(entry, person) else ""
    subject = ":".join([world, *place.split("/")]) if place else agent
    return f"{subject}:is:{_without_colons(activity) or 'idle'}"


def _without_colons(text: str) -> str:
    """A text for the last part of an action: "read the 12:00 log" becomes "read the 12.00 log"."""
    return " ".join(text.replace(":", ".").split())


WAKES: Final = 7 * 60
SLEEPS: Final = 22 * 60
"""Wake-up and bedtime, in minutes after midnight, where nothing is known."""
_APPOINTMENT: Final = 60
"""How long an appointment takes, in minutes."""

_NUMBERS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TIME: Final = re.compile(
    r"(?:\b(?P<before>at|by|from|around|about|until|till|before|after)\s+)?"
    r"(?:\b(?P<clock>(?:[01]?\d|2[0-3]):[0-5]\d)\b"
    r"|\b(?P<name>noon|midnight)\b"
    rf"|\b(?:(?P<part>half past|quarter past|quarter to)\s+)?\b(?P<hour>{'|'.join(_NUMBERS)}|1[0-2]|0?[1-9])\b"
    r"(?P<day>\s*[ap]\.?m\b\.?|\s+in the (?:morning|afternoon|evening)|\s+at night)?)",
    re.IGNORECASE,
)
_SIGNS: Final = ("before", "clock", "name", "part", "day")
"""What makes a number a time."""
_PARTS: Final = {"half past": 30, "quarter past": 15, "quarter to": -15}
_UP: Final = re.compile(r"\b(?:up|wakes?|rises?|out of bed)\b", re.IGNORECASE)
_BED: Final = re.compile(r"\b(?:bed(?:time)?|sleeps?|asleep)\b", re.IGNORECASE)
_NIGHTS: Final = re.compile(
    r"\bnight[ -](?:shifts?|work(?:er)?|duty|watch(?:man)?|guard|porter|nurse)\b|\bworks? (?:at )?nights?\b",
    re.IGNORECASE,
)
"""Words of somebody who works at night: "works nights", "a night nurse"."""
_SHORTEST: Final = 8 * 60
"""The fewest waking hours that are believed, in minutes."""
_AWAKE: Final = 16 * 60
_CLAUSE: Final = re.compile(r"[,;\n]\s*|\.\s+|\.$|\s+and\s+|\s+then\s+")


def day_by_habit(lifestyle: str, appointments: Sequence[str], home: str) -> Day:
    """The day as the lifestyle has it, with all appointments for an hour and free time between them.

    Args:
        lifestyle: in plain words, for example "Up at half past five, in bed by ten, radio at six in the evening."
        appointments: each with a time, for example "12:00 noon boat"; those without one are left out.
        home: where everything is done.
    """
    up: int | None = None
    bed: int | None = None
    wanted: list[Wanted] = []
    for clause in [*_CLAUSE.split(lifestyle), *appointments]:
        found = next((one for one in _TIME.finditer(clause) if any(one[sign] for sign in _SIGNS)), None)
        if found is None:
            continue
        minutes = _minutes(found)
        words = " ".join(f"{clause[: found.start()]} {clause[found.end() :]}".split()).strip(" .,:-–")
        if clause in appointments:
            wanted.append(Wanted(minutes, _APPOINTMENT, words or clause, home))
        elif _UP.search(clause) or (_BED.search(clause) and (found["before"] or "").casefold() in ("until", "till")):
            up = minutes
        elif _BED.search(clause):
            bed = minutes
        elif words:
            wanted.append(Wanted(minutes, _APPOINTMENT, words, home))
    wakes, sleeps = _waking_hours(up, bed, by_night=_NIGHTS.search(lifestyle) is not None)
    return laid_out(wakes, sleeps, wanted, home)


def _waking_hours(up: int | None, bed: int | None, *, by_night: bool) -> tuple[int, int]:
    """Wake-up and bedtime from what is known; "in bed by ten" is in the evening, unless the day were too short then."""
    usual = (15 * 60, 7 * 60) if by_night else (WAKES, SLEEPS)
    if bed is not None and 6 * 60 <= bed < 12 * 60 and not by_night:
        evening = bed + 12 * 60
        bed = evening if up is None or (evening - up) % _DAY >= _SHORTEST else bed
    wakes, sleeps = usual[0] if up is None else up, usual[1] if bed is None else bed
    if (sleeps - wakes) % _DAY >= _SHORTEST:
        return wakes, sleeps
    if bed is None and up is not None:
        return up, (up + _AWAKE) % _DAY
    return ((sleeps - _AWAKE) % _DAY, sleeps) if up is None else (wakes, sleeps)


def _minutes(found: re.Match[str]) -> int:
    """Minutes after midnight of a time that was found."""
    if found["clock"]:
        hours, minutes = found["clock"].split(":")
        return int(hours) * 60 + int(minutes)
    if found["name"]:
        return 12 * 60 if found["name"].casefold() == "noon" else 0
    hour = found["hour"].casefold()
    number = _NUMBERS.index(hour) + 1 if hour in _NUMBERS else int(hour)
    day = (found["day"] or "").casefold().replace(".", "").strip()
    afternoon = day in ("pm", "in the afternoon", "in the evening") or (day == "at night" and 6 <= number < 12)
    hours = number % 12 + 12 if afternoon else number % 12 if day in ("am", "at night") else number
    return (hours * 60 + _PARTS.get((found["part"] or "").casefold(), 0)) % (24 * 60)
