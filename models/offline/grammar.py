"""Decks of phrases, and the filling of their slots.

All speakers of a conversation share the same decks, shuffled by seed and topic, and the turn is the place in the deck.
So no phrase comes twice before its deck is used up, although no draw is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from persimchat.models.offline.randomness import permutation
from persimchat.models.offline.words import normalised

_SLOT: Final = re.compile(r"\{(\w+)(\^?)\}")
_REGISTERS: Final = {"c|": "casual", "f|": "formal"}


@lru_cache(maxsize=8192)
def slots(phrase: str) -> frozenset[str]:
    """The names of a phrase's slots: "I'm for {mine}." has `mine`."""
    return frozenset(m.group(1) for m in _SLOT.finditer(phrase))


@lru_cache(maxsize=8192)
def skeleton(phrase: str) -> str:
    """The longest stretch of a phrase between its slots, normalised for comparison."""
    return max((normalised(piece) for piece in _SLOT.sub("\x00", phrase).split("\x00")), key=len, default="")


def capitalised(text: str) -> str:
    """The text with its first letter in upper case."""
    for index, character in enumerate(text):
        if character.isalnum():
            return text[:index] + character.upper() + text[index + 1 :]
    return text


def filled(phrase: str, values: Mapping[str, str]) -> str:
    """The phrase with its slots filled in one pass; `{x^}` begins in upper case.

    Raises:
        KeyError: a slot has no value.
    """

    def value(found: re.Match[str]) -> str:
        text = values[found.group(1)]
        return capitalised(text) if found.group(2) else text

    return _SLOT.sub(value, phrase)


def for_register(phrase: str, register: str) -> str | None:
    """The phrase without its register mark; None if it belongs to another register."""
    mark = _REGISTERS.get(phrase[:2])
    if mark is None:
        return phrase
    return phrase[2:] if mark == register else None


@dataclass(frozen=True)
class Decks:
    """All decks of one conversation, at one turn.

    Attributes:
        seed: the model's seed.
        topic: the topic's text.
        register: "casual", "neutral" or "formal".
        said: recent utterances, normalised; phrases found in them are skipped.
    """

    seed: int
    topic: str
    register: str
    said: str

    def fresh(self, phrase: str) -> bool:
        """Whether a phrase, by its longest fixed stretch, was not used lately."""
        fixed = skeleton(phrase)
        return len(fixed) < 4 or fixed not in self.said

    def order(self, deck: str, size: int, step: int) -> tuple[int, ...]:
        """The order of a deck on the pass that contains `step`, beginning at `step`."""
        shuffled = permutation(size, self.seed, self.topic, deck, step // size)
        start = step % size
        return shuffled[start:] + shuffled[:start]

    def candidates(self, deck: str, phrases: Sequence[str], step: int, values: Mapping[str, str]) -> list[str]:
        """The usable phrases: the current one first, recently used ones last."""
        usable: list[str] = []
        stale: list[str] = []
        for index in self.order(deck, len(phrases), step) if phrases else ():
            phrase = for_register(phrases[index], self.register)
            if phrase is not None and all(values.get(s) for s in slots(phrase)):
                (usable if self.fresh(phrase) else stale).append(phrase)
        return usable + stale

    def pick(self, deck: str, phrases: Sequence[str], step: int, values: Mapping[str, str]) -> str:
        """The current phrase, filled; "" if no phrase of the deck can be used."""
        found = self.candidates(deck, phrases, step, values)
        return filled(found[0], values) if found else ""
