"""The blocks of a story's prompts, as one character sees its story."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from ...prompts import blocks, story_blocks
from ...prompts.blocks import Block
from ...state.minds.judgement import Judgement
from ...state.minds.mind import Step
from ...state.settings import Settings
from ...state.stories.judgement import without
from ...state.stories.story import Ablation
from ...state.stories.support import StoryMind, StorySituation
from ...state.visibility import heard_by
from ..minds.context import persona_of, question

AWAKENING: Final = "awakening"
"""The stage of first impressions, which change closeness alone and are no memory."""
UPDATE: Final = "update"
SETTLEMENT: Final = "settlement"
"""What stands for a stage before the first round, at the end of a round, and after the last one."""

_FIELDS: Final[dict[Ablation, tuple[str, ...]]] = {"planning": ("next_steps", "plan"), "thinking": ("reasoning",)}
"""The fields of answers that an ablation takes away; a review's sentence is thinking and reflection in one, see
`nodes/stories/acting.py`."""


def story_of(mind: Step) -> StorySituation:
    """The story as the character sees it in this act."""
    return cast(StorySituation, mind["situation"].get("story"))


def ablation_of(mind: Step) -> list[Ablation]:
    """What the minds of the story go without."""
    return story_of(mind).get("ablation", [])


def schema_of(schema: type[Judgement], mind: Step) -> type[Judgement]:
    """The schema of an answer without the fields that belong to what the minds of the story go without."""
    return without(schema, *(name for part in ablation_of(mind) for name in _FIELDS.get(part, ())))


def room_of(mind: Step) -> list[str] | None:
    """Who else is in the room in which the character speaks; None outside stories and rooms."""
    story = mind["situation"].get("story")
    return [other["name"] for other in story["room"]["others"]] if story and story["room"] else None


def known_blocks(mind: Step) -> dict[str, Any]:
    """What every prompt of a story begins with: who I am, my relationships and goals, and where the story stands."""
    situation, name = mind["situation"], mind["name"]
    return {
        "basic_information": blocks.basic_information(persona_of(mind)),
        "relationships": blocks.relationships(situation),
        "goals": blocks.goals(mind),
        "environment": story_blocks.story_scene(situation, story_of(mind), name),
        "aims": story_blocks.aims(mind["story"]),
        "stock": story_blocks.stock(mind["story"]),
        "ablation": ablation_of(mind),
    }


def words_heard(mind: Step) -> Block:
    """The last words in the room or the group, as far as the character heard them."""
    situation, name = mind["situation"], mind["name"]
    return story_blocks.words(heard_by(situation["recent"], name), story_of(mind), name)


def speech_blocks(mind: Step) -> dict[str, Block]:
    """The blocks of an utterance, by the letters of the setting `prompt_order`.

    What happened stands in the memories' place, and the last stocktaking in the plan's. A host is told its own plan; in
    the group, all know the resources.
    """
    situation, name, own, story = mind["situation"], mind["name"], mind["story"], story_of(mind)
    aims = story_blocks.aims(own).items
    plan = (*story_blocks.stock(own).items, *aims, *blocks.goals(mind).items, *story_blocks.plan(own["plan"]).items)
    scene = story_blocks.story_scene(situation, story, name).items
    around = story_blocks.room(story).items if story["room"] is not None else story_blocks.resources(story).items
    return {
        "b": blocks.basic_information(persona_of(mind), knowledge=True),
        "n": Block("needs_and_emotions", ()),
        "r": blocks.relationships(situation),
        "m": story_blocks.happened(story),
        "p": Block("plan_and_identity", plan),
        "e": Block("environment", (*scene, *around)),
        "c": words_heard(mind),
    }


def talk_blocks(mind: Step, common: Mapping[str, Block]) -> dict[str, Block]:
    """The blocks of an utterance of a mind that hears and thinks, which has more to say than in a conversation.

    Its own summaries of this round's talks stand with its memories; stocktaking, aims and a host's plan with its plan.

    Args:
        mind: the speaker's.
        common: the blocks that all its modules have.
    """
    own, story = mind["story"], story_of(mind)
    kept = story_blocks.happened(story).items
    return {
        "memories": Block("memories", (*common["memories"].items, *kept)),
        "plan_and_identity": Block(
            "plan_and_identity", (*common["plan_and_identity"].items, *story_blocks.plan_in_story(own))
        ),
    }


def place_of_talk(mind: Step) -> str:
    """Where a mind that hears and thinks speaks: "room", "plenary", as its room's "report", or as a last "speech"."""
    if story_of(mind)["room"] is not None:
        return "room"
    return mind.get("asks") or "plenary"


def part_of_act(mind: Step, answer: dict[str, Any] | None) -> StoryMind:
    """The story's part of a mind that has done its part of an act.

    Args:
        mind: with the number of the act.
        answer: what it answered; None if its answers were unusable.
    """
    return {**mind["story"], "done": mind["act"], "answer": answer}


def asked(mind: Step, settings: Settings, module: str, part: str = "") -> dict[str, Any]:
    """The arguments of `models.asking` that say who asks, and what distinguishes the exchange from others of a turn."""
    return {**question(mind, settings, module), "part": part}
