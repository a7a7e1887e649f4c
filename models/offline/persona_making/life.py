"""What an invented person learnt and does: each in keeping with their age and with the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.persona_making.request import Request
from persimchat.models.offline.persona_making.trades import (
    FILE,
    SENIOR,
    Trade,
    domains_named,
    education_level,
    group_of,
    status_of,
    trade_of,
    trades,
)
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.words import with_article

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


_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class Life:
    """What somebody does.

    Attributes:
        age: years.
        status: "working", "retired", "student", "pupil", "kindergarten", "apprentice", "jobless" or "home".
        occupation: as a characteristic.
        education: as a characteristic.
        trade: what they do or did, as a noun without article; empty where that cannot be said.
        domain: a key of `work` in the material; empty where none fits.
        money: "low", "mid" or "high".
        form: the class of a pupil.
        subject: what a student studies.
    """

    age: int
    status: str
    occupation: str
    education: str
    trade: str = ""
    domain: str = ""
    money: str = "mid"
    form: str = ""
    subject: str = ""

    @property
    def noun(self) -> str:
        """The trade with its article; empty where there is none."""
        if re.match(r"[AEFHILMNORSX][A-Z]{1,3}\b", self.trade):  # letters that are read out: an HR manager
            return f"an {self.trade}"
        return with_article(self.trade) if self.trade else ""


def life(request: Request, seed: int) -> Life:
    """The life of the person asked for; what is fixed holds, whatever it is."""
    rng = generator(seed, "life", request.about, request.number, request.again)
    occupation, education = request.fixed.get("occupation", ""), request.fixed.get("education", "")
    age = age_of(request, rng, seed)
    status = status_of(occupation)
    if not status:
        status = _free_status(age, education, request, rng)
        who = group_of(request.about).get("who", status).split()
        status = status if status in who else "working"
    if status in ("pupil", "student") and occupation and age < 18:
        status = "pupil"
    if status == "pupil" and age < 6:
        status = "kindergarten"
    if status in ("pupil", "kindergarten"):
        return _at_school(age, status, occupation, education)
    if status == "student":
        return _studying(age, occupation, education, request, seed)
    trade = trade_of(occupation, education, age, status, request, rng)
    return _in_work(age, status, trade, occupation, education)


def _free_status(age: int, education: str, request: Request, rng: Random) -> str:
    """What somebody of this age and education may do where nobody says."""
    chance = rng.random()
    level = education_level(education) if education else 0
    trained = bool(re.search(r"vocation|apprentic|trade", education, re.IGNORECASE))
    if age < 6:
        return "kindergarten"
    if age < 19:
        return "apprentice" if age > 16 and (trained or (not education and chance < 0.3)) else "pupil"
    if re.search(r"\bretire|pensioner", request.about, re.IGNORECASE):
        return "retired" if age > 55 else "working"
    if age < 26 and (re.search(r"\bstudent|undergraduate", request.about, re.I) or (level >= 4 and age < 24)):
        return "student"
    if age < 25 and not trained and level != 2 and not domains_named(request.about) and chance < 0.5:
        return "student"
    if age > 66 or (age > 61 and chance < 0.5 and not domains_named(request.about)):
        return "retired" if age > 72 or chance < 0.93 else "working"
    if domains_named(request.about) or chance < 0.93:
        return "working"
    return "jobless" if chance < 0.97 else "home"


def _at_school(age: int, status: str, occupation: str, education: str) -> Life:
    if status == "kindergarten":
        return Life(age, status, occupation or "kindergarten child", education or "kindergarten")
    if age < 15:
        form = f"{_ORDINALS[max(0, age - 6)]} class"
        return Life(
            age, status, occupation or "primary school pupil", education or f"{form} of primary school", form=form
        )
    form = f"{_ORDINALS[min(3, age - 15)]} year of secondary school" if age < 20 else "last year of secondary school"
    return Life(age, status, occupation or "secondary school pupil", education or form, form=form)


def _studying(age: int, occupation: str, education: str, request: Request, seed: int) -> Life:
    subjects = deck(FILE, "subjects")
    named = re.search(r"(?:student|studies|studying)(?: of| in)? (\w[\w ]+)", occupation, re.IGNORECASE)
    step = request.number - 1 + request.shift
    subject = named[1] if named else subjects[permutation(len(subjects), seed, "subjects")[step % len(subjects)]]
    return Life(
        age,
        "student",
        occupation or f"student of {subject}",
        education or "secondary school",
        subject=subject,
        money="low",
    )


def _in_work(age: int, status: str, trade: Trade, occupation: str, education: str) -> Life:
    learnt = education or ("vocational school" if status == "apprentice" else trade.education)
    worded = {
        "retired": f"retired {trade.title}",
        "apprentice": f"apprentice {trade.title}",
        "jobless": f"unemployed, formerly {trade.title}",
        "home": "looks after the home",
    }.get(status, trade.title)
    return Life(age, status, occupation or worded, learnt, trade.title, trade.domain, trade.money)
