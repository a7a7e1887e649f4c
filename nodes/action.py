"""Action: what an agent will do while somebody else speaks, reflect or plan (thesis, 4.1.1; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import ask
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Action
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def choose_action(mind: Mind, settings: Settings) -> Mind:
    """Choose between reflecting and planning; nothing is chosen where `planning_and_reflection` is off."""
    if not settings.planning_and_reflection:
        return {"action": ""}
    answer = await ask(
        "action",
        Action,
        **question(mind, settings, "action"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {"action": answer.value.action, "calls": [answer.call]}
