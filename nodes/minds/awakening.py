"""Awakening: an agent's mind before the first utterance (specification, *At the start*)."""

from __future__ import annotations

from ...memory.recollection import remember
from ...state.minds.emotion import EmotionalState
from ...state.minds.memory import MOST_IMPORTANT, Memory, given_memories, goals_memory, new_memory, profile_memory
from ...state.minds.mind import Mind, Recalled, Step
from ...state.outcomes import NEUTRAL
from ...state.settings import Settings
from .context import persona_of


async def settle(mind: Step, settings: Settings) -> Step:
    """Put profile, topic and, if there are any, social goals and given memories into long-term memory, in that order.

    All are recalled but the given memories; their importance is the greatest, and they are never pruned. Given memories
    are as any other; a mind that stays as it is has recalled them all, in their order.
    """
    persona, situation = persona_of(mind), mind["situation"]
    calm = EmotionalState().vector()
    topic = new_memory(mind["name"], 0, "topic", situation["topic"], [], MOST_IMPORTANT, calm)
    first = [profile_memory(persona), topic]
    if mind["goals"]:
        first.append(goals_memory(mind["name"], mind["goals"]))
    given = given_memories(persona)
    every = [*first, *given]
    await remember(settings, situation["simulation"], mind["name"], every)
    update: Step = {
        "alive": {memory.id: 0 for memory in every},
        "pinned": [memory.id for memory in first],
        "unsaved": [memory.model_dump() for memory in every],
    }
    if given and settings.cognition == "fixed":
        update["recalled"] = [_always_recalled(memory) for memory in given]
    return update


def _always_recalled(memory: Memory) -> Recalled:
    """A given memory as a recalled one; nothing was compared."""
    return {
        "id": memory.id,
        "focal_point": 0,
        "score": 0.0,
        "recency": 0.0,
        "importance": 0.0,
        "relevance": 0.0,
        "emotional": 0.0,
        "stm_relevance": 0.0,
    }


async def settle_unfelt(mind: Step, settings: Settings) -> Step:
    """As `settle`, for an agent whose model fails: calm, with neutral need to talk and openness."""
    return {**await settle(mind, settings), **unfelt(settings)}


def unfelt(settings: Settings) -> Mind:
    """What a mind has that felt nothing yet: calm, neutral need to talk and openness; nothing with fixed cognition."""
    if settings.cognition == "fixed":
        return {}
    own: Mind = {"emotion": EmotionalState().model_dump(), "need_to_talk": NEUTRAL, "need_reasoning": ""}
    if settings.mode == "debate":
        own |= {"openness": NEUTRAL, "openness_reasoning": ""}
    return own


def able_to_change(mind: Mind, settings: Settings) -> Mind:
    """A mind that may change from now on; one that has felt nothing so far is calm and neutral.

    Args:
        mind: of a conversation, where a branch begins.
        settings: of the branch.
    """
    stayed = settings.mode != "story" and mind["alive"] and not mind["emotion"]
    return {**mind, **unfelt(settings)} if stayed else mind
