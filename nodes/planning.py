"""Planning: revise one's identity, decide how to react, hold on to the goals (thesis, 5.2.1; specification, step 5)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.emotion import EMOTIONS
from persimchat.state.judgement import Plan
from persimchat.state.memory import new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def plan(mind: Step, settings: Settings) -> Step:
    """Make a plan: theme and keywords are for short-term memory, the rest shapes what the agent says.

    After an unusable answer, the previous plan stays.
    """
    answer = await appraise(
        "planning",
        Plan,
        **question(mind, settings, "planning"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    made = answer.value
    if made is None:
        return {"arriving": [], "outcomes": judged([answer.call])}
    memory = new_memory(
        mind["name"],
        mind["situation"]["turn"],
        "plan",
        made.theme,
        made.keywords,
        made.importance,
        [mind["emotion"][name] for name in EMOTIONS],
    )
    return {"arriving": [memory.model_dump()], "plan": made.model_dump(), "outcomes": judged([answer.call])}
