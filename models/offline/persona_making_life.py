"""What an invented person learnt and does: each in keeping with their age and with the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.persona_making_ages import age_of
from persimchat.models.offline.persona_making_request import Request
from persimchat.models.offline.persona_making_trades import (
    FILE,
    Trade,
    domains_named,
    education_level,
    group_of,
    status_of,
    trade_of,
)
from persimchat.models.offline.randomness import generator, permutation
from persimchat.models.offline.words import with_article

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
