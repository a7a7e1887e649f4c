"""Text on its way to a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.app.needs import bar, fitted, needs_lines
from persimchat.app.text import clean, cost, ending, models_in_words, mood, one_line, tokens, used
from persimchat.runs.events import Totals


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


def test_moods_can_be_told_without_colour():
    none = dict.fromkeys(("happiness", "sadness", "anger", "fear", "disgust", "surprise"), 0)
    assert mood(none) == ":| calm"
    assert mood({**none, "anger": 7, "fear": 3}) == ">:( anger 7"
    assert len({mood({**none, name: 5}) for name in none}) == 6


def test_figures_in_words():
    estimated = Totals(calls=1, input_tokens=1200, output_tokens=34, estimated=True, cost_usd=0.0)
    assert used(estimated) == "1 model call, 1,200 tokens in, 34 out (estimated), no cost"
    assert tokens(estimated) == "about 1,234 tokens"
    assert cost(Totals(cost_usd=None)) == "cost unknown"
    assert cost(Totals(cost_usd=0.01234)) == "$0.0123"
    assert ending("message_limit", 1) == "the message limit was reached, after 1 utterance"
    assert models_in_words({"A": "offline", "B": "offline"}) == "offline"
    assert models_in_words({"A": "offline", "B": "x@http://h/v1"}) == "A: offline; B: x@http://h/v1"


@given(st.floats(-5, 15), st.integers(0, 40), st.booleans())
def test_a_bar_is_as_wide_as_asked(value: float, width: int, unicode: bool):
    assert len(bar(value, 10, width, unicode=unicode)) == width


def test_bars_fill_in_proportion():
    assert bar(0, 10, 10, unicode=False) == "." * 10
    assert bar(3, 10, 10, unicode=False) == "###......."
    assert bar(10, 10, 10, unicode=True) == "━" * 10


@given(st.text(st.characters(categories=["L", "M"]), min_size=1, max_size=40), st.integers(4, 20))
def test_names_fit_their_column(name: str, width: int):
    from rich.cells import cell_len

    assert cell_len(fitted(name, width, unicode=True)) == width


def test_needs_show_name_bar_number_and_who_speaks():
    lines = needs_lines({"Ada": 3, "Bo": 10}, {}, speaker="Bo", width=30, unicode=False)
    assert [line.plain.rstrip() for line in lines] == ["  Ada  ###.......  3", "> Bo   ########## 10"]


def test_a_hundred_needs_fit_a_small_terminal():
    needs = {f"Agent number {n}": n % 11 for n in range(100)}
    lines = needs_lines(needs, {}, width=80, height=6)
    assert len(lines) == 6
    assert all(line.cell_len <= 80 for line in lines)
    assert lines[-1].plain.strip() == "and 90 more, with less need"
    assert all(" 0" not in line.plain[-3:] for line in lines[:-1])
