"""The one word for an emotional state."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.companion import LABELS, Label
from persimchat.state.emotion import EMOTIONS
from persimchat.state.expression import label_of

LEVELS = st.dictionaries(st.sampled_from(EMOTIONS), st.integers(0, 10))


@pytest.mark.parametrize(
    ("emotion", "before", "expected"),
    [
        ({}, "happy", "neutral"),
        ({"happiness": 3}, "happy", "neutral"),
        ({"happiness": 4}, "neutral", "happy"),
        ({"anger": 6, "sadness": 5}, "sad", "angry"),
        ({"anger": 6, "sadness": 6}, "angry", "angry"),
        ({"anger": 6, "sadness": 6}, "happy", "sad"),
        ({"fear": 9}, "sad", "fear"),
        ({"disgust": 4}, "fear", "disgust"),
        ({"surprise": 5, "disgust": 5}, "surprised", "surprised"),
    ],
)
def test_the_strongest_counts_and_ties_keep_the_last(
    emotion: Mapping[str, int], before: Label, expected: Label
) -> None:
    assert label_of(emotion, before, 3) == expected


@given(LEVELS, st.sampled_from(LABELS), st.integers(0, 10))
def test_it_is_neutral_exactly_at_or_below_the_floor(emotion: dict[str, int], before: Label, floor: int) -> None:
    assert (label_of(emotion, before, floor) == "neutral") == (max([0, *emotion.values()]) <= floor)


@given(LEVELS, st.sampled_from(LABELS), st.integers(0, 10))
def test_the_same_state_keeps_its_word(emotion: dict[str, int], before: Label, floor: int) -> None:
    once = label_of(emotion, before, floor)
    assert label_of(emotion, once, floor) == once
