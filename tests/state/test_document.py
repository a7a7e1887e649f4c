"""Reading values and documents with their lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.document import Document, dotted, parse_value, read_document


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


def test_a_text_file_that_vanishes_is_told(tmp_path: Path, refused: Callable[..., str]):
    refused(lambda: read_document(tmp_path / "x.yaml"), str(tmp_path / "x.yaml"), "no such file", "Check the path")
