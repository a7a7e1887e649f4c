"""Text on its way to a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.app.views.live_view import bar, fitted, needs_lines
from persimchat.app.views.text import cost, ending, models_in_words, mood, tokens, used
from persimchat.runs.events import Stopped, Totals


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
    stopped = Stopped(run="r", reason="message_limit", source="message_limit", turn=1, totals=estimated, usage=[])
    assert ending(stopped) == "the message limit was reached, after 1 utterance"
    rounds = stopped.model_copy(update={"source": "mad", "detail": "2 of 3 hold it after 1 round.", "turn": 3})
    assert ending(rounds) == "2 of 3 hold it after 1 round"
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
    assert lines[-1].plain.strip() == "and 90 more with less need"
    assert all(" 0" not in line.plain[-3:] for line in lines[:-1])
