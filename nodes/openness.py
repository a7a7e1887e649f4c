"""Openness to consensus: how ready an agent is for a common answer, 0–10 (thesis, 4.2.2; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Openness
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def judge_openness(mind: Mind, settings: Settings) -> Mind:
    """Judge the openness to consensus in a debate; nothing is asked in a free discussion."""
    if mind["situation"]["debate"] is None:
        return {}
    answer = await ask(
        "openness",
        Openness,
        **question(mind, settings, "openness"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {
        "openness": answer.value.openness,
        "openness_reasoning": answer.value.reasoning,
        "calls": [answer.call],
    }
