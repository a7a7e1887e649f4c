"""A day by habit: wake-up, bedtime and appointments from an agent's lifestyle, where no model has planned it. Pure.

It understands times in digits (12:00, 6 pm) and in English words (half past five, six in the evening). In other
languages it finds those in digits, and takes 07:00 and 22:00 for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from persimchat.state.day import Day, Wanted, laid_out

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
_CLAUSE: Final = re.compile(r"[,;\n]\s*|\.\s+|\.$|\s+and\s+|\s+then\s+")


def day_by_habit(lifestyle: str, appointments: Sequence[str], home: str) -> Day:
    """The day as the lifestyle has it, with all appointments for an hour and free time between them.

    Args:
        lifestyle: in plain words, for example "Up at half past five, in bed by ten, radio at six in the evening."
        appointments: each with a time, for example "12:00 noon boat"; those without one are left out.
        home: where everything is done.
    """
    wakes, sleeps = WAKES, SLEEPS
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
            wakes = minutes
        elif _BED.search(clause):
            sleeps = minutes + 12 * 60 if 6 * 60 <= minutes < 12 * 60 else minutes
        elif words:
            wanted.append(Wanted(minutes, _APPOINTMENT, words, home))
    return laid_out(wakes, sleeps, wanted, home)


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
