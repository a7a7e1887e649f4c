"""Two texts compared word by word. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")
_LEAST_ALIKE: Final = 0.4
"""The share of words in common below which texts are taken for different ones."""
_MOST_WORDS: Final = 800
"""Of each text; comparing takes time with the square."""


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Attributes:
        text: its characters, with the spaces between words.
        differs: whether the other text does not have it there.
    """

    text: str
    differs: bool


def word_changes(a: str, b: str) -> tuple[list[Piece], list[Piece]] | None:
    """Both texts in pieces that are alike or not; None if they are the same, too different, or too long."""
    if a == b:
        return None
    words_a, words_b = _WORD.findall(a), _WORD.findall(b)
    if max(len(words_a), len(words_b)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    alike = [block for block in matcher.get_matching_blocks() if block.size]
    common = sum(_count(words_a[block.a : block.a + block.size]) for block in alike)
    if 2 * common < _LEAST_ALIKE * (_count(words_a) + _count(words_b)):
        return None
    same_a, same_b = set[int](), set[int]()
    for block in alike:
        same_a.update(range(block.a, block.a + block.size))
        same_b.update(range(block.b, block.b + block.size))
    return list(_pieces(words_a, same_a)), list(_pieces(words_b, same_b))


def _count(words: Sequence[str]) -> int:
    return sum(not word.isspace() for word in words)


def _pieces(words: Sequence[str], same: set[int]) -> Iterator[Piece]:
    """The words joined to pieces; a space between two words that differ belongs to them."""
    differs = [
        at not in same or (word.isspace() and 0 < at < len(words) - 1 and not {at - 1, at + 1} & same)
        for at, word in enumerate(words)
    ]
    begin = 0
    for at in range(1, len(words) + 1):
        if at == len(words) or differs[at] != differs[begin]:
            yield Piece("".join(words[begin:at]), differs[begin])
            begin = at
