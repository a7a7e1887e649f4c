"""What models answer about conversations that are over: scores, solutions, interviews, themes.

The model reads docstrings and field descriptions as part of the JSON schema. A score out of its bounds is asked for
again and never moved into them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, create_model

from .debates.answers import AnswerFormat
from .debates.verdict import answer_description, answer_type
from .minds.emotion import Level
from .minds.judgement import Explanation, Judgement, Sentence, cut_to
from .setting import no_switch

# The bounds come before the validator; after it, JSON schemas would not have them under their names.
Change = Annotated[int, Field(ge=-5, le=5), BeforeValidator(lambda value: no_switch(value, "a score"))]
Rating = Annotated[
    float,
    Field(ge=1, le=10, allow_inf_nan=False),
    BeforeValidator(lambda value: no_switch(value, "a score")),
    AfterValidator(lambda value: round(value, 1)),
]


class DimensionScore(Judgement):
    """How a conversation does on one dimension."""

    reasoning: Explanation = Field(description="what in the conversation speaks for a high and for a low score")
    score: Level = Field(description="a whole number, 0 to 10")


class ChangeScore(Judgement):
    """How a conversation has changed something, for the worse or the better."""

    reasoning: Explanation = Field(description="what in the conversation speaks for a change, and in which direction")
    score: Change = Field(description="a whole number, -5 to 5; 0 is no change")


class PairScores(Judgement):
    """How two conversations do beside each other."""

    reasoning: Explanation = Field(description="what speaks for and against each of the two conversations")
    first: Rating = Field(description="the score of the first conversation, 1 to 10")
    second: Rating = Field(description="the score of the second conversation, 1 to 10")


class Solution(Judgement):
    """The answer to a question; made for one form of answer by `solution_schema`."""

    answer: str


class ReasonedSolution(Judgement):
    """The answer to a question, behind its reasons."""

    reasoning: Explanation = Field(description="the steps that lead to the answer")
    answer: str


@lru_cache(maxsize=256)
def solution_schema(
    form: AnswerFormat, choices: tuple[str, ...] = (), *, reasoned: bool
) -> type[Solution] | type[ReasonedSolution]:
    """The schema of an answer in this form, with or without reasons."""
    base = ReasonedSolution if reasoned else Solution
    parsed: Any = (answer_type(form, choices), Field(description=answer_description(form, choices)))
    return create_model(base.__name__, __base__=base, answer=parsed)


LONGEST_QUESTION: Final = 2000
"""The most characters of a question."""


class InterviewReply(Judgement):
    """What somebody answers in an interview."""

    answer: Explanation = Field(description="what you say, in the first person and in your own way of speaking")


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
