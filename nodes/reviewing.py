"""Reviewing: how a round has moved a character (Gu et al. 2024, the actions *reflect* and *update*).

The answer has a change for each of the others and for each belief, within a bound. It is never corrected: one outside
the bound is asked for once more, and after a second one nothing changes.
"""

from __future__ import annotations

from persimchat.models.asking import appraise
from persimchat.nodes.story_context import AWAKENING, ablation_of, asked, known_blocks, part_of_act, story_of
from persimchat.prompts import story_blocks
from persimchat.prompts.blocks import Block
from persimchat.state.emotion import EmotionalState
from persimchat.state.memory import new_memory
from persimchat.state.mind import Step
from persimchat.state.outcomes import NEUTRAL, judged
from persimchat.state.settings import Settings
from persimchat.state.story_judgement import Sentenced, review_schema


def sentence_of(mind: Step) -> Sentenced:
    """Where the review has its sentence, which is a reason before the changes and a reflection to be kept.

    Without reflection there is none. Without thinking it comes behind the changes, so that it is no reason for them.
    """
    ablation = ablation_of(mind)
    if "reflection" in ablation:
        return ""
    return "afterthought" if "thinking" in ablation else "reasoning"


async def review(mind: Step, settings: Settings) -> Step:
    """Review the round; before the first one, judge the others by what is known of them."""
    story, own = story_of(mind), mind["story"]
    first = story["stage"] == AWAKENING
    sentence = sentence_of(mind)
    answer = await appraise(
        "review",
        review_schema(tuple(own["closeness"]), 0 if first else len(own["beliefs"]), story["change"], sentence),
        **asked(mind, settings, "review", f"round {story['round']}"),
        mends=False,
        **known_blocks(mind),
        cast=story_blocks.cast(story),
        happened=story_blocks.happened(story),
        beliefs=Block("beliefs", ()) if first else story_blocks.beliefs(own),
        closeness=story_blocks.closeness(own),
        first=first,
        sentence=sentence,
        change=story["change"],
    )
    made = answer.value
    if made is None:
        return {"story": part_of_act(mind, None), "arriving": [], "outcomes": judged([answer.call])}
    near, beliefs = made.changes()
    arriving = []
    told = made.sentence()
    if told and not first:
        turn, calm = mind["situation"]["turn"], EmotionalState().vector()
        arriving = [new_memory(mind["name"], turn, "review", told, [], NEUTRAL, calm).model_dump()]
    found = {"reasoning": told, "closeness": near, "beliefs": beliefs}
    return {"story": part_of_act(mind, found), "arriving": arriving, "outcomes": judged([answer.call])}
