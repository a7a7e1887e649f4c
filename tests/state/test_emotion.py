"""Emotional states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.state.emotion import EMOTIONS, EmotionalState

VECTORS = st.lists(st.integers(0, 10), min_size=6, max_size=6)


def of(vector: list[int]) -> EmotionalState:
    return EmotionalState(**dict(zip(EMOTIONS, vector, strict=True)))


@given(VECTORS)
def test_a_vector_there_and_back(vector: list[int]):
    state = of(vector)
    assert state.vector() == vector
    assert list(state.model_dump()) == list(EMOTIONS)


@given(VECTORS)
def test_dominant_is_the_first_of_the_strongest(vector: list[int]):
    dominant = of(vector).dominant()
    if any(vector):
        assert dominant == EMOTIONS[vector.index(max(vector))]
    else:
        assert dominant == "calm"


def test_order_and_bounds():
    assert EMOTIONS == ("happiness", "sadness", "anger", "fear", "disgust", "surprise")
    for value in (-1, 11, 1.5):
        with pytest.raises(ValidationError):
            EmotionalState(anger=value)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="frozen"):
        EmotionalState().anger = 3  # type: ignore[misc]
