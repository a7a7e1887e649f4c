"""polls.jsonl in a run's folder: what agents answered to a question in private, asked afterwards as they were then.

`evaluation/` writes it; a run's own accounts, its states, its memories and its replay know nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import Field

from persimchat.runs.folder.judgements import Answered, Key, answers_in
from persimchat.runs.folder.stored import Turn
from persimchat.state.poll import Poll

POLLS: Final = "polls.jsonl"


class PollAnswer(Answered):
    """A line of polls.jsonl; `judge` is the model that answered."""

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


def read_polls(folder: Path) -> list[PollAnswer]:
    """The answers that count, in the order of polls, turns, agents and repeats; raises as `answers_in`.

    Answers to a poll that has been asked since with other words, of another model, or with another prompt, are stale.
    """
    return fresh(answers_in(folder / POLLS, PollAnswer).values())


def fresh(rows: Iterable[PollAnswer]) -> list[PollAnswer]:
    """Of the answers in a file's order, those that are not stale, by poll, turn, agent and repeat.

    Answers are written as they come, so a file's order may differ from run to run.
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
