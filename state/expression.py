"""An emotional state in one word, as clients of a companion get it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from persimchat.state.companion import Label
from persimchat.state.emotion import EMOTIONS

_LABELS: Final[dict[str, Label]] = {
    "happiness": "happy",
    "sadness": "sad",
    "anger": "angry",
    "fear": "fear",
    "disgust": "disgust",
    "surprise": "surprised",
}


def label_of(emotion: Mapping[str, int], before: Label, floor: int) -> Label:
    """The word for the strongest emotion; "neutral" if none is above the floor.

    Args:
        emotion: intensities by name; one that is missing is not felt.
        before: the last word, which stays if its emotion is among the strongest; then the order of `EMOTIONS` counts.
        floor: an emotion counts from one level above this.
    """
    highest = max(emotion.get(name, 0) for name in EMOTIONS)
    if highest <= floor:
        return "neutral"
    strongest = [_LABELS[name] for name in EMOTIONS if emotion.get(name, 0) == highest]
    return before if before in strongest else strongest[0]
