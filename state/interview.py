"""An interview with somebody after a conversation: the lengths of its texts, and the schema of an answer."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from persimchat.state.judgement import Explanation, Judgement

LONGEST_QUESTION: Final = 2000
"""The most characters of a question."""


class InterviewReply(Judgement):
    """What somebody answers in an interview."""

    answer: Explanation = Field(description="what you say, in the first person and in your own way of speaking")
