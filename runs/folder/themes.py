"""themes.jsonl in a run's folder: the themes that a model found in the answers to a guide's questions.

`evaluation/` writes it; a run's own accounts and its replay know nothing of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import Field

from persimchat.runs.folder.judgements import Answered, Key, answers_in
from persimchat.runs.folder.stored import Count, Stored, Turn

THEMES: Final = "themes.jsonl"


class Quote(Stored):
    """Words of one utterance, as they were said."""

    turn: Turn
    speaker: str
    words: str


class Theme(Stored):
    """A theme with the words that show it."""

    name: str
    about: str = ""
    quotes: list[Quote]


class RecordedThemes(Answered):
    """A line of themes.jsonl; `judge` is the model that was asked."""

    measure: str = "themes"
    question: Count = Field(description="the guide's question, from 1; 0 for what was said before the first")
    turns: list[Turn] = Field(description="the first and the last utterance that the model read")
    themes: list[Theme] = Field(default_factory=list, description="without quotes that nobody said")
    invented: Count = Field(default=0, description="quotes that were left out because nobody said them")

    @property
    def key(self) -> Key:
        """Measure, question, model, request and repeat."""
        return (self.measure, self.question, self.judge, self.request, self.repeat)


def read_themes(folder: Path) -> list[RecordedThemes]:
    """What models found in a run, in the file's order; raises as `answers_in`."""
    return list(answers_in(folder / THEMES, RecordedThemes).values())
