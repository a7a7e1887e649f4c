"""Invented people, put together from word material: names, places, lives, tempers and habits (the YAML files).

What is fixed in the request holds; the rest is chosen to go with it. Everybody walks the same decks of phrases, which
the seed shuffles, and the person's number is the place in the deck, so that no phrase comes twice before its deck is
used up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from persimchat.models.offline.grammar import capitalised, filled
from persimchat.models.offline.lexicon import deck, lines
from persimchat.models.offline.persona_making_life import Life, life
from persimchat.models.offline.persona_making_origin import name, origin
from persimchat.models.offline.persona_making_phrases import Decks, slot_values
from persimchat.models.offline.persona_making_request import Request
from persimchat.models.offline.persona_making_trades import FILE, domain_of, group_of, status_of
from persimchat.models.offline.persona_making_traits import ADULT, Trait, traits_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator, permutation

_WOMEN: Final = frozenset({"woman", "women", "female", "girl", "f", "w"})
_MEN: Final = frozenset({"man", "men", "male", "boy", "m"})


def persona(request: Request, seed: int) -> dict[str, Any]:
    """An invented person: what is asked for by `persona_generation.jinja`, without what is fixed.

    Args:
        request: who is asked for.
        seed: the same seed and request give the same person.
    """
    rng = generator(seed, "persona", request.about, request.number, request.again)
    living = life(request, seed)
    from_ = origin(request, seed)
    gender, kind = _gender(request, living.age, seed)
    called = name(request, from_.names, kind, living.age, seed)
    place = from_.residence.partition(",")[0].strip()
    values = slot_values(kind, called, living, place if place[:1].isupper() else "", rng)
    decks = Decks(request, seed, values)
    traits = traits_of(request, living.age, decks, rng)
    given = {
        "age": living.age,
        "gender": gender,
        "residence": from_.residence,
        "occupation": living.occupation,
        "education": living.education,
        "family": _family(request, living, decks),
        "hobbies": _hobbies(living.age, rng),
        "lifestyle": decks.take("days", _days(living)),
        "financial_status": decks.take("money", _money(living)),
    }
    return {
        "name": called,
        **{key: value for key, value in given.items() if key.replace("_", " ") not in request.fixed},
        "traits": [trait.words for trait in traits],
        "speaking_style": capitalised(f"{traits[0].voice}; {traits[1].voice}."),
        "description": _description(request, living, traits, decks, values, rng),
    }


def persona_generation(prompt: Prompt, seed: int) -> dict[str, Any]:
    """The task of this name."""
    prompt.need_section(prompt.request, "request")
    assert prompt.request is not None
    return persona(prompt.request, seed)


def _gender(request: Request, age: int, seed: int) -> tuple[str, str]:
    """The gender as a characteristic, and which pronouns go with it: "she", "he" or "they"."""
    fixed = request.fixed.get("gender", "")
    if fixed:
        word = fixed.casefold()
        return fixed, "she" if word in _WOMEN else "he" if word in _MEN else "they"
    women = re.search(r"\b(?:women|mothers|girls|wives|sisters|mums|ladies|nuns)\b", request.about, re.IGNORECASE)
    men = re.search(r"\b(?:men|fathers|boys|husbands|brothers|dads|monks)\b", request.about, re.IGNORECASE)
    rng = generator(seed, "gender", request.about, request.number)
    kind = ("she", "he")[permutation(2, seed, "gender", request.about)[request.number % 2]]
    if bool(women) != bool(men):
        kind = "she" if women else "he"
    elif 16 <= age < 45 and rng.random() < 0.04:
        return "non-binary", "they"
    grown = age >= ADULT
    return ("woman" if grown else "girl") if kind == "she" else ("man" if grown else "boy"), kind


def _family(request: Request, living: Life, decks: Decks) -> str:
    group = group_of(request.about)
    low, _, high = str(group.get("ages", "0-0")).partition("-")
    if "family" in group and int(low) <= living.age <= int(high):
        return decks.take("group's family", lines(group["family"]))
    fitting = _of_age("family", living.age)
    if living.status == "home":
        fitting = [line for line in fitting if re.search(r"\bmarried|partner", line)] or fitting
    return decks.take(f"family {fitting[0]}", fitting)


def _hobbies(age: int, rng: Random) -> str:
    fitting = _of_age("hobbies", age)
    return ", ".join(rng.sample(fitting, min(len(fitting), 2 if age < ADULT else 3)))


def _of_age(key: str, age: int) -> list[str]:
    """The entries of a deck `from-to | entry` that fit an age; those for the nearest age where none does."""
    found: list[tuple[int, str]] = []
    for line in deck(FILE, key):
        ages, _, entry = line.partition(" | ")
        low, _, high = ages.partition("-")
        found.append((max(0, int(low) - age, age - int(high)), entry))
    nearest = min(distance for distance, _ in found)
    return [entry for distance, entry in found if distance == nearest]


def _days(living: Life) -> Sequence[str]:
    if living.status in ("pupil", "kindergarten"):
        return deck(FILE, "pupils", "teen_days" if living.age > 12 else "days")
    return deck(FILE, "status", _with_entry(living.status), "days")


def _money(living: Life) -> Sequence[str]:
    if living.status in ("pupil", "kindergarten"):
        return deck(FILE, "pupils", "teen_money" if living.age > 12 else "money")
    if living.status == "apprentice":
        return deck(FILE, "pupils", "apprentice_money")
    if living.status == "working":
        return deck(FILE, "status", "worker", f"money_{living.money}")
    money = deck(FILE, "status", living.status, "money")
    poor = living.status == "retired" and living.money == "low"
    return [line for line in money if not (poor and line.startswith(("a good", "a fair")))]


def _with_entry(status: str) -> str:
    return "worker" if status in ("working", "apprentice") else status


def _kind(age: int) -> str:
    return "adult" if age >= ADULT else "teen" if age > 12 else "child"


def _opening(request: Request, living: Life, decks: Decks) -> str:
    """The first sentence: what this person does."""
    if living.age < 15 and living.status not in ("pupil", "kindergarten"):
        return decks.take("pupils", deck(FILE, "pupils", "lines"))  # whatever the quotas say of a child's work
    alike = sum(living.status == status_of(other.occupation) for other in request.others)
    match living.status:
        case "pupil":
            return decks.take("pupils", deck(FILE, "pupils", "lines"), alike)
        case "kindergarten" | "apprentice":
            return decks.take(living.status, deck(FILE, "pupils", living.status), alike)
        case "working" if living.domain and living.trade:
            alike = sum(living.domain == domain_of(other.occupation) for other in request.others)
            return decks.take(f"work {living.domain}", deck(FILE, "work", living.domain, "lines"), alike)
        case "working":
            return decks.take("status", deck(FILE, "status", "noun" if living.trade else "working", "lines"))
    return decks.take(living.status, deck(FILE, "status", living.status, "lines"), alike)


def _description(
    request: Request, living: Life, traits: Sequence[Trait], decks: Decks, values: Mapping[str, str], rng: Random
) -> str:
    kind = _kind(living.age)
    alike = sum(kind == _kind(other.age) for other in request.others)
    group = group_of(request.about)
    belonging = lines(group.get("lines", ""))
    left = request.number <= len(belonging) and living.status in group.get("who", living.status).split()
    rest = [
        decks.take("habits", deck(FILE, "habits", kind), alike),
        filled(traits[0].sentence, values),
        decks.take("group", belonging)
        if left and kind != "child"
        else decks.take("wishes", deck(FILE, "wishes", kind), alike),
    ]
    rng.shuffle(rest)
    return " ".join((_opening(request, living, decks), *rest))
