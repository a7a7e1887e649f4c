"""Diversity of words and meanings: the examples computed by hand, and the definitions on random texts."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from persimchat.evaluation.diversity import ngrams
from persimchat.evaluation.diversity.ngrams import (
    TOKENS,
    Numbers,
    Vocabulary,
    cut,
    dist,
    ends_double,
    exclusive,
    grams,
    length,
)
from persimchat.evaluation.diversity.vectors import BLOCK, embedded, max_similarity, sim, windows
from persimchat.state.repetition import words
from persimchat.state.settings import Settings

A, B = [["a b a b"], ["a b c"]], [["a b d"], ["c c"]]


def numbered(dialogues: Sequence[Sequence[str]], vocabulary: Vocabulary | None = None) -> list[list[Numbers]]:
    """Dialogues of texts as numbers, divided at white space."""
    known = vocabulary or Vocabulary()
    return [[known.numbers(TOKENS["whitespace"](text)) for text in dialogue] for dialogue in dialogues]


# ── by hand ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("n", "value"), [(1, 3 / 7), (2, 3 / 5), (3, 1.0), (5, None)])
def test_dist_by_hand(n: int, value: float | None):
    assert dist(numbered(A), n) == value


@pytest.mark.parametrize(("n", "value"), [(1, 1 / 4), (2, 2 / 3), (3, 1.0), (4, None)])
def test_exclusive_by_hand(n: int, value: float | None):
    known = Vocabulary()
    a, b = numbered(A, known), numbered(B, known)
    assert exclusive(a, b, n) == (pytest.approx(value) if value is not None else None)


def test_exclusive_against_nothing_is_all_of_b():
    assert exclusive([], numbered(B), 1) == 1.0
    assert exclusive(numbered(A), [], 1) is None


def test_sim_by_hand():
    assert sim(np.array([[1, 0], [0, 1], [3, 3.0]])) == pytest.approx(math.sqrt(2) / 3)


def test_max_similarity_by_hand():
    a, b = np.array([[1, 0], [0, 1.0]]), np.array([[3, 3], [0, 2.0]])
    assert max_similarity(a, b) == pytest.approx((math.sqrt(0.5) + 1) / 2)


def test_ngrams_do_not_cross_utterances():
    assert dist(numbered([["a b", "b a"]]), 2) == 1.0
    assert len(grams(numbered([["a b", "b a"]])[0], 2)) == 2
    assert len(grams(numbered([["a b", "", "c"]])[0], 2)) == 1


# ── edges ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_no_zero():
    assert dist([], 1) is None
    assert dist(numbered([["", ""]]), 1) is None
    assert sim(np.array([[1.0, 0]])) is None
    assert sim(np.array([[1.0, 0], [0, 0]])) is None, "a vector of zeros is left out"
    assert sim(np.empty((0, 3))) is None
    assert max_similarity(np.zeros((2, 3)), np.ones((2, 3))) is None


def test_equal_dialogues_are_no_error():
    assert sim(np.array([[0.6, 0.8]] * 10)) == pytest.approx(1.0)
    assert dist(numbered([["a b c"]] * 10), 1) == 0.1
    assert exclusive(numbered(A), numbered(A), 2) == 0


@pytest.mark.parametrize(
    ("dialogue", "double"),
    [(["a b", "c", "a b"], True), (["a b", "b a"], False), (["a"], False), (["", ""], False), ([], False)],
)
def test_a_double_end_has_the_words_of_an_earlier_utterance(dialogue: list[str], double: bool):
    (one,) = numbered([dialogue])
    assert ends_double(one) is double


def test_a_dialogue_is_cut_to_its_first_words():
    (one,) = numbered([["a b c", "d e"]])
    assert [len(part) for part in cut(one, 4)] == [3, 1]
    assert [length(cut(one, most)) for most in (0, 2, 5, 9)] == [0, 2, 5, 5]


# ── by definition ──────────────────────────────────────────────────────────────────────────────────────────────────

texts = st.lists(st.lists(st.text("abc ", max_size=12), max_size=4), max_size=5)


def all_grams(dialogues: Sequence[Sequence[str]], n: int) -> list[tuple[str, ...]]:
    """The n-grams as tuples of words."""
    said = [text.split() for dialogue in dialogues for text in dialogue]
    return [tuple(one[i : i + n]) for one in said for i in range(len(one) - n + 1)]


@given(texts, st.integers(1, 5))
def test_dist_is_its_definition(dialogues: list[list[str]], n: int):
    found = all_grams(dialogues, n)
    assert dist(numbered(dialogues), n) == (len(set(found)) / len(found) if found else None)


@given(texts, texts, st.integers(1, 5))
def test_exclusive_is_its_definition(a: list[list[str]], b: list[list[str]], n: int):
    of_a, of_b = set(all_grams(a, n)), set(all_grams(b, n))
    known = Vocabulary()
    value = exclusive(numbered(a, known), numbered(b, known), n)
    assert value == (pytest.approx(len(of_b - of_a) / len(of_b)) if of_b else None)


@given(texts, st.integers(2, 5))
def test_numbers_that_would_pass_64_bits_are_ranked_first(dialogues: list[list[str]], n: int):
    found, plain = all_grams(dialogues, n), numbered(dialogues)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_MOST", 8)
        assert dist(plain, n) == (len(set(found)) / len(found) if found else None)


def test_many_different_words_do_not_overflow():
    many = [np.array([2**40, 3, 2**40, 3, 2**40, 1, 2, 3], dtype=np.int64)]
    assert dist([many], 3) == 5 / 6


rows = arrays.arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 5)), elements=st.floats(-5, 5, width=16))


@given(rows)
def test_sim_is_the_mean_of_all_pairs(vectors: np.ndarray):
    there = [row / np.linalg.norm(row) for row in vectors if np.linalg.norm(row) > 0]
    pairs = [float(there[i] @ there[j]) for i in range(len(there)) for j in range(i)]
    value = sim(vectors)
    assert value == (pytest.approx(sum(pairs) / len(pairs), abs=1e-9) if pairs else None)


def test_max_similarity_in_blocks_is_that_of_all_pairs():
    chance = np.random.default_rng(0)
    a, b = chance.normal(size=(7, 4)), chance.normal(size=(2 * BLOCK + 5, 4))
    first, second = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (a, b))
    assert max_similarity(a, b) == pytest.approx((second @ first.T).max(axis=1).mean())


# ── windows ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.text("ab 茶", max_size=60), max_size=6), st.integers(1, 9))
def test_windows_hold_all_words_and_no_more_than_allowed(utterances: list[str], most: int):
    found = windows(utterances, most)
    assert all(0 < size <= most for _, size in found)
    assert [size for _, size in found] == [len(words(text)) for text, _ in found]
    assert "".join("".join(text.split()) for text, _ in found) == "".join("".join(text.split()) for text in utterances)


def test_a_dialogue_is_divided_at_utterances():
    long = " ".join(["tea"] * 120)
    assert [size for _, size in windows([long, long, "Good night."])] == [120, 122]
    assert [size for _, size in windows([" ".join(["tea"] * 500)])] == [125, 125, 125, 125]


def test_the_vector_of_a_dialogue_is_the_mean_of_its_windows_weighted_by_words():
    settings = Settings(embedding="lexical")
    long, short = " ".join(["tea"] * 150), " ".join(["coffee"] * 60)
    whole, first, second = asyncio.run(embedded(settings, [[long, short], [long], [short]]))
    mean = 150 * first + 60 * second
    assert whole == pytest.approx(mean / np.linalg.norm(mean))
    together, apart = asyncio.run(embedded(settings, [["Tea?", "No."], ["Tea?\nNo."]]))
    assert together == pytest.approx(apart), "one that fits is embedded at once"


def test_a_dialogue_without_words_has_no_direction():
    found = asyncio.run(embedded(Settings(), [[""], ["tea"]]))
    assert list(found.any(axis=1)) == [False, True]
    assert not asyncio.run(embedded(Settings(), [[""], []])).any()
