"""The lexical embedding: repeatable, quick, and near where texts share words in any script."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.memory.lexical import DIMENSIONS, LexicalEmbeddings

lexical = LexicalEmbeddings()


def near(a: str, b: str) -> float:
    return math.fsum(x * y for x, y in zip(lexical.embed_query(a), lexical.embed_query(b), strict=True))


@given(st.text(max_size=200))
def test_vectors_have_length_one_or_zero(text):
    vector = lexical.embed_query(text)
    assert len(vector) == DIMENSIONS
    length = math.sqrt(math.fsum(x * x for x in vector))
    assert length == pytest.approx(1) or (length == 0 and not text.split())
    assert vector == lexical.embed_documents([text])[0]


@pytest.mark.proof
def test_the_same_in_another_process():
    text = "Lukáš Jelínek met 李雷 at the café"
    code = f"from persimchat.memory.lexical import LexicalEmbeddings as L; print(repr(L().embed_query({text!r})))"
    other = subprocess.run([sys.executable, "-X", "utf8", "-c", code], capture_output=True, text=True, check=True)
    assert eval(other.stdout) == lexical.embed_query(text)


def test_case_and_diacritics_are_folded_but_not_lost():
    assert 0.9 < near("Łukasz", "Lukasz") < 1
    assert near("Nováková", "NOVÁKOVÁ") == pytest.approx(1)
    assert 0.9 < near("Nováková", "Novakova") < 1


@pytest.mark.parametrize(
    ("text", "nearer", "farther"),
    [
        ("How should the town spend the money?", "spending money on the town", "the dog sleeps under the table"),
        ("Lukáš argues for a swimming pool", "swimming pools cost too much", "Lukrecie likes poetry"),
        ("李雷喜欢在公园散步", "公园里的散步很愉快", "今天的股票市场下跌"),
        ("東京で寿司を食べた", "寿司がおいしい東京", "犬が庭で走る"),
        ("Мария любит музыку", "музыка и Мария", "собака спит дома"),
    ],
)
def test_shared_words_are_nearer(text, nearer, farther):
    assert near(text, nearer) > near(text, farther) + 0.15


def test_unrelated_texts_are_far():
    assert abs(near("The parliament passed a budget", "My kitten chases yellow butterflies")) < 0.35


def test_signs_alone_are_compared_by_their_signs():
    assert near("🎉🎉", "🎉🎉") == pytest.approx(1)
    assert near("🎉🎉", "?!") < 0.5


def test_a_short_text_takes_less_than_a_millisecond():
    texts = [f"memory {i} about budgets, rivers and friend number {i * 7}" for i in range(400)]
    started = time.perf_counter()
    lexical.embed_documents(texts)
    assert (time.perf_counter() - started) / len(texts) < 0.001
