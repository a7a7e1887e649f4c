"""Summarising: what a character keeps of a talk of two, or of its room (Gu et al. 2024, the action *summarise*)."""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import asked, known_blocks, part_of_act, story_of, words_heard
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
        Summary,
        **asked(mind, settings, "summary"),
        **known_blocks(mind),
        room=story_blocks.room(story),
        last_utterances=words_heard(mind),
        stage=story["stage"],
    )
    made = answer.value
    arriving = []
    if made is not None:
        calm = EmotionalState().vector()
        memory = new_memory(
            mind["name"], mind["situation"]["turn"], "summary", made.theme, made.keywords, made.importance, calm
        )
        arriving = [memory.model_dump()]
    found = made.model_dump() if made is not None else None
    return {"story": part_of_act(mind, found), "arriving": arriving, "outcomes": judged([answer.call])}
