"""Typical lengths of models' answers, read from `estimate_lengths.yaml`, which says how they were measured."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field

from persimchat.state.memory import MemoryKind


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MemoryLength(_Part):
    """One memory: UTF-8 bytes of its theme, number of keywords, bytes of a keyword."""

    theme: int = Field(gt=0)
    keywords: int = Field(ge=1)
    keyword: int = Field(gt=0)


class PlanLength(_Part):
    """UTF-8 bytes of what a plan says of the agent; its theme is a memory's."""

    identity: int = Field(gt=0)
    reaction: int = Field(gt=0)


class Lengths(_Part):
    """The table.

    Attributes:
        measured: year and month.
        answer_tokens: tokens of one answer, by task.
        answer_tokens_a_participant: tokens more with every participant, by task.
        bytes_a_word: UTF-8 bytes of a word of an utterance.
        memories: by kind.
        plan: of what stands in a plan beside its theme.
        reflecting: share of actions that reflect, 0 to 1.
        kept: share of memories that memory filtering keeps, 0 to 1.
    """

    measured: str
    answer_tokens: dict[str, int]
    answer_tokens_a_participant: dict[str, int]
    bytes_a_word: float = Field(gt=0)
    memories: dict[MemoryKind, MemoryLength]
    plan: PlanLength
    reflecting: float = Field(ge=0, le=1)
    kept: float = Field(ge=0, le=1)

    def answered(self, task: str, *, participants: int, words: int) -> int:
        """Tokens of one answer to a task.

        Args:
            task: by the name in its prompt.
            participants: how many take part.
            words: of an utterance (setting `utterance_words`).
        """
        if task == "utterance":
            return max(1, round(words * self.bytes_a_word / 4))
        return self.answer_tokens[task] + participants * self.answer_tokens_a_participant.get(task, 0)


@cache
def lengths() -> Lengths:
    """The table, read once."""
    text = (files("persimchat.runs") / "estimate_lengths.yaml").read_text(encoding="utf-8")
    return Lengths.model_validate(yaml.safe_load(text))
