"""Focal points: the questions that direct retrieval (thesis, 5.2.1; specification, step 3)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question
from persimchat.state.judgement import FocalPoints
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def wonder(mind: Mind, settings: Settings) -> Mind:
    """Ask the three most salient questions about what just happened."""
    answer = await ask("focal_points", FocalPoints, **question(mind, settings, "focal_points"), **common_blocks(mind))
    return {"focal_points": answer.value.questions, "calls": [answer.call]}
