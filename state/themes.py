"""What a model answers when it is asked what people talked about: themes, each with the words that show it.

The model reads docstrings and field descriptions as part of the JSON schema.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from persimchat.state.judgement import Judgement, Sentence, cut_to

MOST_THEMES: Final = 8
MOST_QUOTES: Final = 8
LONGEST_NAME: Final = 80
LAST_LINE: Final = 10_000_000

_Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME), cut_to(LONGEST_NAME)
]


class FoundQuote(Judgement):
    """Words of one person, copied."""

    line: int = Field(ge=0, le=LAST_LINE, description="the number of the line that they stand in")
    words: Sentence = Field(description="the words, copied letter by letter from that line")


class FoundTheme(Judgement):
    """One theme of the answers."""

    name: _Name = Field(description="the theme in two to six words")
    about: Sentence = Field(description="what people say about it, in one sentence, with where they differ")
    quotes: list[FoundQuote] = Field(
        min_length=1, max_length=MOST_QUOTES, description="words that show it, of different people where there are any"
    )


class FoundThemes(Judgement):
    """The themes of the answers to one question."""

    themes: list[FoundTheme] = Field(max_length=MOST_THEMES, description="the themes, the most common first")
