"""How old an invented person is, in keeping with all that is known of them."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from persimchat.models.offline.persona_making_request import Request
from persimchat.models.offline.persona_making_trades import (
    SENIOR,
    domains_named,
    education_level,
    group_of,
    status_of,
    trades,
)
from persimchat.models.offline.randomness import permutation

_YOUNGEST, _OLDEST = 8, 88
_SHARES: Final = ((0.07, 9, 17), (0.27, 18, 29), (0.53, 30, 44), (0.78, 45, 60), (0.93, 61, 74), (1.0, 75, 88))
"""Ages where nothing is known: up to this part of the people, from and to."""
_AGED: Final = (
    (re.compile(r"\b(?:retire|pensioner|senior citizen|seniors|elderly|old (?:people|age|women|men))", re.I), 63, 88),
    (re.compile(r"\b(?:teen|adolescen|(?:high|secondary) school (?:student|pupil))", re.I), 13, 17),
    (re.compile(r"\b(?:apprentice|trainee)", re.I), 17, 20),
    (re.compile(r"(?<!with )(?<!of )\b(?:children|kids|schoolchild|pupils|primary school)", re.I), 7, 12),
    (re.compile(r"\b(?:students?|undergraduates?|freshers?)\b", re.I), 19, 25),
    (re.compile(r"\b(?:young (?:people|adults|professionals|women|men)|twenty-somethings)", re.I), 19, 30),
    (re.compile(r"\bmiddle-aged", re.I), 42, 58),
)
_BETWEEN: Final = re.compile(r"\b(\d{1,2})\s*(?:-|–|to|and)\s*(\d{1,2})\b(?!\s*%)")
_CLASS: Final = re.compile(r"\b(?:class|grade|pupil|kindergarten|pre-?school)\b", re.I)
_LEAST_AGE: Final = {5: 29, 4: 24, 3: 20}


def age_of(request: Request, rng: Random, seed: int) -> int:
    """The age in years: as it is fixed, else one that goes with all that is known, else any.

    Args:
        request: who is asked for.
        rng: decides within a tenth of what is possible.
        seed: decides which tenth is whose.
    """
    fixed = re.search(r"\d{1,3}", request.fixed.get("age", ""))
    if fixed:
        return int(fixed.group())
    low, high = _YOUNGEST, _OLDEST
    known = False
    for least, most in _limits(request):
        if max(low, least) <= min(high, most):
            low, high, known = max(low, least), min(high, most), True
    # One of ten equal parts for each of ten people, so that a small group is mixed.
    place = permutation(10, seed, "ages", request.about)[(request.number - 1) % 10]
    part = (place + rng.random()) / 10
    if known:
        return low + int(part * (high - low + 1))
    share, least, most = next(entry for entry in _SHARES if part <= entry[0])
    return rng.randint(least, most)


def _limits(request: Request) -> list[tuple[int, int]]:
    """Ages from and to, the most binding first."""
    found = []
    occupation, education = request.fixed.get("occupation", ""), request.fixed.get("education", "")
    match status_of(occupation):
        case "pupil":
            found.append((7, 18))
        case "student":
            found.append((19, 26))
        case "retired":
            found.append((64, 86))
        case "apprentice":
            found.append((17, 20))
        case "jobless" | "home":
            found.append((23, 60))
        case "working":
            known = next((t for t in trades() if t.title == occupation.casefold()), None)
            senior = SENIOR.search(occupation.casefold())
            found.append((42 if senior else known.youngest + 1 if known else 24, 64))
    if education:
        least = _LEAST_AGE.get(education_level(education), 18)
        found.append((7, 18) if _CLASS.search(education) else (least, _OLDEST))
    years = _BETWEEN.search(request.about)
    if years and int(years[1]) < int(years[2]):
        found.append((int(years[1]), int(years[2])))
    ages = group_of(request.about).get("ages")
    if ages:
        low, _, high = ages.partition("-")
        found.append((int(low), int(high)))
    at_work = bool(domains_named(request.about))  # teachers of a primary school are no children
    aged = ((low, high) for pattern, low, high in _AGED if pattern.search(request.about))
    found += [(low, high) for low, high in aged if low > 18 or not at_work][:1]
    if not found and at_work:
        found.append((23, 64))
    return found
