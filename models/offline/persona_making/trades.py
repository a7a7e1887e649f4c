"""Trades: what people of the material do, what it takes to learn it, and what an occupation's text says of one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random
from typing import Any, Final

from persimchat.models.offline.lexicon import lines, read, word_list
from persimchat.models.offline.persona_making.request import Request
from persimchat.state.knowledge import derived_level
from persimchat.state.persona import Persona

FILE: Final = "persona_lives"
"""The file of the material."""

SENIOR: Final = re.compile(
    r"\b(?:professor|director|head of|head ?master|head ?mistress|chief|bishop|minister|captain)"
)
_NO_TRADE: Final = re.compile(
    r"(?:self-?)?employ(?:ed|ee)|worker|working|works|in work|(?:full|part)-time.*|freelance.*"
)
_LOW: Final = re.compile(r"\b(?:basic|less than|below|incomplete|no school|lower|compulsory)", re.I)
_HIGH: Final = re.compile(r"\b(?:tertiary|higher|academic|b\.?sc|b\.?a|m\.?sc|m\.?a|mba)\b", re.I)
_KINDS: Final = frozenset({"doctor", "teacher", "driver", "engineer", "developer", "lecturer", "designer"})


@dataclass(frozen=True)
class Trade:
    """An occupation.

    Attributes:
        title: as a noun without article.
        education: where it is learnt.
        youngest: years at which somebody may have it.
        money: "low", "mid" or "high".
        domain: a key of `work` in the material; empty where none fits.
    """

    title: str
    education: str
    youngest: int
    money: str
    domain: str


@cache
def trades() -> tuple[Trade, ...]:
    """All occupations of the material."""
    return tuple(
        Trade(title, education, int(youngest), money, domain)
        for domain, entry in read(FILE)["work"].items()
        for title, education, youngest, money in (
            [part.strip() for part in line.split("|")] for line in lines(entry["titles"])
        )
    )


def education_level(education: str) -> int:
    """The knowledge level that an education stands for, 1 to 5."""
    if _HIGH.search(education):
        return 4
    if _LOW.search(education):
        return 2
    return derived_level(Persona(name="x", description="x", characteristics={"education": education}))


def group_of(about: str) -> dict[str, Any]:
    """The entry of the group that a sentence names; empty where it names none that is known."""
    for entry in read(FILE)["groups"].values():
        if re.search(rf"\b(?:{entry['match']})", about, re.IGNORECASE):
            return dict(entry)
    return {}


def status_of(occupation: str) -> str:
    """What kind of life an occupation stands for; empty where there is none."""
    if not occupation:
        return ""
    if re.search(r"\bapprentice|\btrainee", occupation, re.IGNORECASE):
        return "apprentice"
    for status, entry in read(FILE)["status"].items():
        if "match" in entry and re.search(rf"\b(?:{entry['match']})", occupation, re.IGNORECASE):
            return "working" if status == "pupil" and "teacher" in occupation.casefold() else str(status)
    return "working"


def domain_of(occupation: str) -> str:
    """The kind of work that an occupation belongs to; empty where none is known."""
    for domain, entry in read(FILE)["work"].items():
        if re.search(rf"\b(?:{entry['match']})", occupation, re.IGNORECASE):
            return str(domain)
    return ""


@lru_cache(maxsize=256)
def titles_named(about: str) -> frozenset[str]:
    """The occupations of the material that a sentence names, also in the plural and by their kind ("drivers")."""
    named = {t.title for t in trades() if re.search(rf"\b{re.escape(t.title)}s?\b", about, re.IGNORECASE)}
    for title in named:
        about = re.sub(rf"\b{re.escape(title)}s?\b", "", about, flags=re.IGNORECASE)
    words = set(re.findall(r"[\w']+", about.casefold()))
    return frozenset(named) | {
        t.title for t in trades() if (last := t.title.split()[-1]) in _KINDS and f"{last}s" in words
    }


@lru_cache(maxsize=256)
def domains_named(about: str) -> frozenset[str]:
    """The kinds of work that a sentence names."""
    named = {t.domain for t in trades() if t.title in titles_named(about)}
    work = read(FILE)["work"].items()
    return frozenset(named) | {
        str(key) for key, entry in work if re.search(rf"\b(?:{entry['about']})\b", about, re.IGNORECASE)
    }


def trade_of(occupation: str, education: str, age: int, status: str, request: Request, rng: Random) -> Trade:
    """What somebody does, did or learns: what their occupation says, else something that fits all that is known."""
    said = _noun_in(occupation)
    if said:
        known = next((t for t in trades() if t.title in said.casefold()), None)
        domain = known.domain if known else domain_of(occupation)
        learnt = next((t for t in trades() if t.domain == domain), None)
        learnt_where = known.education if known else learnt.education if learnt else _usual_education(said)
        if "professor" in said.casefold():
            learnt_where = "doctorate"
        return Trade(said, learnt_where, 18, known.money if known else "mid", domain)
    domain = domain_of(occupation)
    if occupation and not domain and status == "working" and not _NO_TRADE.fullmatch(occupation.casefold()):
        return Trade("", "secondary school", 18, "mid", "")
    rules: list[Callable[[Trade], bool]] = [
        lambda t: t.domain == domain or not domain,
        lambda t: t.domain in domains_named(request.about) or not domains_named(request.about),
        lambda t: t.title in titles_named(request.about) or not titles_named(request.about),
        lambda t: not education or _fits(t, education),
        lambda t: t.youngest <= age,
        lambda t: t.domain != "technology" or status != "retired" or age < 70,
        lambda t: status != "apprentice" or t.education == "vocational school",
        lambda t: not any(t.title in other.occupation for other in request.others),
        lambda t: not any(domain_of(other.occupation) == t.domain for other in request.others[-6:]),
    ]
    left = list(trades())
    for rule in rules:
        left = [trade for trade in left if rule(trade)] or left
    return rng.choice(left)


def _usual_education(trade: str) -> str:
    """What a trade that is not in the material is likely to take, by how its name ends."""
    studied = re.search(r"(?:ist|naut|ian|ect|or|analyst|manager|consultant|director)$", trade.casefold())
    return "bachelor's degree" if studied else "vocational school"


def _noun_in(occupation: str) -> str:
    """An occupation as a noun without article; empty where it names no trade."""
    text = re.sub(
        r"^(?:retired|former|ex-|unemployed|apprentice|trainee|an?|the)\s+", "", occupation.strip(), flags=re.I
    )
    text = re.split(r"[,;:(/]| at | for | and | who | with | in | from ", text)[0].strip(" .")
    plain = re.fullmatch(r"[^\W\d_][\w'’-]*(?: [\w'’-]+){0,3}", text)
    status = status_of(text)
    if not plain or status not in ("working", "") or _NO_TRADE.fullmatch(text.casefold()):
        return ""
    words = text.split()
    if words[-1].casefold() in word_list("not_occupations") or words[0].casefold() in ("works", "working", "runs"):
        return ""
    return text if words[0].isupper() else text[:1].lower() + text[1:]


def _fits(trade: Trade, education: str) -> bool:
    """Whether a trade is learnt by such an education."""
    if education_level(trade.education) != education_level(education):
        return False
    practical = re.compile(r"vocation|apprentic|trade", re.IGNORECASE)
    return education_level(education) != 3 or bool(practical.search(education)) == bool(
        practical.search(trade.education)
    )
