"""Choosing: whom a host talks to, and about what (Gu et al. 2024, the action *choose*)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import asked, known_blocks, part_of_act, schema_of, story_of
from persimchat.prompts import story_blocks
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import choice_schema


async def choose_partner(mind: Step, settings: Settings) -> Step:
    """Choose a partner for a talk, and plan it; after two unusable answers the host passes."""
    story = story_of(mind)
    answer = await appraise(
        "choice",
        schema_of(choice_schema(tuple(story["candidates"]), story["exchanges"]), mind),
        **asked(mind, settings, "choice", f"act {mind['act']}"),
        mends=False,
        **known_blocks(mind),
        options=story_blocks.candidates(story, mind["story"], mind["name"]),
        names=story["candidates"],
        public=story["stage"] == "confidential",
        exchanges=story["exchanges"],
    )
    made = answer.value.model_dump() if answer.value is not None else None
    return {"story": part_of_act(mind, made), "outcomes": judged([answer.call])}
