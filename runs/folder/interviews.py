"""interviews.jsonl in a run's folder: what agents answered in interviews that were held with them afterwards.

`evaluation/` writes it; a run's own accounts, its states, its memories and its replay know nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from persimchat.runs.folder.judgements import Answered, Key, answers_in
from persimchat.runs.folder.stored import Turn

INTERVIEWS: Final = "interviews.jsonl"

Number = Annotated[int, Field(ge=1, le=1_000_000)]


class InterviewAnswer(Answered):
    """A line of interviews.jsonl; `judge` is the model that answered."""

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


def read_interviews(folder: Path) -> list[InterviewAnswer]:
    """All answers, in the order of interviews and questions; raises as `answers_in`."""
    rows = answers_in(folder / INTERVIEWS, InterviewAnswer).values()
    return sorted(rows, key=lambda row: (row.interview, row.number))


def interviews(rows: Iterable[InterviewAnswer]) -> list[list[InterviewAnswer]]:
    """The answers of each interview."""
    return [list(own) for _, own in groupby(rows, key=lambda row: row.interview)]
