"""Action: what an agent does while another speaks: reflect or plan (thesis, 4.1.1; specification, step 4)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question, shown_memories
from persimchat.state.judgement import Action
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings


async def choose_action(mind: Step, settings: Settings) -> Step:
    """Choose between reflecting and planning; choose nothing if `planning_and_reflection` is off."""
    if not settings.planning_and_reflection:
        return {"action": ""}
    answer = await appraise(
        "action",
        Action,
        **question(mind, settings, "action"),
        **common_blocks(mind, await shown_memories(mind, settings)),
    )
    return {**chosen(mind, answer.value), "outcomes": judged([answer.call])}


def chosen(mind: Step, judged: Action | None) -> Step:
    """The next action; an unusable answer (None) keeps the previous choice, at first planning."""
    return {"action": judged.action if judged is not None else mind["action"] or "plan"}
