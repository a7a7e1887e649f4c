"""The sentence cutter: where it cuts, and that parts of any size give the same sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.sentences import LONGEST, SHORTEST, SentenceCutter

TEXTS = st.text(st.sampled_from("abcA.!?…。！\"“”«»' ,，\n1I")) | st.text()


def cut(text: str, size: int = 1) -> list[str]:
    cutter = SentenceCutter()
    found = [piece for at in range(0, len(text), size) for piece in cutter.add(text[at : at + size])]
    rest = cutter.rest()
    return [*found, rest] if rest else found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("The stove is lit. Sit down there.", ["The stove is lit.", "Sit down there."]),
        ("Late? It's early for a Monday. Sit by the stove.", ["Late? It's early for a Monday.", "Sit by the stove."]),
        ("The noon boat is late! Is it now? It is…", ["The noon boat is late!", "Is it now? It is…"]),
        ("Mr. Wrona sells the tea. He is chatty.", ["Mr. Wrona sells the tea.", "He is chatty."]),
        ("I know J. R. Brandvik well. She is dry.", ["I know J. R. Brandvik well.", "She is dry."]),
        ("You like it, and so do I. The tea is hot.", ["You like it, and so do I.", "The tea is hot."]),
        ("It costs 3.50 crowns here. Not 4. 5 is wrong.", ["It costs 3.50 crowns here.", "Not 4. 5 is wrong."]),
        ("The boat leaves at 11:50. Be there early.", ["The boat leaves at 11:50.", "Be there early."]),
        ("It came on the 3. March of last year.", ["It came on the 3. March of last year."]),
        ('She said "It is. Go home." and went. So did I.', ['She said "It is. Go home." and went.', "So did I."]),
        ("„Es ist spät. Geh heim.“ Das sagte sie mir.", ["„Es ist spät. Geh heim.“", "Das sagte sie mir."]),
        ("Nothing to see here\nAnother line of words", ["Nothing to see here", "Another line of words"]),
        ("Well… perhaps it comes later. Who knows it?", ["Well… perhaps it comes later.", "Who knows it?"]),
        (
            "船は遅れています、今日は寒い。座ってください、暖かいですよ。",
            ["船は遅れています、今日は寒い。", "座ってください、暖かいですよ。"],
        ),
        ("Is it the boat (or the horn)? It is the horn.", ["Is it the boat (or the horn)?", "It is the horn."]),
    ],
)  # fmt: skip
def test_where_it_cuts(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_sentence_is_given_with_the_first_letter_of_the_next() -> None:
    cutter = SentenceCutter()
    assert cutter.add("The stove is lit. ") == []
    assert cutter.add("S") == ["The stove is lit."]
    assert cutter.rest() == "S"
    assert cutter.rest() == ""


def test_a_long_sentence_ends_at_a_comma() -> None:
    text = "the boat comes, " * 20
    pieces = cut(text)
    assert len(pieces) > 1
    assert all(piece.endswith(",") and len(piece) <= LONGEST for piece in pieces)


def test_a_quotation_without_end_does_not_hold_everything_together() -> None:
    assert len(cut('"' + "The boat is late today. " * 40)) > 4


def test_a_long_text_takes_little_time() -> None:
    assert cut("a" * 100_000) == ["a" * 100_000]


@given(TEXTS, st.integers(1, 7))
def test_the_sentences_do_not_depend_on_how_the_text_is_divided(text: str, size: int) -> None:
    assert cut(text, size) == cut(text, max(1, len(text)))


@given(TEXTS)
def test_nothing_is_lost_and_only_the_last_piece_is_short(text: str) -> None:
    pieces = cut(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) >= SHORTEST for piece in pieces[:-1])
