"""Summarising: what a character keeps of a talk of two, or of its room (Gu et al. 2024, the action *summarise*)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import asked, known_blocks, part_of_act, schema_of, story_of, words_heard
from persimchat.prompts import story_blocks
from persimchat.state.emotion import EmotionalState
from persimchat.state.memory import new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import Summary


async def sum_up(mind: Step, settings: Settings) -> Step:
    """Sum the talk up; the summary is on its way into short-term memory. An unusable answer leaves no memory."""
    story = story_of(mind)
    answer = await appraise(
        "summary",
        schema_of(Summary, mind),
        **asked(mind, settings, "summary"),
        **known_blocks(mind),
        room=story_blocks.room(story),
        last_utterances=words_heard(mind),
        stage=story["stage"],
    )
    found = answer.value.model_dump() if answer.value is not None else None
    arriving = []
    if found is not None:
        calm = EmotionalState().vector()
        theme, keywords, importance = (found[name] for name in ("theme", "keywords", "importance"))
        turn = mind["situation"]["turn"]
        memory = new_memory(mind["name"], turn, "summary", theme, keywords, importance, calm)
        arriving = [memory.model_dump()]
    return {"story": part_of_act(mind, found), "arriving": arriving, "outcomes": judged([answer.call])}
