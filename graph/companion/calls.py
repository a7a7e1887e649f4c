"""How many model calls a companion makes, counted before they are made: what its graph does, occurrence by occurrence.

Requests that fail or are asked again are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...nodes.companion.consolidating import PART
from ...state.settings import Settings
from .consolidating import LONG_TALK

_DIGEST: Final = {
    "full": ("perception", "emotion", "trust"),
    "compact": ("hearing", "appraisal"),
    "lean": ("reaction",),
}
"""What an exchange is digested by, for each cognition that a companion may have."""


def calls(
    settings: Settings,
    *,
    exchanges: int = 0,
    ended: Sequence[int] = (),
    batches: int = 0,
    reactions: int = 0,
    unasked: int = 0,
    days: int = 0,
    entries: int = 0,
) -> dict[str, int]:
    """How many calls occurrences take, by task; tasks without a call are left out.

    Not counted is that the agent also reflects after a short talk if enough has happened since it last did
    (`companion.reflection_trigger`).

    Args:
        settings: `cognition` is read.
        exchanges: messages of persons that are answered.
        ended: of each talk that ends, how many exchanges it had.
        batches: events that come together and are new, with at least one that has no importance yet.
        reactions: how often the agent may react to one.
        unasked: how often it then speaks.
        days: how many days it plans.
        entries: how many entries of more than 15 minutes begin.
    """
    reflects = sum(length >= LONG_TALK for length in ended)
    found = {
        "companion": exchanges + unasked,
        **dict.fromkeys(_DIGEST[settings.cognition], exchanges),
        "consolidation": sum(-(-length // PART) for length in ended),
        "focal_points": reflects,
        "reflection": reflects,
        "events": batches,
        "reacting": reactions,
        "day_plan": days,
        "chunks": entries,
    }
    return {task: number for task, number in found.items() if number}
