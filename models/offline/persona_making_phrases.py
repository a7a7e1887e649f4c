"""The phrases of invented people: decks that everybody walks from a place of their own, and what fills the slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from persimchat.models.offline.grammar import filled, slots
from persimchat.models.offline.persona_making_life import Life
from persimchat.models.offline.persona_making_request import Request
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
