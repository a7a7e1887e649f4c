"""The tempers and phrases of invented people: decks from which each draws at a place of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from persimchat.models.offline.grammar import filled, slots
from persimchat.models.offline.lexicon import deck
from persimchat.models.offline.persona_making.life import Life
from persimchat.models.offline.persona_making.request import Request
from persimchat.models.offline.persona_making.trades import FILE
from persimchat.models.offline.randomness import permutation

_PRONOUNS: Final = {
    "she": {"she": "she", "her": "her", "him": "her", "herself": "herself"},
    "he": {"she": "he", "her": "his", "him": "him", "herself": "himself"},
    "they": {"she": "they", "her": "their", "him": "them", "herself": "themselves"},
}
_SINGULAR: Final = {"s": "s", "es": "es", "ies": "ies", "is": "is", "has": "has", "was": "was"}
_PLURAL: Final = {"s": "", "es": "", "ies": "y", "is": "are", "has": "have", "was": "were"}
_NUMBERS: Final = (
    *("four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen"),
)


def slot_values(kind: str, called: str, living: Life, place: str, rng: Random) -> dict[str, str]:
    """What the slots of phrases are filled with; where there is nothing to say, the slot has no value.

    Args:
        kind: "she", "he" or "they".
        called: name and surname.
        living: what this person does.
        place: the name of the place where they live; empty where it has none.
        rng: decides how long somebody has worked.
    """
    age = living.age
    values = {
        "first": called.split()[0],
        "noun": living.noun,
        "title": living.trade,
        "place": place,
        "age": _NUMBERS[age - 4] if 4 <= age < 20 else str(age),
        "years": str(max(12, min(age - 25, rng.randint(28, 41)))),
        "form": living.form,
        "subject": living.subject,
    }
    # An ending may well be empty; what else is empty cannot be said.
    said = {slot: value for slot, value in values.items() if value}
    return {**_PRONOUNS[kind], **(_PLURAL if kind == "they" else _SINGULAR), **said}


class Decks:
    """The decks of one group, from the place of one of its people on."""

    def __init__(self, request: Request, seed: int, values: Mapping[str, str]) -> None:
        self._request, self._seed, self._values = request, seed, values

    def order(self, label: str, size: int, step: int | None = None) -> Sequence[int]:
        """The numbers below `size` in this person's order."""
        start = (self._request.number - 1 if step is None else step) + self._request.shift
        shuffled = permutation(size, self._seed, label, self._request.about)
        return [shuffled[(start + n) % size] for n in range(size)]

    def take(self, label: str, phrases: Sequence[str], step: int | None = None) -> str:
        """The first phrase whose slots have values, filled."""
        for index in self.order(label, len(phrases), step):
            if slots(phrases[index]) <= self._values.keys():
                return filled(phrases[index], self._values)
        raise ValueError(f"no phrase of {label} can be used")


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
