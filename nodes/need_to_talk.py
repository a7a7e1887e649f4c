"""Need to talk: how much an agent wants to speak next, 0–10 (thesis, 4.2.1; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import NeedToTalk
from persimchat.state.mind import Step
from persimchat.state.outcomes import NEUTRAL, judged
from persimchat.state.settings import Settings


async def judge_need_to_talk(mind: Step, settings: Settings) -> Step:
    """Judge the need to talk from the recalled memories, the emotional state and the progress of the conversation."""
    answer = await appraise(
        "need_to_talk",
        NeedToTalk,
        **question(mind, settings, "need_to_talk"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {**needed(mind, answer.value), "outcomes": judged([answer.call])}


def needed(mind: Step, judged: NeedToTalk | None) -> Step:
    """The need to talk from a judgement; an unusable answer (None) keeps the previous value, at first neutral."""
    if judged is None:
        return {"need_to_talk": mind.get("need_to_talk", NEUTRAL), "need_reasoning": ""}
    return {"need_to_talk": judged.need_to_talk, "need_reasoning": judged.reasoning}
