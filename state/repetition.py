"""Repetition and other faults of wording: what is put right, and how much of an utterance was said before.

Source: specification, *Speaking*, faults known from the thesis (7.1). The arithmetic is that of n-gram overlap as in
the diversity measures of Li et al. 2016 (distinct-n) and BLEU's clipped precision, against one earlier text at a time.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from persimchat.state.folding import without_marks

OWN_NAME_REMOVED: Final = "own_name_removed"
"""The speaker's own name stood in front of the words and was removed."""
OTHERS_WORDS_REMOVED: Final = "others_words_removed"
"""The answer spoke for other participants too; their part was cut off."""
ASKED_AGAIN_FOR_OTHERS_WORDS: Final = "asked_again_for_others_words"
"""The answer spoke for others only, so the speaker's own words were asked for."""
ASKED_AGAIN_FOR_REPETITION: Final = "asked_again_for_repetition"
"""The utterance nearly repeated earlier ones, so another one was asked for, saying what to avoid."""
STILL_REPEATS: Final = "still_repeats"
"""What was said in the end nearly repeats an earlier utterance, although the words were asked for again."""

CORRECTIONS: Final = (
    OWN_NAME_REMOVED,
    OTHERS_WORDS_REMOVED,
    ASKED_AGAIN_FOR_OTHERS_WORDS,
    ASKED_AGAIN_FOR_REPETITION,
    STILL_REPEATS,
)
"""All that can happen to a wording, as `Utterance.corrections` names it."""

WORDS_IN_GRAM: Final = 4
"""Words of one n-gram. A sign of a script without spaces counts as two thirds of a word: six signs to the n-gram."""
SIGNS_IN_GRAM: Final = 6
LEAST_GRAMS: Final = 6
"""A text with fewer n-grams is compared by n-grams of one word (two signs) less."""
LEAST_WORDS: Final = 6
"""Shorter texts ("Yes.", "Good night, everyone!") repeat nothing: people say such things again and again."""

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
"""Blocks of scripts that put no spaces between words: there, every sign is compared by itself."""


class _Spacing(dict[int, str]):
    """What `str.translate` makes of a character, looked up once: words stay, all that separates them is a space."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if any(first <= code <= last for first, last in _UNSPACED) and unicodedata.category(sign)[0] in "LN":
            spaced = f" {sign} "
        else:
            spaced = sign if unicodedata.category(sign)[0] in "LMN" else " "
        self[code] = spaced
        return spaced


_SPACING: Final = _Spacing({ord("'"): "", ord("’"): ""})


def words(text: str) -> list[str]:
    """The words of a text for comparison, without case, diacritics and punctuation.

    Scripts without spaces between words give their single signs, and a text without any word (emoji, "?!") its marks.
    """
    plain = without_marks(text)
    return plain.translate(_SPACING).split() or [mark for mark in plain if not mark.isspace()]
