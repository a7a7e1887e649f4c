"""Remembering: consolidate what was perceived, then recall what matters now (specification, steps 2 and 3).

No model is asked. Short-term memory holds one memory: a new one pushes the old one into long-term memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from persimchat.memory.consolidation import admit
from persimchat.memory.recollection import recall, remember
from persimchat.state.emotion import EMOTIONS
from persimchat.state.memory import Memory, new_memory
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def _pass_through_stm(mind: Mind, settings: Settings, arriving: Sequence[Memory]) -> Mind:
    """Pass memories through short-term memory into long-term memory, one after the other; the last one stays there.

    Whether the memory that is in short-term memory now is kept was decided before (`keep`); what arrives is not
    filtered on its way.
    """
    stm = mind.get("stm")
    passing = [*([Memory.model_validate(stm)] if stm else []), *arriving]
    leaving = [m for i, m in enumerate(passing[:-1]) if i > 0 or stm is None or mind.get("keep", True)]
    alive = mind["alive"]
    for memory in leaving:
        alive, _ = admit(alive, memory.id, mind["situation"]["turn"], settings.ltm_capacity, mind["pinned"])
    await remember(settings, mind["situation"]["simulation"], mind["name"], [*leaving, *arriving])
    unsaved = [*mind.get("unsaved", []), *(memory.model_dump() for memory in leaving)]
    return {
        "stm": passing[-1].model_dump() if passing else None,
        "alive": alive,
        "unsaved": [memory for memory in unsaved if memory["id"] in alive],
    }


async def remember_thoughts(mind: Mind, settings: Settings) -> Mind:
    """Take in what a reflection or a plan has made."""
    return await _pass_through_stm(mind, settings, [Memory.model_validate(m) for m in mind["arriving"]])


async def remember_utterance(mind: Mind, settings: Settings) -> Mind:
    """Put the percept into short-term memory, then recall from long-term memory what the focal points call up."""
    situation, name, percept = mind["situation"], mind["name"], mind["percept"]
    assert percept is not None  # perceive ran before
    emotion = [mind["emotion"][e] for e in EMOTIONS]
    memory = new_memory(
        name, situation["turn"], "perception", percept["theme"], percept["keywords"], percept["importance"], emotion
    )
    update = await _pass_through_stm(mind, settings, [memory])
    recalled = await recall(
        settings,
        situation["simulation"],
        name,
        alive=update["alive"],
        unsaved=update["unsaved"],
        stm=update["stm"],
        focal_points=mind["focal_points"],
        emotion=mind["emotion"],
        turn=situation["turn"],
    )
    now = {r["id"]: situation["turn"] for r in recalled}
    return {**update, "recalled": recalled, "alive": {**update["alive"], **now}}
