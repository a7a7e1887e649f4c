"""How near words are to other texts, by the lexical embedding: the same on every machine, and without a model.

It does not depend on the setting `embedding`, whose model may be on a server.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from persimchat.memory.lexical import LexicalEmbeddings

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
