"""The phrase material (YAML files beside this one), repeatable randomness, and words of a text.

A list of phrases, a *deck*, is a block of lines. A line of a theme is `position | clause | gist`; a line from a
persona's life is `sentence | gist`. A *clause* is a main clause that can stand alone or after "I'd say"; a *gist* is
the noun phrase by which others refer to it later.

All speakers of a conversation share the same decks, shuffled by seed and topic, and the turn is the place in the deck.
So no phrase comes twice before its deck is used up, although no draw is recorded.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from ...state import document
from ...state.minds.addressing import addressees
from ...state.plain_text import folded

_SLOT: Final = re.compile(r"\{(\w+)(\^?)\}")
_WORD: Final = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+(?:['’-](?:[^\W_]|[\u0300-\u036f])+)*")
"""A word; separate combining marks (as in ọ̀) belong to it."""


def generator(*parts: object) -> random.Random:
    """A random number generator of these parts; the same parts give the same numbers on every machine."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


@lru_cache(maxsize=8192)
def permutation(size: int, *parts: object) -> tuple[int, ...]:
    """The numbers below `size` in an order that depends on the parts."""
    return tuple(generator("permutation", size, *parts).sample(range(size), size))


@cache
def read(name: str) -> dict[str, Any]:
    """One file of phrase material."""
    data: dict[str, Any] = document.table(__file__, f"{name}.yaml")
    return data


def lines(block: str) -> tuple[str, ...]:
    """The lines of a block that are not empty."""
    return tuple(line.strip() for line in block.splitlines() if line.strip())


@cache
def deck(file: str, *keys: str) -> tuple[str, ...]:
    """A list of phrases, by its file and keys."""
    entry: Any = read(file)
    for key in keys:
        entry = entry[key]
    return lines(entry)


T = TypeVar("T")


def turned(items: Sequence[T], start: int) -> list[T]:
    """The items from a place on, and behind the last one from the first."""
    return [items[(start + place) % len(items)] for place in range(len(items))]


@cache
def table(file: str, *keys: str) -> tuple[tuple[str, ...], ...]:
    """A list of lines with bars in them, each as its parts."""
    return tuple(tuple(part.strip() for part in line.split("|")) for line in deck(file, *keys))


@cache
def word_list(name: str, file: str = "words") -> frozenset[str]:
    """A set of single words."""
    return frozenset(read(file)[name].split())


@cache
def word_pattern(name: str) -> re.Pattern[str]:
    """A pattern of word beginnings from `patterns` in `words.yaml`."""
    return matching(read("words")["patterns"][name])


@cache
def matching(pattern: str) -> re.Pattern[str]:
    """A pattern of the material: the beginnings of words, in any case."""
    return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)


def substituted(text: str, file: str, key: str) -> str:
    """The text after a list of substitutions of the material: pattern and what stands in its place."""
    for pattern, instead in read(file)[key]:
        text = re.sub(pattern, instead, text)
    return text


def expanded(text: str) -> str:
    """The text without contractions: "I'd say it's late" becomes "I would say it is late"."""
    return substituted(text, "words", "contractions") if "'" in text or "’" in text else text


@lru_cache(maxsize=16384)
def normalised(text: str) -> str:
    """Text for comparison: lower case, contractions expanded, single spaces, no punctuation."""
    return " ".join(re.findall(r"\w+", expanded(text).lower()))


def content_words(text: str, limit: int = 8) -> list[str]:
    """The content words of a text, unchanged, each once, in their order.

    If a text has no such word, any of its words; if it has no words, its first characters.
    """
    unique = dict.fromkeys(word for word in _WORD.findall(text) if len(word) <= 40)
    chosen: dict[str, str] = {}
    for word in unique:
        key = word.casefold().replace("’", "'")
        plain = (len(word) > 3 or not word.isascii()) and not word.isdigit() and "'" not in key
        if plain and key not in word_list("stopwords"):
            chosen.setdefault(key, word)
    return list(chosen.values() or unique)[:limit] or [text.strip()[:40] or "words"]


def four_grams(text: str) -> set[tuple[str, ...]]:
    """The sequences of four neighbouring words in a text, lower case."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}


def overlap(first: str, second: str) -> float:
    """Shared 4-grams of two texts as a share of those of the shorter text, 0 to 1."""
    a, b = four_grams(first), four_grams(second)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def took_leave(text: str) -> bool:
    """Whether words say goodbye."""
    return bool(word_pattern("leaving").search(text))


def count(text: str) -> int:
    """Number of words."""
    return len(text.split())


def with_article(noun: str) -> str:
    """A noun phrase with its indefinite article: "an engineer", "a university teacher"."""
    lower = noun.lower()
    vowel = lower[:1] in "aeiou" and not re.match(r"(uni|use|usu|eur|one\b|once\b|u[ks]\b)", lower)
    return ("an " if vowel or re.match(r"(hon(est|our|or)|hour|heir|mp\b|mba\b)", lower) else "a ") + noun


def gerund(verb: str) -> str:
    """The -ing form of a verb: "build" to "building", "make" to "making", "run" to "running"."""
    return substituted(verb, "words", "gerunds")


def listed(items: Sequence[str]) -> str:
    """Items as an enumeration: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def without_markup(text: str) -> str:
    """Text without characters that do not belong in speech."""
    return re.sub(r"[{}<>\[\]|*_`#‹›\\]", "", text)


def spoken_to(text: str, speaker: str, names: Sequence[str]) -> list[str]:
    """The names that words address, as `state.speech.addressees` finds them; names without a letter are left out."""
    return addressees(text, speaker, [name for name in names if folded(name).strip()])


def short_name(name: str) -> str:
    """A name for use in a sentence: on one line, at most 60 characters."""
    return " ".join(name.split())[:60].strip() or "somebody"


@cache
def slots(phrase: str) -> frozenset[str]:
    """The names of a phrase's slots: "I'm for {mine}." has `mine`."""
    return frozenset(m.group(1) for m in _SLOT.finditer(phrase))


@cache
def skeleton(phrase: str) -> str:
    """The longest stretch of a phrase between its slots, normalised for comparison."""
    return max((normalised(piece) for piece in _SLOT.sub("\x00", phrase).split("\x00")), key=len, default="")


def capitalised(text: str) -> str:
    """The text with its first letter in upper case."""
    first = next((i for i, character in enumerate(text) if character.isalnum()), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def filled(phrase: str, values: Mapping[str, str]) -> str:
    """The phrase with its slots filled in one pass; `{x^}` begins in upper case.

    Raises:
        KeyError: a slot has no value.
    """
    return _SLOT.sub(lambda m: capitalised(values[m[1]]) if m[2] else values[m[1]], phrase)


def for_register(phrase: str, register: str) -> str | None:
    """The phrase without its register mark; None if it belongs to another register."""
    mark = {"c|": "casual", "f|": "formal"}.get(phrase[:2])
    return phrase if mark is None else phrase[2:] if mark == register else None


def spoken(sentences: Sequence[str], register: str) -> str:
    """Sentences as one utterance: single spaces, no doubled punctuation, capitals after full stops and an end.

    Args:
        sentences: in order; empty ones are left out.
        register: "casual", "neutral" or "formal"; formal speech has no contractions.
    """
    text = " ".join(s.strip() for s in sentences if s.strip())
    if register == "formal":
        text = substituted(expanded(text), "speech", "formal")
    text = substituted(text, "speech", "tidied")
    text = re.sub(r"(?<=[.!?…])\s+(\w)", lambda m: " " + m.group(1).upper(), text)
    text = capitalised(text.strip(" ,;:-"))
    return text if text and text[-1] in ".!?…" else f"{text}."


class Decks(NamedTuple):
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

    def pick(self, deck: str, phrases: Sequence[str], step: int, values: Mapping[str, str]) -> str:
        """The current phrase whose slots have values, filled, rather one not used lately; "" if there is none."""
        if not phrases:
            return ""
        order = permutation(len(phrases), self.seed, self.topic, deck, step // len(phrases))
        due = (for_register(phrases[place], self.register) for place in turned(order, step))
        usable = [p for p in due if p is not None and all(values.get(s) for s in slots(p))]
        found = next((p for p in usable if self.fresh(p)), next(iter(usable), None))
        return filled(found, values) if found else ""
