"""Memory filtering: is the memory that leaves short-term memory worth keeping? (thesis, 4.1.1; specification, step 2).

It is asked in parallel with perceiving or thinking, so it lengthens no turn. What is kept without being asked: insights
on their way through short-term memory within one reflection, because they are a selection already.
"""

from __future__ import annotations

from persimchat.memory.recollection import similarity
from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.prompts.blocks import Item
from persimchat.state.judgement import Consolidation
from persimchat.state.memory import Memory
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def filter_memory(mind: Mind, settings: Settings) -> Mind:
    """Decide whether the memory in short-term memory will be kept; without `memory_filtering` it always is."""
    stm = mind.get("stm")
    if stm is None or not settings.memory_filtering:
        return {"keep": True}
    simulation, name = mind["situation"]["simulation"], mind["name"]
    nearest = await similarity(
        settings, simulation, name, Memory.model_validate(stm), mind["alive"], mind.get("unsaved", [])
    )
    shown = await shown_memories(mind, settings)
    answer = await ask(
        "memory_filtering",
        Consolidation,
        **question(mind, settings, "memory_filtering"),
        **common_blocks(mind, shown),
        leaving=Item("stm", stm),
        similarity=nearest,
    )
    return {"keep": answer.value.keep, "calls": [answer.call]}
