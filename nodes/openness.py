"""Openness to consensus: how ready an agent is for a common answer, 0–10 (thesis, 4.2.2; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Openness
from persimchat.state.mind import Step
from persimchat.state.outcomes import NEUTRAL, judged
from persimchat.state.settings import Settings


async def judge_openness(mind: Step, settings: Settings) -> Step:
    """Judge the openness to consensus in a debate; nothing is asked in a free discussion."""
    if mind["situation"]["debate"] is None:
        return {}
    answer = await appraise(
        "openness",
        Openness,
        **question(mind, settings, "openness"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {**opened(mind, answer.value), "outcomes": judged([answer.call])}


def opened(mind: Step, judged: Openness | None) -> Step:
    """The openness from a judgement; an unusable answer (None) keeps the previous value, at first neutral."""
    if judged is None:
        return {"openness": mind.get("openness", NEUTRAL), "openness_reasoning": ""}
    return {"openness": judged.openness, "openness_reasoning": judged.reasoning}
