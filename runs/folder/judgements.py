"""judgements.jsonl in a run's folder: what evaluators answered about the conversation after it was over.

`evaluation/` writes it; a run's own accounts and its replay know nothing of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Annotated, Final, TypeVar

from pydantic import Field

from persimchat.runs.folder.jsonl import checked, json_lines
from persimchat.runs.folder.stored import Count, Seconds, Stored

JUDGEMENTS: Final = "judgements.jsonl"

Key = tuple[str | int, ...]
Repeat = Annotated[int, Field(ge=1, le=1000)]


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
    """A line of judgements.jsonl."""

    measure: str = "dimension"
    dimension: str
    score: Annotated[float, Field(ge=-5, le=10, allow_inf_nan=False)] | None = None

    @property
    def key(self) -> Key:
        """Measure, dimension, judge, request and repeat."""
        return (self.measure, self.dimension, self.judge, self.request, self.repeat)


A = TypeVar("A", bound=Answered)


def answers_in(path: Path, kind: type[A], notes: list[str] | None = None) -> dict[Key, A]:
    """The answers in a file, by their keys; the last of several to one question. Nothing where there is no file.

    Args:
        path: the file.
        kind: what its lines hold.
        notes: told if a last line was torn; it is left out.

    Raises:
        InputError: the file cannot be read, or a line is damaged; file and line are named.
    """
    rows = json_lines(path, lambda line: checked(kind, line.value, line.where), notes=notes)
    return {row.key: row for row in rows}


def read_judgements(folder: Path) -> list[RecordedJudgement]:
    """The judgements on a run's conversation; raises as `answers_in`."""
    return list(answers_in(folder / JUDGEMENTS, RecordedJudgement).values())
