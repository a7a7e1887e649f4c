"""Memory filtering: is the memory that leaves short-term memory worth keeping? (thesis, 4.1.1; specification, step 2).

The model is asked in parallel with perceiving or thinking, so no turn becomes longer. Insights on their way through
short-term memory within one reflection are kept without asking, because they are a selection already.
"""

from __future__ import annotations

from persimchat.memory.recollection import similarity
from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Consolidation
from persimchat.state.memory import Memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def filter_memory(mind: Step, settings: Settings) -> Step:
    """Decide whether the memory in short-term memory will be kept; without `memory_filtering` it always is.

    An unusable answer keeps it, too.
    """
    stm = mind.get("stm")
    if stm is None or not settings.memory_filtering:
        return {"keep": True}
    simulation, name = mind["situation"]["simulation"], mind["name"]
    nearest = await similarity(
        settings, simulation, name, Memory.model_validate(stm), mind["alive"], mind.get("unsaved", [])
    )
    common = common_blocks(mind, await shown_memories(mind, settings))
    answer = await appraise(
        "memory_filtering",
        Consolidation,
        **question(mind, settings, "memory_filtering"),
        **common,
        leaving=common["short_term_memory"].items[0],
        similarity=nearest,
    )
    return {"keep": answer.value is None or answer.value.keep, "outcomes": judged([answer.call])}
