"""Times of a companion's world: the memory clock, times in words, and the formats in which clients write them.

A time is ISO text without a zone, the local time of the world. A zone that a client writes is left out: 11:40 stays
11:40.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from ..document import table
from ..errors import InputError
from ..plain_text import quoted

MONTHS: Final = tuple(table(__file__, "words.yaml")["months"].split())
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_YEARS: Final = range(2, 9001)
"""What is planned lies a day before and after, which must be times, too."""
_AS_CLIENTS_WRITE: Final = re.compile(
    r"\s*([A-Za-z]{3,9})\s+(\d{1,2})\s*,\s*(\d{4})\s*,\s*(\d{1,2}):(\d{2})(?::(\d{2}))?\s*", re.ASCII
)
_HOUR, _DAY, _WEEK, _MONTH, _YEAR = 3_600, 86_400, 604_800, 2_629_746, 31_556_952
"""Seconds; months and years are means of the Gregorian calendar."""


def moved(tick: int, last: str, now: str) -> int:
    """The memory clock after time has passed: one tick more for every full hour; it never goes back.

    Args:
        tick: the clock as it was.
        last: when it last moved; empty: never.
        now: the time.
    """
    if not last:
        return tick
    passed = (datetime.fromisoformat(now) - datetime.fromisoformat(last)).total_seconds()
    return tick + max(0, int(passed // _HOUR))


def ago(then: str, now: str) -> str:
    """How long ago a time is, in words: "just now", "12 minutes ago", "3 days ago".

    Args:
        then: the time; one that is still to come is "just now".
        now: the present.
    """
    passed = (datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds()
    if passed < 60:
        return "just now"
    spans = ((_HOUR, 60, "minute"), (_DAY, _HOUR, "hour"), (2 * _WEEK, _DAY, "day"), (2 * _MONTH, _WEEK, "week"))
    for below, unit, name in (*spans, (2 * _YEAR, _MONTH, "month")):
        if passed < below:
            return _count(passed, unit, name)
    return _count(passed, _YEAR, "year")


def in_words(time: str) -> tuple[str, str]:
    """A time as date with weekday, and hour: ("Monday, 3 March 2025", "11:40")."""
    at = datetime.fromisoformat(time)
    return f"{DAYS[at.weekday()]}, {at.day} {MONTHS[at.month - 1]} {at.year}", f"{at:%H:%M}"


def time_in(text: str, *, where: str) -> str:
    """The time that a client or a file gives, as ISO text to the second.

    Args:
        text: "March 03, 2025, 11:40:00" (the paper's UPDATE_META_MESSAGE), or ISO: "2025-03-03 11:40".
        where: the field, for the error.

    Raises:
        InputError: it is neither, or there is no such time.
    """
    found = _AS_CLIENTS_WRITE.fullmatch(text)
    try:
        if found is not None:
            day, year, hour, minute = (int(found[group]) for group in (2, 3, 4, 5))
            at = datetime(year, _month(found[1]), day, hour, minute, int(found[6] or 0))
        else:
            at = datetime.fromisoformat(text.strip())
        if at.year not in _YEARS:
            raise ValueError("too early or too late")
    except ValueError:
        remedy = "Write it as 'March 03, 2025, 11:40:00' or '2025-03-03 11:40'."
        raise InputError(f"{quoted(text, 60)} is not a time", where=where, remedy=remedy) from None
    return at.replace(microsecond=0, tzinfo=None).isoformat()


def for_clients(time: str) -> str:
    """A time as the paper's clients write it: "March 03, 2025, 11:40:00"."""
    at = datetime.fromisoformat(time)
    return f"{MONTHS[at.month - 1]} {at.day:02}, {at.year:04}, {at:%H:%M:%S}"


def _month(name: str) -> int:
    months = [month for month in MONTHS if name.casefold() in (month.casefold(), month[:3].casefold())]
    if not months:
        raise ValueError(name)
    return MONTHS.index(months[0]) + 1


def _count(seconds: float, unit: int, name: str) -> str:
    number = int(seconds // unit)
    return f"{number} {name}{'' if number == 1 else 's'} ago"
