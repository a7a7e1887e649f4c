"""Texts that are cut to a length or to their whole sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.plain_text import shortened
from persimchat.state.speech import whole_sentences


@given(text=st.text(max_size=300), most=st.integers(1, 200))
def test_a_shortened_text_fits_and_says_that_it_was_cut(text: str, most: int) -> None:
    found = shortened(text, most)
    assert len(found) <= most
    assert found == text if len(text) <= most else found.endswith("…")
    assert text.startswith(found.removesuffix("…"))


@given(text=st.text(min_size=1, max_size=300).filter(str.strip))
def test_whole_sentences_are_a_beginning_of_the_text_and_never_empty(text: str) -> None:
    found = whole_sentences(text)
    assert found
    assert text.strip().startswith(found) or text.strip().startswith(found.removesuffix("…"))


def test_where_a_sentence_ends() -> None:
    assert whole_sentences("Tea? Yes! And then") == "Tea? Yes!"
    assert whole_sentences("我喜欢茶。然后") == "我喜欢茶。"
    assert whole_sentences("it costs 3.50 and then some more wo") == "it costs 3.50 and then some more…"
