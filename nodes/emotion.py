"""The emotion updater: a new emotional state after every utterance (thesis, 4.1.2; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Feeling
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def feel(mind: Mind, settings: Settings) -> Mind:
    """Feel anew: from the previous state, personality, event, relationship with the speaker and history.

    Before the conversation, when nothing was heard, the state comes from persona and topic alone.
    """
    shown = await shown_memories(mind, settings) if mind.get("heard") else []
    answer = await ask("emotion", Feeling, **question(mind, settings, "emotion"), **common_blocks(mind, shown))
    return {"emotion": answer.value.state().model_dump(), "calls": [answer.call]}
