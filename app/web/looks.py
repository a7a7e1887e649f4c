"""Colours of participants, emotions and parts, and the faces of emotions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from persimchat.runs.reports.palette import BLOCK_STYLES, EMOTION_STYLES, PART_STYLES, person_style, preferred
from persimchat.state.emotion import EMOTIONS

MODERATOR: Final = "var(--neutral)"

EMOTION_COLOURS: Final = EMOTION_STYLES

EMOTION_FACES: Final = dict(zip(EMOTIONS, ("😊", "😔", "😠", "😨", "🤢", "😮"), strict=True))
CALM: Final = "😌"

PART_COLOURS: Final = PART_STYLES
"""Of the five parts of a memory's score."""

BLOCK_COLOURS: Final = BLOCK_STYLES
"""Of the blocks of an utterance's prompt, by tag; stories have further ones."""


def colour(name: str, participants: Sequence[str]) -> str:
    """The colour of a speaker in the company of a run; slate for those who are not participants."""
    return person_style(name, participants)


def own_colour(name: str) -> str:
    """The colour of a persona in no company, as in the library."""
    return f"var(--p{preferred(name)})"
