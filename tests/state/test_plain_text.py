"""Text from outside that steers nothing, hides nothing and shows no credentials."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.minds.speech import whole_sentences
from persimchat.state.plain_text import (
    clean,
    folded,
    is_visible,
    name_as_written,
    one_line,
    quoted,
    shortened,
    visible_form,
    without_credentials,
)


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


# What looks the same is compared as the same, and what cannot be seen is nothing


UNSEEN = "\u00ad\u034f\u061c\u115f\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u202e\u2060\u2066\u3164\ufe0f\ufeff\uffa0"
ALIKE = [
    ("Inés", "Ine\u0301s"),
    ("Anna", "An\u200bna"),
    ("Anna", "\u200fAnna\u200e"),
    ("Anna", "Ａｎｎａ"),
    ("Anna", "𝐀𝐧𝐧𝐚"),
    ("ANNA", "anna"),
    ("Anna Nová", "Anna\u00a0 Nová "),
    ("Straße", "STRASSE"),
    ("Ada\ufe0f", "Ada"),
    ("Ada\U000e0061", "Ada"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_the_same(one: str, other: str) -> None:
    assert visible_form(one) == visible_form(other) != ""
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Ines", "Inés"), ("Anna", "Аnna"), ("Anna-Marie", "Anna Marie"), ("李", "雷")]
)
def test_names_that_look_different(one: str, other: str) -> None:
    """Also a Cyrillic letter that looks like a Latin one: scripts are not compared."""
    assert visible_form(one) != visible_form(other)


@given(st.text())
def test_the_form_of_a_form_is_itself(text: str) -> None:
    form = visible_form(text)
    assert visible_form(form) == form
    for encoding in ("NFC", "NFD", "NFKC", "NFKD"):
        assert visible_form(unicodedata.normalize(encoding, text)) == form


@given(st.text(), st.lists(st.tuples(st.integers(0, 50), st.sampled_from(UNSEEN))))
def test_signs_that_nobody_sees_change_nothing(text: str, signs: list[tuple[int, str]]) -> None:
    marked = text
    for place, sign in signs:
        marked = marked[:place] + sign + marked[place:]
    assert is_visible(marked) == is_visible(text)
    if text.isascii():  # elsewhere a joiner may part two signs that would have become one
        assert visible_form(marked) == visible_form(text)


@given(st.text(st.sampled_from(UNSEEN + " \n\t\u3000\u2800\u0301\x00\x1b")))
def test_the_invisible_is_not_seen(text: str) -> None:
    assert not is_visible(text)


@given(st.text())
def test_a_name_stays_as_it_is_written_or_is_refused(text: str) -> None:
    try:
        name = name_as_written(text)
    except ValueError:
        return
    assert name.split() == text.split()
    assert visible_form(name)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in name)


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\x7f", "\u202e", "\u2066", "\ud800"])
def test_a_control_character_is_no_part_of_a_name(sign: str) -> None:
    with pytest.raises(ValueError, match=rf"name holds the control character U\+{ord(sign):04X}"):
        name_as_written(f"An{sign}na")


# Texts that are cut to a length or to their whole sentences


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
