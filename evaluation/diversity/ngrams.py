"""Diversity of words: n-grams as 64-bit numbers, and what share of them is different or new.

An n-gram never crosses from one utterance into the next. Source: Li et al. 2016 (distinct-N); Chu, Chen, Nakayama
(exclusive N-grams).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from persimchat.state.repetition import words

TOKENS: Final[Mapping[str, Callable[[str], list[str]]]] = {"words": words, "whitespace": str.split}
"""How a text is divided: words without case, marks and punctuation, or what stands between white space."""
ORDERS: Final = (1, 2, 3)
"""The N of all measures of n-grams."""
_MOST: Final = 2**63 - 1
"""The greatest number of an n-gram."""

Numbers = npt.NDArray[np.int64]
Dialogue = Sequence[Numbers]
"""The utterances of a dialogue, each as the numbers of its words."""


class Vocabulary:
    """Gives every word a number, the same one each time."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def numbers(self, said: Iterable[str]) -> Numbers:
        """The numbers of words."""
        known = self._known
        return np.array([known.setdefault(word, len(known)) for word in said], dtype=np.int64)


def grams(utterances: Sequence[Numbers], n: int) -> Numbers:
    """All n-grams of utterances in order, each as a number; two are equal if and only if their numbers are.

    The number of an n-gram is that of its first n − 1 words times the size of the vocabulary, plus the last word's.
    Before the next step would pass 64 bits, the numbers so far are replaced by their ranks.
    """
    long = [one for one in utterances if len(one) >= n]
    if not long:
        return np.empty(0, dtype=np.int64)
    ids = np.concatenate(long)
    owner = np.repeat(np.arange(len(long)), [len(one) for one in long])
    many, size = len(ids) - n + 1, int(ids.max()) + 1
    codes, most = ids[:many], size
    for place in range(1, n):
        if most > _MOST // size:
            different, codes = np.unique(codes, return_inverse=True)
            most = len(different)
        codes, most = codes * size + ids[place : place + many], most * size
    within: Numbers = codes[owner[:many] == owner[n - 1 :]]
    return within


def dist(dialogues: Iterable[Dialogue], n: int) -> float | None:
    """dist-N, above 0 to 1: different n-grams of all dialogues over all their n-grams; None without an n-gram."""
    found = grams([one for dialogue in dialogues for one in dialogue], n)
    return len(np.unique(found)) / len(found) if len(found) else None


def exclusive(a: Iterable[Dialogue], b: Iterable[Dialogue], n: int) -> float | None:
    """The share of the different n-grams of B that A has not, 0–1; None if B has no n-gram."""
    first, second = ([one for dialogue in side for one in dialogue] for side in (a, b))
    together = grams([*first, *second], n)
    of_a = sum(max(0, len(one) - n + 1) for one in first)
    own = np.unique(together[of_a:])
    return float(np.isin(own, together[:of_a], invert=True).mean()) if len(own) else None


def length(dialogue: Dialogue) -> int:
    """The words of a dialogue."""
    return sum(map(len, dialogue))


def cut(dialogue: Dialogue, most: int) -> list[Numbers]:
    """A dialogue's first words."""
    kept, left = [], most
    for one in dialogue:
        kept.append(one[:left])
        left -= len(kept[-1])
    return kept


def ends_double(dialogue: Dialogue) -> bool:
    """Whether the last utterance has the words of an earlier one of the same dialogue."""
    if not dialogue or not len(dialogue[-1]):
        return False
    *earlier, last = dialogue
    return any(np.array_equal(one, last) for one in earlier)
