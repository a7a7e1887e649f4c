"""The lexical embedding: hashed word and character n-grams. It works on every machine and downloads nothing.

It knows words, not meanings: texts are near each other when they share words, stems or spellings, in any script.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from ..state.plain_text import without_marks

DIMENSIONS: Final = 512

_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Scripts that write words without spaces in between (Han, Hiragana, Katakana): one sign says much."""

_WHOLE_WORD: Final = 1.0
_EXACT_WORD: Final = 0.3
_GRAM: Final = 0.35
_SIGN: Final = 0.7
_LONGEST_WORD: Final = 64


def _features(word: str) -> Iterator[tuple[str, float]]:
    """The features of one word and their weights. Long words have more of them, so they count for more."""
    plain = without_marks(word)
    yield f"w:{plain}", _WHOLE_WORD
    if plain != word.casefold():
        yield f"e:{unicodedata.normalize('NFC', word.casefold())}", _EXACT_WORD
    if _UNSPACED.search(plain):
        for sign in plain:
            yield f"s:{sign}", _SIGN
        for first, second in zip(plain, plain[1:], strict=False):
            yield f"p:{first}{second}", _SIGN
        return
    padded = f"<{plain[:_LONGEST_WORD]}>"
    for i in range(len(padded) - 2):
        yield f"g:{padded[i : i + 3]}", _GRAM


@lru_cache(maxsize=20_000)
def _hashed(word: str) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The places of a word's features in the vector, and their signed weights."""
    places, weights = [], []
    for feature, weight in _features(word):
        digest = hashlib.blake2b(feature.encode(errors="surrogatepass"), digest_size=4).digest()
        number = int.from_bytes(digest, "little")
        places.append(number % DIMENSIONS)
        # Half of the features count negatively, so features that share a place cancel out on average.
        weights.append(weight if number >> 31 else -weight)
    return np.asarray(places, dtype=np.intp), np.asarray(weights, dtype=np.float32)


class LexicalEmbeddings(Embeddings):
    """Embeds texts as hashed n-grams: 512 dimensions, L2-normalised, the same in every process and on every machine.

    A text without any sign has the zero vector.
    """

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        row: list[float] = self._embed(text).tolist()
        return row

    def _embed(self, text: str) -> NDArray[np.float64]:
        vector = np.zeros(DIMENSIONS)
        # Texts of signs alone (emoji, "?!") are compared by their signs.
        for word in _WORD.findall(text) or text.split():
            places, weights = _hashed(word[:1000])
            np.add.at(vector, places, weights)
        length = float(np.sqrt(vector @ vector))
        return vector / length if length > 0 else vector


_TEXTS: Final = 4096
"""The most vectors kept in a process, 2 kB each; the one unused for longest is dropped."""
_DIGITS: Final = 6
"""Digits that count, so that rounding differences between machines do not decide which is nearer."""

_LONGEST: Final = 4000
"""The number of characters of a text that are compared."""

_lexical: Final = LexicalEmbeddings()


def nearness(words: str, texts: Sequence[str]) -> float:
    """The mean cosine of words with texts, −1 to 1, rounded to six digits; 0 if there is nothing to compare.

    Args:
        words: the words of an utterance.
        texts: the texts to compare them with. Their vectors are kept, because most of them do not change.
    """
    if not texts:
        return 0.0
    vectors = np.stack([_vector(text[:_LONGEST]) for text in texts])
    return round(float((vectors @ _vector(words[:_LONGEST])).mean()), _DIGITS)


@lru_cache(maxsize=_TEXTS)
def _vector(text: str) -> NDArray[np.float32]:
    vector = np.array(_lexical.embed_query(text), dtype=np.float32)
    vector.setflags(write=False)
    return vector
