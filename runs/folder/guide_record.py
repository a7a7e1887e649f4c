"""A focus group's guide as the event `started` has it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from persimchat.runs.folder.stored import Stored
from persimchat.state.guide import Guide


class GuideTold(Stored):
    """A focus group's guide, as far as somebody must know it who follows the run."""

    moderator: str
    questions: list[str] = Field(description="in the guide's words; an utterance's `question` counts them from 1")
    shown: str = Field(default="", description="what everybody is shown; empty if nothing is")
    shown_with: list[int] = Field(
        default=[], description="the numbers of the questions with which it is shown; empty: from the beginning"
    )

    @classmethod
    def of(cls, guide: Guide | None) -> Self | None:
        """What is told of a guide; None if there is none."""
        if guide is None:
            return None
        return cls(
            moderator=guide.moderator,
            questions=[question.ask for question in guide.questions],
            shown=guide.stimulus.words if guide.stimulus is not None else "",
            shown_with=[number for number, question in enumerate(guide.questions, start=1) if question.show],
        )
