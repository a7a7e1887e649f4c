"""Nearness of words to texts, without a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.memory import lexical as module
from persimchat.memory.lexical import nearness


def test_shared_words_are_near() -> None:
    words = "How early do you bake the bread?"
    assert nearness(words, ["I bake bread at three."]) > nearness(words, ["Buses run late in winter."])
    assert nearness(words, []) == 0.0
    assert nearness("", ["bread"]) == 0.0


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_it_is_a_mean_of_cosines_whatever_the_order(words: str, texts: list[str]) -> None:
    found = nearness(words, texts)
    assert -1.0001 <= found <= 1.0001
    assert abs(nearness(words, texts[::-1]) - found) <= 2e-6


def test_what_is_kept_has_a_bound() -> None:
    for number in range(3):
        nearness("word", [f"{number} " + "long " * 10_000])
    info = module._vector.cache_info()
    assert info.maxsize == 4096 and info.currsize <= 4096
