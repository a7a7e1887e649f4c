"""Awakening: an agent's mind before the first utterance (specification, *At the start*)."""

from __future__ import annotations

from typing import Any, cast

from ...memory.recollection import remember
from ...state.minds.emotion import EmotionalState
from ...state.minds.memory import MOST_IMPORTANT, Memory, given_memories, goals_memory, new_memory, profile_memory
from ...state.minds.mind import Mind, Recalled, Step
from ...state.outcomes import NEUTRAL
from ...state.settings import Settings
from .appraising import as_able
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
    return {**await settle(mind, settings), **unfelt(mind, settings)}


def unfelt(mind: Mind, settings: Settings) -> Mind:
    """What a mind has that felt nothing yet: calm, neutral need to talk and openness, so far as it has them at all.

    A judge has neither need to talk nor openness.
    """
    if settings.cognition == "fixed":
        return {}
    gone, own = settings.left_out, Mind()
    if "emotion" not in gone:
        own["emotion"] = EmotionalState().model_dump()
    if "need_to_talk" not in gone and "role" not in mind:
        own |= {"need_to_talk": NEUTRAL, "need_reasoning": ""}
    if settings.mode == "debate" and "openness" not in gone and "role" not in mind:
        own |= {"openness": NEUTRAL, "openness_reasoning": ""}
    return own


def able_to_change(mind: Mind, settings: Settings) -> Mind:
    """A mind with all that it has from now on, calm and neutral where it had nothing, and nothing of what is left out.

    Args:
        mind: of a conversation, where a branch begins.
        settings: of the branch.
    """
    if "own" in mind:
        mind = {**mind, "own": {name: judged for name, judged in mind["own"].items() if name in settings.modules}}
    if settings.mode == "story" or not mind["alive"]:
        return mind
    own, whole = unfelt(mind, settings), unfelt(mind, settings.model_copy(update={"ablation": []}))
    kept: dict[str, Any] = {name: value for name, value in mind.items() if name in own or name not in whole}
    missing = {name: value for name, value in own.items() if kept.get(name, {}) == {}}
    planless = {"plan": None} if "planning" in settings.ablation else {}
    acts = as_able({"action": mind["action"]}, settings)
    return cast(Mind, {"emotion": {}, **kept, **missing, **planless, **acts})
