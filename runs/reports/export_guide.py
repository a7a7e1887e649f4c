"""The tables of an export that focus groups have: who answered each question of the guide, and themes with quotes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.stored import Count, Turn
from persimchat.runs.reports.export_columns import Row, column
from persimchat.runs.reports.guide import fresh_themes, sections

_NUMBER: Final = "of the guide's question, from 1; 0 for what was said before the first"


class QuestionRow(Row):
    """One row per question of a guide and participant, without the moderator: how much they said about it."""

    question: Count = column(_NUMBER, "number")
    ask: str | None = column("the question; empty for what was said before the first")
    turn: Turn = column("the utterance that put it", "utterances")
    agent: str = column("the participant")
    utterances: Count = column("of theirs, until the next question", "utterances")
    words: Count = column("in them, between white space", "words")


class ThemeRow(Row):
    """One row per quote of a theme that a model found in the answers to a question; what nobody said is left out."""

    question: Count = column(_NUMBER, "number")
    by: str = column("the model that found the theme")
    theme: str = column("its name")
    about: str = column("what people say about it, in the model's words")
    turn: Turn = column("the utterance of the quote", "utterances")
    agent: str = column("who said it")
    quote: str = column("the words, as they were said")


TABLES: Final[dict[str, type[Row]]] = {"questions": QuestionRow, "themes": ThemeRow}


def guide_rows(record: Record) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The rows of a focus group: table, number and columns; none in other runs."""
    parts = sections(record)
    asked = [(part, voice) for part in parts for voice in part.voices]
    for number, (part, voice) in enumerate(asked, start=1):
        yield (
            "questions",
            number,
            {
                "question": part.number,
                "ask": part.question.ask if part.question else None,
                "turn": part.turns[0],
                "agent": voice.name,
                "utterances": voice.utterances,
                "words": voice.words,
            },
        )
    found = [
        (row, theme, quote) for row in fresh_themes(record, parts) for theme in row.themes for quote in theme.quotes
    ]
    for number, (row, theme, quote) in enumerate(found, start=1):
        yield (
            "themes",
            number,
            {
                "question": row.question,
                "by": row.judge,
                "theme": theme.name,
                "about": theme.about,
                "turn": quote.turn,
                "agent": quote.speaker,
                "quote": quote.words,
            },
        )
