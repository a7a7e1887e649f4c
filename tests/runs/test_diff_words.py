"""What differs between two texts, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.runs.reports.diff_words import Piece, word_changes

TEXTS = st.text(st.sampled_from("ab .\n"), max_size=30)


def marked(pieces: list[Piece]) -> str:
    return "".join(f"[{piece.text}]" if piece.differs else piece.text for piece in pieces)


def test_words_that_differ_are_marked():
    found = word_changes("I like green tea a lot.", "I like very black tea a lot!")
    assert found is not None
    assert [marked(pieces) for pieces in found] == ["I like [green] tea a lot[.]", "I like [very black] tea a lot[!]"]


def test_texts_without_much_in_common_are_not_compared():
    assert word_changes("Tea at four, please.", "Nobody asked the bus drivers yet") is None
    assert word_changes("Tea.", "Tea.") is None
    assert word_changes("tea " * 900, "tea " * 901) is None


@given(TEXTS, TEXTS)
def test_no_character_is_lost(a: str, b: str):
    found = word_changes(a, b)
    if found is not None:
        assert ["".join(piece.text for piece in pieces) for pieces in found] == [a, b]
