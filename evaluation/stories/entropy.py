"""Entropy-2: the Shannon entropy of the 2-grams of all words that are said in a story.

Source: Gu et al. 2024, AgentGroupChat, sections 6.4 and 6.5. The paper says neither whether words or characters are
counted nor the base of its logarithm, so there are four forms, none of which is "the" published one. Only differences
within one form can be compared. The entropy grows with the amount that is said, since it is at most log n. So it is
taken over the first n 2-grams, too, with n the smallest number among the runs that are compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final

from persimchat.runs.folder.reading import Record
from persimchat.state.repetition import words

WORDS, CHARACTERS = "words", "characters"
PIECES: Final[Mapping[str, Callable[[str], Sequence[str]]]] = {WORDS: words, CHARACTERS: list}
"""What a text is divided into: words as `persimchat.state.repetition` has them (without case and punctuation), or
characters as they were written."""
UNITS: Final[Mapping[str, float]] = {"bits": math.log(2), "nats": 1.0}
"""The units, each in nats."""
FORMS: Final = tuple((pieces, unit) for pieces in PIECES for unit in UNITS)
"""The four forms: pieces and unit."""

Bigram = tuple[str, str]


def texts_in(record: Record) -> list[str]:
    """What a story's characters said, in order; words that a moderator put in are not theirs."""
    own = set(record.manifest.names)
    return [said.text for said in record.utterances if said.speaker in own]


def bigrams(texts: Iterable[str], pieces: str) -> list[Bigram]:
    """The 2-grams of texts in order; none crosses from one text into the next.

    Args:
        texts: utterances.
        pieces: a name in `PIECES`.
    """
    divided = PIECES[pieces]
    return [pair for text in texts for pair in pairwise(divided(text))]


def entropy(grams: Iterable[Bigram], unit: str, first: int | None = None) -> float | None:
    """H = −Σ p·log p over the different 2-grams, from 0 to log n; None of nothing.

    Args:
        grams: the 2-grams.
        unit: a name in `UNITS`.
        first: how many of them count; all if None.
    """
    counts = Counter(islice(grams, first))
    n = counts.total()
    if not n:
        return None
    nats = math.fsum(-count / n * math.log(count / n) for count in counts.values())
    return abs(nats) / UNITS[unit]
