"""Need to talk: how much an agent wants to speak next, 0–10 (thesis, 4.2.1; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import NeedToTalk
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def judge_need_to_talk(mind: Mind, settings: Settings) -> Mind:
    """Judge the need to talk from what was recalled, the emotional state and how far the conversation is."""
    answer = await ask(
        "need_to_talk",
        NeedToTalk,
        **question(mind, settings, "need_to_talk"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {
        "need_to_talk": answer.value.need_to_talk,
        "need_reasoning": answer.value.reasoning,
        "calls": [answer.call],
    }
