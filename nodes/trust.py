"""Trust: how the words just heard change a companion's trust in the person who said them (design, 1.4)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import TrustChange
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def judge_trust(mind: Step, settings: Settings) -> Step:
    """Ask how trust changes; the arithmetic is in state/trust.py."""
    shown = await shown_memories(mind, settings)
    answer = await appraise("trust", TrustChange, **question(mind, settings, "trust"), **common_blocks(mind, shown))
    return {**trusted(mind, answer.value), "outcomes": judged([answer.call])}


def trusted(mind: Step, change: TrustChange | None) -> Step:
    """The change from a judgement; an unusable answer (None) changes nothing."""
    return {"trust_change": change.model_dump() if change is not None else None}
