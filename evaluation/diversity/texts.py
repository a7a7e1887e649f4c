"""Diversity of words and of meanings: n-grams as 64-bit numbers, and one vector a dialogue.

An n-gram never crosses from one utterance into the next. Source: Li et al. 2016 (distinct-N); Chu, Chen, Nakayama
(exclusive N-grams). An embedding reads a limited number of words (`all-MiniLM-L6-v2`: 256 word pieces), so a dialogue
is divided at its utterances into windows of at most 200 words. Its vector is the mean of theirs, weighted by words,
with length 1. Only what was said is embedded, without the speakers' names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Final

import numpy as np
import numpy.typing as npt

from ...memory.embedding_texts import embed
from ...memory.embeddings import LEXICAL, MINILM, MINILM_PACKAGE
from ...state.minds.speech import words
from ...state.settings import Settings

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


WINDOW: Final = 200
"""The most words that are embedded together."""
BLOCK: Final = 1024
"""Dialogues that are compared with all others at a time."""
NOT_MEANINGS: Final = "lexical: words, not meanings; not comparable with published sim"

Vectors = npt.NDArray[np.float64]
"""A row a dialogue; its length is 1, or 0 where there is nothing to compare."""


def best_embedding() -> str:
    """The best embedding that is installed and sends nothing: `minilm` with the extra of that name, else `lexical`."""
    return MINILM if find_spec(MINILM_PACKAGE) is not None else LEXICAL


def embedding_in_words(name: str) -> str:
    """How tables name an embedding."""
    return NOT_MEANINGS if name == LEXICAL else name


def windows(utterances: Iterable[str], most: int = WINDOW) -> list[tuple[str, int]]:
    """A dialogue in windows of at most so many words, each with how many it has; those without words are left out.

    Args:
        utterances: of the dialogue.
        most: words of a window. An utterance that has more is divided between two words.
    """
    found: list[tuple[list[str], int]] = []
    for piece in (piece for text in utterances for piece in _pieces(text, most)):
        size = len(words(piece))
        if found and found[-1][1] + size <= most:
            found[-1] = [*found[-1][0], piece], found[-1][1] + size
        else:
            found.append(([piece], size))
    return [("\n".join(pieces), size) for pieces, size in found if size]


def _pieces(text: str, most: int) -> Iterator[str]:
    """A text in pieces of at most so many words; a script without spaces is divided between two signs."""
    if len(words(text)) <= most:
        yield text
        return
    parts = text.split()
    if len(parts) == 1:
        yield from (text[start : start + most] for start in range(0, len(text), most))
        return
    half = len(parts) // 2
    for side in (parts[:half], parts[half:]):
        yield from _pieces(" ".join(side), most)


async def embedded(settings: Settings, dialogues: Sequence[Sequence[str]]) -> Vectors:
    """One vector a dialogue; every different window is embedded once.

    Args:
        settings: `embedding` and the limits on requests count.
        dialogues: the utterances of each.

    Raises: as `embed`.
    """
    divided = [windows(one) for one in dialogues]
    texts = {text: None for each in divided for text, _ in each}
    if not texts:
        return np.zeros((len(dialogues), 1))
    places = {text: place for place, text in enumerate(texts)}
    rows = np.asarray(await embed(settings, list(texts)), dtype=np.float64)
    found = np.zeros((len(dialogues), rows.shape[1]))
    for number, each in enumerate(divided):
        for text, size in each:
            found[number] += size * rows[places[text]]
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    found /= np.where(lengths > 0, lengths, 1.0)
    return found


def unit(vectors: Vectors) -> Vectors:
    """The vectors with something to compare, each with length 1."""
    lengths = np.linalg.norm(vectors, axis=1)
    there: Vectors = vectors[lengths > 0] / lengths[lengths > 0, None]
    return there


def sim(vectors: Vectors) -> float | None:
    """The mean cosine of all pairs, −1 to 1; None of fewer than two vectors with something to compare.

    The sum of all n² cosines is the squared length of the sum of the n unit vectors, so this takes O(n·d).
    """
    there = unit(vectors)
    n = len(there)
    return float((np.sum(there.sum(axis=0) ** 2) - n) / (n * (n - 1))) if n > 1 else None


def max_similarity(a: Vectors, b: Vectors) -> float | None:
    """The mean over B of the greatest cosine with any of A, −1 to 1; None if either has nothing to compare."""
    first, second = unit(a), unit(b)
    if not len(first) or not len(second):
        return None
    greatest = [(second[start : start + BLOCK] @ first.T).max(axis=1) for start in range(0, len(second), BLOCK)]
    return float(np.concatenate(greatest).mean())
