"""What was asked about a run after it was over: answers to evaluators, polls and interviews, and themes.

They are events of the run's log that follow from no checkpoint. A run's own accounts, its states, its memories and its
replay know nothing of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, Field

from ...state.errors import InputError
from ...state.plain_text import folded, one_line, quoted
from ...state.poll import Poll
from .parts import Count, Seconds, Stored, Turn, left_out

Key = tuple[str | int, ...]
Repeat = Annotated[int, Field(ge=1, le=1000)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]


class Answered(Stored, ABC):
    """What is recorded of every answer of an evaluator."""

    judge: str = Field(description="the model that was asked")
    request: str = Field(description="digest of the rendered request: another request is another question")
    repeat: Repeat = 1
    seed: Count | None = None
    missing: str = Field(default="", description="why there is no score: unparseable, refused, too long; else empty")
    reasoning: str = ""
    calls: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    estimated: bool = False
    cost_usd: Seconds | None = None

    @property
    @abstractmethod
    def key(self) -> Key:
        """The question that it answers; the same is not asked twice."""


class RecordedJudgement(Answered):
    """A score of a conversation."""

    measure: str = "dimension"
    dimension: str
    score: Annotated[float, Field(ge=-5, le=10, allow_inf_nan=False)] | None = None

    @property
    def key(self) -> Key:
        """Measure, dimension, judge, request and repeat."""
        return (self.measure, self.dimension, self.judge, self.request, self.repeat)


class PollAnswer(Answered):
    """An agent's answer to a poll; `judge` is the model that answered."""

    measure: str = "poll"
    poll: str = Field(description="the poll's id")
    question: Poll
    turn: Turn = Field(description="utterances so far, when the agent was as it was asked")
    agent: str
    answer: str | None = Field(default=None, description="in the poll's form; null if it is missing")

    @property
    def key(self) -> Key:
        """Measure, poll, agent, turn, model, request and repeat."""
        return (self.measure, self.poll, self.agent, self.turn, self.judge, self.request, self.repeat)


class InterviewAnswer(Answered):
    """An agent's answer in an interview; `judge` is the model that answered."""

    measure: str = "interview"
    interview: Number = Field(description="the number of the interview in this run, from 1")
    number: Number = Field(description="the number of the question in its interview, from 1")
    turn: Turn = Field(description="utterances so far, when the agent was as it was asked")
    agent: str
    question: str
    answer: str | None = Field(default=None, description="null if it is missing")

    @property
    def key(self) -> Key:
        """Measure, interview and number."""
        return (self.measure, self.interview, self.number)


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
    """The themes of what was said to a question; `judge` is the model that was asked."""

    measure: str = "themes"
    question: Count = Field(description="the guide's question, from 1; 0 for what was said before the first")
    turns: list[Turn] = Field(description="the first and the last utterance that the model read")
    themes: list[Theme] = Field(default_factory=list, description="without quotes that nobody said")
    invented: Count = Field(default=0, description="quotes that were left out because nobody said them")

    @property
    def key(self) -> Key:
        """Measure, question, model, request and repeat."""
        return (self.measure, self.question, self.judge, self.request, self.repeat)


A = TypeVar("A", bound=Answered)


def fresh(rows: Iterable[PollAnswer]) -> list[PollAnswer]:
    """Of answers in the order in which they came, those that are not stale, by poll, turn, agent and repeat.

    Answers are written as they come, so their order may differ from run to run.
    """
    every = list(rows)
    asked = {row.poll: row.question for row in every}
    prompted = {(row.poll, row.turn, row.agent): (row.request, row.judge) for row in every}
    found = [
        row
        for row in every
        if row.question == asked[row.poll] and (row.request, row.judge) == prompted[row.poll, row.turn, row.agent]
    ]
    order = {poll: place for place, poll in enumerate(asked)}
    return sorted(found, key=lambda row: (order[row.poll], row.turn, row.agent, row.repeat))


def answers_by_poll(rows: Iterable[PollAnswer]) -> dict[str, dict[tuple[str, int], list[str | None]]]:
    """The answers to each poll, by agent and turn; None for those that are missing."""
    found: dict[str, dict[tuple[str, int], list[str | None]]] = {}
    for row in rows:
        found.setdefault(row.poll, {}).setdefault((row.agent, row.turn), []).append(row.answer)
    return found


def interviews(rows: Iterable[InterviewAnswer]) -> list[list[InterviewAnswer]]:
    """The answers of each interview."""
    return [list(own) for _, own in groupby(rows, key=lambda row: row.interview)]


LONGEST_NAME: Final = 120
LONGEST_TAG: Final = 40
"""Characters."""
MOST_TAGS: Final = 20
_MOST_SHOWN: Final = 60


Name = Annotated[str, AfterValidator(one_line), Field(max_length=LONGEST_NAME)]
Tag = Annotated[str, AfterValidator(one_line), Field(min_length=1, max_length=LONGEST_TAG)]


class Labels(Stored):
    """What a user calls a run, as plain text of one line each."""

    name: Name = left_out("shown in place of the topic", "")
    tags: Annotated[list[Tag], Field(max_length=MOST_TAGS)] = left_out(
        "by which runs are found, in the order given", []
    )

    def with_tags(self, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Labels:
        """The same with more and fewer tags; case and diacritics do not tell two tags apart.

        Raises:
            InputError: a tag is too long, or there are too many.
        """
        gone = {folded(tag) for tag in remove}
        return labels(self.name, [tag for tag in [*self.tags, *add] if folded(tag) not in gone])


def labels(name: str, tags: Iterable[str]) -> Labels:
    """Labels as a user gives them: each on one line; empty tags and repeated ones are left out.

    Raises:
        InputError: name or tag is too long, there are too many tags, or a tag has a comma.
    """
    name = one_line(name)
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"the name has {len(name)} characters", where="name", remedy=f"Use at most {LONGEST_NAME} characters."
        )
    kept: dict[str, str] = {}
    for tag in map(one_line, tags):
        if len(tag) > LONGEST_TAG or "," in tag:
            raise InputError(
                f"{quoted(tag, _MOST_SHOWN)} cannot be a tag",
                where="tags",
                remedy=f"Use at most {LONGEST_TAG} characters, without commas.",
            )
        if tag:
            kept.setdefault(folded(tag), tag)
    if len(kept) > MOST_TAGS:
        raise InputError(f"there are {len(kept)} tags", where="tags", remedy=f"Use at most {MOST_TAGS}.")
    return Labels(name=name, tags=list(kept.values()))
