"""Repetition and other faults of wording: which corrections exist, and how much of an utterance was said before.

Source: specification, *Speaking*, faults known from the thesis. The share of n-grams that another text has is the
n-gram precision of BLEU (Papineni et al. 2002), on sets and against one earlier text at a time.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from persimchat.state.normalise import without_marks

OWN_NAME_REMOVED: Final = "own_name_removed"
"""The speaker's own name stood in front of the words and was removed."""
OTHERS_WORDS_REMOVED: Final = "others_words_removed"
"""The answer spoke for other participants too; their part was cut off."""
ASKED_AGAIN_FOR_OTHERS_WORDS: Final = "asked_again_for_others_words"
"""The answer spoke for other participants only, so the model was asked once more for the speaker's own words."""
ASKED_AGAIN_FOR_REPETITION: Final = "asked_again_for_repetition"
"""The utterance nearly repeated earlier ones, so the model was asked for another one and told what to avoid."""
STILL_REPEATS: Final = "still_repeats"
"""The second wording also nearly repeats an earlier utterance."""
REVISED: Final = "revised"
"""The utterance contradicted what was left out of its prompt, so other words were asked for and taken (revision)."""
STILL_INCONSISTENT: Final = "still_inconsistent"
"""All wordings contradict what was left out of the prompt; the one that does so least was taken."""
NOT_CHECKED: Final = "not_checked"
"""Whether the words contradict what was left out of the prompt is not known: no answer about them was of use."""

CORRECTIONS: Final = (
    OWN_NAME_REMOVED,
    OTHERS_WORDS_REMOVED,
    ASKED_AGAIN_FOR_OTHERS_WORDS,
    ASKED_AGAIN_FOR_REPETITION,
    STILL_REPEATS,
    REVISED,
    STILL_INCONSISTENT,
    NOT_CHECKED,
)
"""All corrections of a wording, as `Utterance.corrections` names them."""

LEAST_WORDS: Final = 6
"""Shorter texts ("Yes.", "Good night, everyone!") are never repetitions: people say such things again and again."""
SHORT: Final = 10
"""In texts with fewer words ("What do you think about the price, Eva?"), one other word changes the meaning: they
repeat an earlier text only if it has all their n-grams."""
COMPARED: Final = 20_000
"""The most characters of a text that are compared with others; no utterance is longer."""
SIGN: Final = 0.5
"""The length in words of one sign in scripts that put no spaces between words."""

_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
"""Unicode blocks of scripts that put no spaces between words; each of their signs counts as a word."""


class _Spacing(dict[int, str]):
    """A table for `str.translate`, filled on demand: letters and digits stay, other characters become spaces."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        belongs = unicodedata.category(sign)[0] in "LMN"
        self[code] = f" {sign} " if belongs and _unspaced(sign) else sign if belongs else " "
        return self[code]


_SPACING: Final = _Spacing({ord("'"): "", ord("’"): ""})


def words(text: str) -> list[str]:
    """The words of a text for comparison, without case, diacritics and punctuation.

    Scripts without spaces between words give single signs; a text without words (emoji, "?!") gives its characters.
    Only the first `COMPARED` characters count.
    """
    plain = without_marks(text[:COMPARED])
    return plain.translate(_SPACING).split() or [mark for mark in plain if not mark.isspace()]


def size(text: str) -> float:
    """The length of a text in words; a sign of a script without spaces counts as half of one."""
    return _size(words(text))


def _size(found: Sequence[str]) -> float:
    return sum(SIGN if _is_sign(word) else 1.0 for word in found)


def _is_sign(word: str) -> bool:
    return len(word) == 1 and (_unspaced(word) or not word.isalnum())


def _unspaced(sign: str) -> bool:
    code = ord(sign)
    return any(first <= code <= last for first, last in _UNSPACED)


def overlaps(text: str, said: Sequence[str]) -> list[float]:
    """How much of a text was said before: the share of its n-grams that occur in each earlier text.

    n is 4 words; 3 where the text is shorter than ten words or written in signs (about two words then).

    Args:
        text: the new text.
        said: earlier texts.

    Returns:
        For each earlier text a share from 0 to 1; 0 where the new text has no n-gram at all.
    """
    found = words(text)
    n = 3 if _size(found) < SHORT or _size(found) < 0.75 * len(found) else 4
    grams = _grams(found, n)
    return [len(grams & _grams(words(earlier), n)) / len(grams) if grams else 0.0 for earlier in said]


def _grams(found: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(found[i : i + n]) for i in range(len(found) - n + 1)}


def nearness(
    text: str, said: Sequence[str], cosines: Sequence[float], *, overlap: float, similarity: float
) -> list[float]:
    """How near a new text is to a repetition of each earlier one, by n-grams and embeddings.

    Args:
        text: the new text.
        said: earlier texts.
        cosines: of its embedding with theirs; texts shorter than `SHORT` words need none.
        overlap: the least share of n-grams of a repetition, above 0 to 1 (`Settings.repetition_overlap`).
        similarity: the least cosine of a repetition, above 0 to 1 (`Settings.repetition_similarity`).

    Returns:
        For each earlier text the greater of share and cosine as a multiple of its limit: 1 or more is a
        near-repetition. For texts shorter than `SHORT` the share alone, for those shorter than `LEAST_WORDS` 0.
    """
    length = size(text)
    if length < LEAST_WORDS:
        return [0.0] * len(said)
    shares = overlaps(text, said)
    if length < SHORT:
        return shares
    return [max(share / overlap, cosine / similarity) for share, cosine in zip(shares, cosines, strict=True)]
