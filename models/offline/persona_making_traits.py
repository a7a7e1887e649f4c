"""The tempers of invented people: traits that go together, and that nobody else of the group has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.persona_making_phrases import Decks
from persimchat.models.offline.persona_making_request import Request
from persimchat.models.offline.persona_making_trades import FILE

ADULT = 18
"""Years; who is younger has no trait that only a grown person can have."""


@dataclass(frozen=True)
class Trait:
    """A trait of character; it excludes those with which it shares one of its `ends`."""

    words: str
    ends: frozenset[str]
    adult: bool
    sentence: str
    voice: str


def traits_of(request: Request, age: int, decks: Decks, rng: Random) -> list[Trait]:
    """Three to five traits that do not exclude each other, as nobody made before has them."""
    known = [Trait(*_cut(line)) for line in deck(FILE, "traits")]
    known = [trait for trait in known if age >= ADULT or not trait.adult]
    order = [known[index] for index in decks.order("traits", len(known))]
    shown = Counter(other.traits[0] for other in request.others)
    first = min(order, key=lambda trait: shown[trait.words])
    others = {frozenset(other.traits) for other in request.others}
    while True:
        chosen = [first]
        number = rng.choice((3, 4, 4, 5))
        for trait in rng.sample(known, len(known)):
            if len(chosen) < number and not any(trait.ends & other.ends for other in chosen):
                chosen.append(trait)
        if frozenset(trait.words for trait in chosen) not in others:
            return chosen


def _cut(line: str) -> tuple[str, frozenset[str], bool, str, str]:
    words, ends, who, sentence, voice = (part.strip() for part in line.split("|"))
    return words, frozenset(ends.split()), who == "adult", sentence, voice
