"""What looks the same is compared as the same, and what cannot be seen is nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.normalise import folded, is_visible, name_as_written, visible_form

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
