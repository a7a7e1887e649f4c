"""The emotion updater: a new emotional state after every utterance (thesis, 4.1.2; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.emotion import EmotionalState
from persimchat.state.judgement import Feeling
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def feel(mind: Step, settings: Settings) -> Step:
    """Update the emotional state from the previous one, personality, event, relationship with the speaker and history.

    Before the conversation, when there is no utterance yet, the state comes from persona and topic alone.
    """
    shown = await shown_memories(mind, settings) if mind.get("heard") else []
    answer = await appraise("emotion", Feeling, **question(mind, settings, "emotion"), **common_blocks(mind, shown))
    return {**felt(mind, answer.value), "outcomes": judged([answer.call])}


def felt(mind: Step, feeling: Feeling | None) -> Step:
    """The emotional state from a judgement; an unusable answer (None) keeps the previous state, at first calm."""
    if feeling is None:
        return {"emotion": mind["emotion"] or EmotionalState().model_dump()}
    return {"emotion": feeling.state().model_dump()}
