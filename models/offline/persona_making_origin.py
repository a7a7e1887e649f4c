"""Where an invented person comes from, and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from persimchat.models.offline.lexicon import read
from persimchat.models.offline.persona_making_request import Request
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
