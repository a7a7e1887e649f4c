"""Emotional state: Ekman's six basic emotions, each 0–10 (thesis, 4.1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

EMOTIONS: Final = ("happiness", "sadness", "anger", "fear", "disgust", "surprise")
"""The order of the six numbers wherever an emotional state is written as a vector."""


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a level is a number from 0 to 10, not true or false")
    return value


Level = Annotated[int, Field(ge=0, le=10), BeforeValidator(_no_bool)]
"""An intensity or a score: an integer from 0 to 10.

The bounds come before the validator; after it, JSON schemas would have no `minimum` and `maximum`."""


class EmotionalState(BaseModel):
    """How strongly an agent feels each of the six basic emotions, 0 (not at all) to 10 (overwhelmingly)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    happiness: Level = 0
    sadness: Level = 0
    anger: Level = 0
    fear: Level = 0
    disgust: Level = 0
    surprise: Level = 0

    def vector(self) -> list[int]:
        """The six intensities in the order of `EMOTIONS`."""
        return [getattr(self, name) for name in EMOTIONS]

    def dominant(self) -> str:
        """The strongest emotion's name (the first in the order of `EMOTIONS` among equals), or "calm" if all are 0."""
        return dominant(self.model_dump())


def dominant(emotion: Mapping[str, int]) -> str:
    """The strongest emotion's name (the first in the order of `EMOTIONS` among equals), or "calm" if all are 0.

    Args:
        emotion: intensities by name; one that is missing is not felt.
    """
    strongest = max(EMOTIONS, key=lambda name: emotion.get(name, 0))
    return strongest if emotion.get(strongest, 0) > 0 else "calm"
