"""What is written as YAML reads back equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.document import parse_value
from persimchat.state.yaml_text import yaml_text

TEXTS = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from("\x85\u2028\n\r\t '\"-.1e:#"))
NUMBERS = st.integers(-(10**29), 10**29) | st.floats(-1e90, 1e90).filter(lambda x: x == 0 or abs(x) > 1e-90)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
def test_any_value_reads_back_equal(value: Any) -> None:
    assert parse_value(yaml_text(value)) == value


LOOKS = ["off", "no", "1e3", "+.5", "-.5E2", "1.", "007", "12:00", "~", "", "<<", "=", "- a", "a: b", "# x", "\n"]
ENDS = ["\x85", "a\u2028b", "\u2029", "\r", "\ufeff", "a\n\n b"]


@pytest.mark.parametrize("text", [*LOOKS, *ENDS])
def test_texts_that_look_like_something_else_stay_texts(text: str) -> None:
    assert parse_value(yaml_text({text: [text]})) == {text: [text]}


def test_values_used_twice_are_written_twice() -> None:
    shared = ["kettle"]
    assert yaml_text({"a": shared, "b": shared}) == "a:\n  - kettle\nb:\n  - kettle\n"
