"""Whether somebody takes leave, found without a model: English, Czech, German, Spanish and French."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..document import table
from ..plain_text import folded

MOST_WORDS: Final = 20
"""A message with more words takes no leave."""
_MOST_BEHIND: Final = 6
"""The most words behind a goodbye in its part of the sentence: "see you at the stage tomorrow"."""


_WORDS: Final[dict[str, str]] = table(__file__, "words.yaml")


def _phrases(name: str) -> list[list[str]]:
    """Phrases separated by commas, as words, the longest first."""
    return sorted((phrase.split() for phrase in _WORDS[name].split(",")), key=len, reverse=True)


# Words that greet as well (ahoj, salut, servus, buenas noches) are not among them, unless another word makes their
# meaning clear.
_GOODBYES: Final = _phrases("goodbyes")
_DEPARTURES: Final = _phrases("departures")
_LEADING, _CLOSING, _NO_GOODBYE, _THANKS = (
    frozenset(_WORDS[name].split()) for name in ("leading", "closing", "no_goodbye", "thanks")
)
_NOT_BEFORE: Final = frozenset(("i", "we", "me", "to"))
"""Before "see" and "have" of a goodbye: it is none ("I see you have a boat")."""
_PARTS: Final = re.compile(r"[.,;:!?¡¿…\n()–—\"“”„«»]+|\s-\s")


def is_goodbye(text: str) -> bool:
    """Whether a message takes leave: it is short, has words of goodbye, and no question follows them."""
    if len(text.split()) > MOST_WORDS:
        return False
    ends = [(found.start(), found.end()) for found in _PARTS.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    for start, end in zip(starts, [*(begin for begin, _ in ends), len(text)], strict=True):
        words = re.sub(r"['’`]", " ", folded(text[start:end])).split()
        if _takes_leave(words) and "?" not in text[end:]:
            return True
    return False


def _takes_leave(words: Sequence[str]) -> bool:
    """Whether one part of a sentence takes leave."""
    for at in range(len(words)):
        if not (set(words[:at]) <= _LEADING or words[0] in _THANKS):
            return False
        if (behind := _behind(words, at, _GOODBYES)) is not None:
            told = words[at] in ("see", "have") and words[max(0, at - 1)] in _NOT_BEFORE
            return not told and len(behind) <= _MOST_BEHIND and not set(behind[:1]) & _NO_GOODBYE
        if (behind := _behind(words, at, _DEPARTURES)) is not None and set(behind) <= _CLOSING:
            return True
    return False


def _behind(words: Sequence[str], at: int, phrases: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """The words behind a phrase that begins at this place; None if none does."""
    phrase = next((phrase for phrase in phrases if list(words[at : at + len(phrase)]) == phrase), None)
    return None if phrase is None else words[at + len(phrase) :]
