"""Text from outside that steers nothing, hides nothing and shows no credentials."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.plain_text import clean, one_line, quoted, without_credentials


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bPq secret\x1b\\text", "text"),
        ("bell\x07 back\x08", "bell back"),
        ("\x1b]0;no end", "0;no end"),
        ("abc\u202edef", "abcdef"),
        ("two\r\nlines\rthree", "two\nlines\nthree"),
        ("[bold]as it is[/bold] :smile:", "[bold]as it is[/bold] :smile:"),
        ("Dvořáčková 陳志明 👩‍👧", "Dvořáčková 陳志明 👩‍👧"),
    ],
)
def test_escape_sequences_go_and_words_stay(raw: str, shown: str):
    assert clean(raw) == shown


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str):
    left = clean(text)
    assert [c for c in left if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"] == []
    assert "\n" not in one_line(text)
    assert clean(left) == left


@given(st.text(st.characters(exclude_categories=["C", "Zl", "Zp"])))
def test_ordinary_text_is_untouched(text: str):
    assert clean(text) == text


@pytest.mark.parametrize("raw", ["a\u200bb", "a\u2060b", "\ufeffab", "a\u2066b\u2069"])
def test_what_nobody_sees_goes(raw: str):
    assert clean(raw) == "ab"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("m@q@https://me:pw@h/v1", "m@q@https://h/v1"),
        ("m@https://me:p@ss@h/v1", "m@https://h/v1"),
        ("https://token@h:80", "https://h:80"),
        ("write to a@b.c about http://h/v1", "write to a@b.c about http://h/v1"),
        ("http://h/v1/user@example.org", "http://h/v1/user@example.org"),
        ("openai:gpt-4o", "openai:gpt-4o"),
    ],
)
def test_credentials_leave_an_address(text: str, left: str):
    assert without_credentials(text) == left
    assert without_credentials(text, "[hidden]@").replace("[hidden]@", "") == left


def test_a_quotation_is_short_and_on_one_line():
    assert quoted("a\nb", 60) == r"'a\nb'"
    assert quoted("http://me:pw@h", 60) == "'http://***@h'"
    assert len(quoted("x" * 1000, 60)) == 60
