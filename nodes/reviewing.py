"""Reviewing: how a round has moved a character (Gu et al. 2024, the actions *reflect* and *update*).

The answer has a change for each of the others and for each belief, within a bound. It is never corrected: one outside
the bound is asked for once more, and after a second one nothing changes.
"""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import AWAKENING, asked, known_blocks, part_of_act, story_of
from persimchat.prompts import story_blocks
from persimchat.prompts.blocks import Block
from persimchat.state.emotion import EmotionalState
from persimchat.state.memory import new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import NEUTRAL, judged
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import review_schema


async def review(mind: Step, settings: Settings) -> Step:
    """Review the round; before the first one, judge the others by what is known of them."""
    story, own = story_of(mind), mind["story"]
    first = story["stage"] == AWAKENING
    answer = await appraise(
        "review",
        review_schema(tuple(own["closeness"]), 0 if first else len(own["beliefs"]), story["change"]),
        **asked(mind, settings, "review", f"round {story['round']}"),
        mends=False,
        **known_blocks(mind),
        cast=story_blocks.cast(story),
        happened=story_blocks.happened(story),
        beliefs=Block("beliefs", ()) if first else story_blocks.beliefs(own),
        closeness=story_blocks.closeness(own),
        first=first,
        change=story["change"],
    )
    made = answer.value
    if made is None:
        return {"story": part_of_act(mind, None), "arriving": [], "outcomes": judged([answer.call])}
    near, beliefs = made.changes()
    arriving = []
    if not first:
        turn, calm = mind["situation"]["turn"], EmotionalState().vector()
        arriving = [new_memory(mind["name"], turn, "review", made.reasoning, [], NEUTRAL, calm).model_dump()]
    found = {"reasoning": made.reasoning, "closeness": near, "beliefs": beliefs}
    return {"story": part_of_act(mind, found), "arriving": arriving, "outcomes": judged([answer.call])}
