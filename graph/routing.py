"""Who speaks next, and when the conversation ends: pure functions (specification, *Who speaks next*)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from persimchat.state.settings import Settings


def draw(seed: int, turn: int, purpose: str) -> random.Random:
    """The run's randomness for one turn: depends on seed, turn and purpose alone, so a resumed run draws the same."""
    return random.Random(f"{seed}/{turn}/{purpose}")


def softmax(scores: list[int], temperature: float) -> list[float]:
    """Probabilities proportional to exp(score / temperature), summing to 1; stable for any temperature > 0."""
    greatest = max(scores)
    weights = [math.exp((score - greatest) / temperature) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def choose_speaker(minds: Mapping[str, Mapping[str, Any]], turn: int, settings: Settings) -> str:
    """The name of the agent that speaks next.

    Args:
        minds: by name, in order of listing; `need_to_talk`, `utterances` and `last_spoke` are read.
        turn: utterances so far.
        settings: pattern, selection, temperature, allow_repetition, seed.
    """
    names = list(minds)
    if settings.pattern == "round_robin":
        return names[turn % len(names)]
    last = next((name for name in names if turn and minds[name]["last_spoke"] == turn), None)
    candidates = [name for name in names if settings.allow_repetition or name != last]
    needs = [minds[name]["need_to_talk"] for name in candidates]
    if settings.selection == "softmax":
        weights = softmax(needs, settings.temperature)
        return draw(settings.seed, turn, "speaker").choices(candidates, weights)[0]
    # Ties: fewest utterances so far, then longest silent, then order of listing (min takes the first among equals).
    return min(
        candidates,
        key=lambda name: (-minds[name]["need_to_talk"], minds[name]["utterances"], minds[name]["last_spoke"]),
    )


def stop_reason(turn: int, settings: Settings) -> str:
    """Why the conversation ends now; empty while it goes on."""
    return "message_limit" if turn >= settings.max_messages else ""
