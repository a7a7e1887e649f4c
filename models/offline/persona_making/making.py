"""Invented people, put together from word material: names, places, lives, tempers and habits (the YAML files).

What is fixed in the request holds; the rest is chosen to go with it. Everybody walks the same decks of phrases, which
the seed shuffles, and the person's number is the place in the deck, so that no phrase comes twice before its deck is
used up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from persimchat.models.offline.grammar import capitalised, filled
from persimchat.models.offline.lexicon import deck, lines, read
from persimchat.models.offline.persona_making.life import Life, life
from persimchat.models.offline.persona_making.phrases import ADULT, Decks, Trait, slot_values, traits_of
from persimchat.models.offline.persona_making.request import Request
from persimchat.models.offline.persona_making.trades import FILE, domain_of, group_of, status_of
from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator, permutation
from persimchat.state.normalise import folded

_FILE: Final = "persona_names"
_OLDER: Final = 50
_ELSEWHERE: Final = 0.12
"""Part of a group from one place whose names come from another part of the world."""
_NAMED: Final = re.compile(
    r"\b(?:in|of|from|at|near) ([A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2})"
    r"(?<!Party)(?<!Church)(?<!Club)(?<!University)(?<!Hospital)(?<!School)(?<!Company)(?<!Union)(?<!Council)"
)
_SIZES: Final = (
    ("villages", re.compile(r"\b(?:village|hamlet|rural|countryside|farm)", re.IGNORECASE)),
    ("towns", re.compile(r"\b(?:town|suburb|borough|municipal)", re.IGNORECASE)),
    ("cities", re.compile(r"\b(?:city|cities|metropol|urban|university|district)", re.IGNORECASE)),
)


@dataclass(frozen=True)
class Origin:
    """Where somebody lives, and which part of the world their name is from (a key of `persona_names.yaml`)."""

    residence: str
    names: str


def origin(request: Request, seed: int) -> Origin:
    """The origin of the person asked for.

    A group that a sentence describes lives in one place; people of whom nothing is said come from everywhere.
    """
    fixed = request.fixed.get("residence", "")
    named = _part_of_world(fixed) or _part_of_world(request.about)
    rng = generator(seed, "origin", request.about, request.number, request.again)
    parts = sorted(read(_FILE))
    together = bool(request.about or fixed)
    if together:
        # Somebody from a place that is not in the material gets a name from where most of the material is read.
        place_named = _NAMED.search(request.about) or fixed[:1].isupper()
        main = named or ("british" if place_named else generator(seed, "main", request.about).choice(parts))
    else:
        main = parts[permutation(len(parts), seed, "parts")[(request.number - 1 + request.shift) % len(parts)]]
    names = rng.choice(parts) if together and not named and rng.random() < _ELSEWHERE else main
    if fixed:
        return Origin(fixed, names)
    where = generator(seed, "place", request.about) if together else rng
    return Origin(_residence(request.about, main, where), names)


def name(request: Request, part: str, kind: str, age: int, seed: int) -> str:
    """A name that nobody made before has; first name and surname of their own where there are enough.

    Args:
        request: who is asked for.
        part: a key of `persona_names.yaml`.
        kind: "she", "he" or "they".
        age: years; first names follow fashions.
        seed: decides which.
    """
    entry = read(_FILE)[part]
    if kind == "they":
        firsts = entry["neutral"].split()
    else:
        older, younger = entry["women" if kind == "she" else "men"]
        firsts = (older if age >= _OLDER else younger).split()
    pairs = [pair.partition("/") for pair in entry["surnames"].split()]
    surnames = [(women or men) if kind == "she" else men for men, _, women in pairs]
    rng = generator(seed, "name", part, kind, request.about, request.number, request.again)
    taken = {word for other in request.others for word in folded(other.name).split()}
    whole = {folded(other.name) for other in request.others}
    rng.shuffle(firsts)
    rng.shuffle(surnames)
    choices = sorted(
        ((f, s) for f in firsts for s in surnames),
        key=lambda pair: ((folded(pair[0]) in taken) + (folded(pair[1]) in taken), folded(pair[0]) in taken),
    )
    first, last = next(
        (pair for pair in choices if folded(" ".join(pair)) not in whole and pair[0] != pair[1]), choices[0]
    )
    return f"{first} {last}"


def _part_of_world(text: str) -> str:
    for key, entry in read(_FILE).items():
        towns = [town.partition(",")[0] for size, _ in _SIZES for town in entry[size]]
        if re.search(rf"\b(?:{entry['match']})", text, re.IGNORECASE) or any(town in text for town in towns):
            return str(key)
    return ""


def _residence(about: str, part: str, rng: Any) -> str:
    """A town of a part of the world; the very one that the sentence names, where it names one."""
    entry = read(_FILE)[part]
    towns = [town for size, _ in _SIZES for town in entry[size]]
    found = next((town for town in towns if town.partition(",")[0] in about), None)
    if found is None and (elsewhere := _NAMED.search(about)) and not _part_of_world(elsewhere[1]):
        return elsewhere[1]
    size = next((size for size, pattern in _SIZES if pattern.search(about)), None)
    return f"{found or rng.choice(entry[size] if size else towns)}, {entry['country']}"


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
