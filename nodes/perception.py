"""Perception: what an agent takes from an utterance (thesis, 4.1.1; specification, step 1)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question
from persimchat.state.judgement import Percept
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def perceive(mind: Mind, settings: Settings) -> Mind:
    """Draw theme, keywords and importance from the utterance just heard."""
    answer = await ask("perception", Percept, **question(mind, settings, "perception"), **common_blocks(mind))
    return {"percept": answer.value.model_dump(), "calls": [answer.call]}
