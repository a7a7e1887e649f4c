"""The answer to a poll: drawn by lot, for this model has no opinion that a poll could find."""

from __future__ import annotations

from typing import Any, Final

from persimchat.models.offline.prompt import Prompt
from persimchat.models.offline.randomness import generator

BY_LOT: Final = "This answer is drawn by lot: the offline model has no opinions of its own."
_MOST: Final = 100
"""The highest number that it draws where any number is an answer."""


def poll(prompt: Prompt, seed: int) -> dict[str, Any]:
    """`PollReply`."""
    possible = prompt.possible or tuple(map(str, range(_MOST + 1)))
    drawn = generator(seed, "poll", prompt.name, prompt.turn, prompt.question, *possible).choice(possible)
    return {"reasoning": BY_LOT, "answer": drawn}
