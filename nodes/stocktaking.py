"""Stocktaking: how a character sees its situation before it acts (Gu et al. 2024, the action *perceive*)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import asked, known_blocks, part_of_act, schema_of, story_of
from persimchat.prompts import story_blocks
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import Stock


async def take_stock(mind: Step, settings: Settings) -> Step:
    """Take stock of characters, resources and what happened; after an unusable answer, the last one stays."""
    story = story_of(mind)
    answer = await appraise(
        "stocktaking",
        schema_of(Stock, mind),
        **asked(mind, settings, "stocktaking", f"act {mind['act']}"),
        **known_blocks(mind),
        cast=story_blocks.cast(story),
        resources=story_blocks.resources(story),
        last_review=story_blocks.last_review(mind["story"]),
        happened=story_blocks.happened(story),
    )
    made = answer.value.model_dump() if answer.value is not None else None
    return {"story": part_of_act(mind, made), "outcomes": judged([answer.call])}
