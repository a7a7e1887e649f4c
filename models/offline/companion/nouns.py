"""Nouns of whom and what people tell of: kin, animals, words for the same, which pronoun fits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from persimchat.models.offline.lexicon import read

FILE: Final = "companion/words"
"""The file of words."""
_PLURALS: Final = frozenset({"children", "parents", "people", "twins", "mice"})


@cache
def words(name: str) -> frozenset[str]:
    """A set of words of the file."""
    return frozenset(read(FILE)[name].split())


@cache
def _same() -> dict[str, str]:
    rows = (row.split() for row in read(FILE)["same"].splitlines())
    return {word: row[0] for row in rows for word in row}


def head(noun: str) -> str:
    """The last word of a noun phrase, in lower case."""
    return noun.split()[-1].casefold() if noun.split() else ""


def singular(word: str) -> str:
    """A noun without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def one_word(word: str) -> str:
    """A word in the form by which words are compared: lower case, singular, one of its synonyms."""
    bare = singular(word.casefold())
    return _same().get(bare, bare)


def same_thing(first: str, second: str) -> bool:
    """Whether two noun phrases name the same."""
    return list(map(one_word, first.split())) == list(map(one_word, second.split()))


def is_kin(noun: str) -> bool:
    """Whether it is somebody near: kin, friends, colleagues."""
    return singular(head(noun)) in words("female") | words("male") | words("either") - words("beasts")


def is_beast(noun: str) -> bool:
    """Whether it is an animal."""
    return singular(head(noun)) in words("beasts")


def is_living(noun: str) -> bool:
    """Whether it is somebody, or an animal."""
    return is_kin(noun) or is_beast(noun) or head(noun) in _PLURALS


def plural(noun: str) -> bool:
    """Whether it names several."""
    last = head(noun)
    return last in _PLURALS or (last.endswith("s") and singular(last) != last)


def last_meant(pronoun: str, paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Of whom a pronoun speaks: the last one that it fits for certain, else the last one that it may fit; () for none.

    Args:
        pronoun: "she", "her", "it" and so on.
        paths: of those spoken of, oldest first; each ends with a noun.
    """
    ranked = [(_fit(pronoun.casefold(), path[-1]), place) for place, path in enumerate(paths) if path]
    best = max(ranked, default=(0, 0))
    return paths[best[1]] if best[0] else ()


def _fit(pronoun: str, noun: str) -> int:
    """How well a pronoun fits a noun: 0 not at all, 1 perhaps, 2 for certain."""
    last = singular(head(noun))
    female, male = last in words("female"), last in words("male")
    if pronoun in ("they", "their"):
        return 2 if plural(noun) else 1
    if pronoun in ("it", "its"):
        return 0 if female or male else 1 if is_kin(noun) else 2
    sure, wrong = (female, male) if pronoun in ("she", "her") else (male, female)
    return 2 if sure else int(is_living(noun) and not wrong)
