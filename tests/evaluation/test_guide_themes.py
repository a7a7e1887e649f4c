"""Quotes of themes: none is kept that nobody said, and what is kept has the speaker's own letters."""

from __future__ import annotations

from typing import Any

from group_runs import MODERATOR, WORDS
from hypothesis import given as over
from hypothesis import strategies as st
from run_folders import PEOPLE

from persimchat.evaluation.guide.themes import said
from persimchat.runs.events import Uttered
from persimchat.runs.reports.guide import Section
from persimchat.state.themes import FoundThemes

LINES = [Uttered(turn=turn, speaker=who, text=text) for turn, (who, text) in enumerate(WORDS, start=1)]


def quoted(line: int, words: str, moderator: str = "") -> tuple[list[Any], int]:
    """What becomes of one theme with one quote."""
    quotes = [{"line": line, "words": words}]
    found = FoundThemes.model_validate({"themes": [{"name": "Lending", "about": "They lend.", "quotes": quotes}]})
    themes, invented = said(found.themes, Section(1, None, LINES, moderator))
    return [(quote.turn, quote.speaker, quote.words) for theme in themes for quote in theme.quotes], invented


def test_a_quote_is_kept_in_the_speakers_own_letters() -> None:
    own = [(3, PEOPLE[0], "my neighbour’s shed. He was slow")]
    assert quoted(3, "my neighbour's  shed. he was SLOW") == (own, 0)
    assert quoted(3, "“…my neighbour’s shed. He was slow…”") == (own, 0)


def test_a_quote_with_a_wrong_number_is_found_where_it_was_said() -> None:
    assert quoted(4, "The deposit") == ([(6, PEOPLE[1], "The deposit")], 0)
    assert quoted(0, "Strangers I don’t mind") == ([(8, PEOPLE[1], "Strangers I don't mind")], 0)


def test_a_moderators_question_is_no_answer() -> None:
    assert quoted(2, "When did you last borrow a tool?", MODERATOR) == ([], 0)


def test_what_nobody_said_is_left_out_with_its_theme() -> None:
    assert quoted(3, "I would never lend my drill") == ([], 1)
    assert quoted(3, "…") == ([], 1)
    assert quoted(3, ".*") == ([], 1)


@over(st.integers(min_value=0, max_value=len(WORDS) - 1), st.data())
def test_every_part_of_a_line_is_found_and_stands_in_it(place: int, data: st.DataObject) -> None:
    words = WORDS[place][1].split()
    first = data.draw(st.integers(min_value=0, max_value=len(words) - 1))
    last = data.draw(st.integers(min_value=first, max_value=len(words) - 1))
    ((turn, speaker, kept),), invented = quoted(place + 1, " ".join(words[first : last + 1]))
    assert (turn, speaker, invented) == (place + 1, WORDS[place][0], 0)
    assert kept in WORDS[place][1]


@over(st.text(max_size=60))
def test_whatever_a_model_quotes_only_what_was_said_is_kept(words: str) -> None:
    if not words.strip():
        return
    kept, invented = quoted(1, words)
    assert len(kept) + invented == 1
    assert all(quote in LINES[turn - 1].text for turn, _, quote in kept)
