"""Blocks of a story's prompts: the story as one character sees it. The words are in `templates/_story_item.jinja`.

No block tells the number of utterances: it would tell of talks that the character was not in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ..state.minds.memory import Memory
from ..state.minds.mind import Situation, Utterance
from ..state.stories.support import StoryMind, StorySituation, strongest
from . import blocks
from .blocks import Block, Item, last_utterances


def story_scene(situation: Situation, story: StorySituation, name: str) -> Block:
    """Topic, participants, rules, and where the story stands."""
    items = [
        Item("topic", {"text": situation["topic"]}, prunable=False),
        Item("present", {"others": [other for other in situation["present"] if other != name]}),
        *(Item("rule", {"text": rule}, prunable=False) for rule in situation["rules"]),
        Item("story_time", {key: story[key] for key in ("round", "rounds", "stage")}, prunable=False),
    ]
    if story["decider"]:
        items.append(Item("decider", {"name": story["decider"]}))
    return Block("environment", tuple(items))


def cast(story: StorySituation) -> Block:
    """The other characters, as everybody knows them."""
    return Block("characters", tuple(Item("character", one) for one in story["cast"]))


def resources(story: StorySituation) -> Block:
    """All resources with their owners."""
    return Block("resources", tuple(Item("resource", one) for one in story["resources"]))


def aims(mind: StoryMind) -> Block:
    """The strongest beliefs, which say what a character is after now, and whom it supports if they do not say so."""
    own = [mind["beliefs"][place] for place in strongest(mind["beliefs"])]
    behind = mind["supports"] if all(belief["for"] != mind["supports"] for belief in own) else ""
    said = (Item("supports", {"name": behind}),) if behind else ()
    return Block("beliefs", (*(Item("aim", belief) for belief in own), *said))


def beliefs(mind: StoryMind) -> Block:
    """All beliefs with their scores, numbered from 1."""
    return Block(
        "beliefs",
        tuple(Item("belief", {"number": n, **one}, prunable=False) for n, one in enumerate(mind["beliefs"], start=1)),
    )


def closeness(mind: StoryMind) -> Block:
    """The closeness to each of the others, and whom the character supports."""
    near = [Item("closeness", {"to": to, "score": score}, prunable=False) for to, score in mind["closeness"].items()]
    behind = [Item("supports", {"name": mind["supports"]})] if mind["supports"] else []
    return Block("closeness", (*near, *behind))


def stock(mind: StoryMind) -> Block:
    """The last stocktaking: how the character sees its situation, and its next steps."""
    made = mind["stock"]
    if made is None:
        return Block("stock", ())
    steps = (Item("next_step", {"text": step}) for step in made.get("next_steps", ()))
    return Block("stock", (Item("stock", {"text": made["summary"]}), *steps))


def last_review(mind: StoryMind) -> Block:
    """The sentence of the last review."""
    return Block("review", (Item("review", {"text": mind["review"]}),) if mind["review"] else ())


def room(story: StorySituation) -> Block:
    """Who else is in the room, and whether the others know of the talk."""
    room = story["room"]
    if room is None:
        return Block("room", ())
    others = [Item("beside_me", other, prunable=False) for other in room["others"]]
    number = [Item("room_number", {key: room[key] for key in ("number", "of")})] if "number" in room else []
    return Block("room", (*others, Item("room", {"public": room["public"]}, prunable=False), *number))


def plan(topics: Sequence[str]) -> Block:
    """A host's plan for its room."""
    return Block("plan", tuple(Item("talking_point", {"number": n, "text": t}) for n, t in enumerate(topics, start=1)))


def happened(story: StorySituation) -> Block:
    """What the character knows has happened, oldest first."""
    return Block("happened", tuple(Item("happened", dict(one)) for one in story["happened"]))


def candidates(story: StorySituation, mind: StoryMind, name: str) -> Block:
    """Who, or what, may be chosen, each with the character's closeness if it is another character."""
    items = []
    for one in story["candidates"]:
        values: dict[str, Any] = {"name": one, "own": one == name, "closeness": mind["closeness"].get(one)}
        items.append(Item("candidate", values, prunable=False))
    return Block("candidates", tuple(items))


def words(recent: Sequence[Utterance], story: StorySituation, name: str) -> Block:
    """The last words in the room or the group. In a room all hear them, so they are not marked as whispers."""
    if story["room"] is None:
        return last_utterances(recent, name)
    return last_utterances([{**one, "heard_by": []} for one in recent], name)


def blocks_of_mind(
    situation: Situation,
    story: StorySituation,
    name: str,
    shown: Sequence[Memory],
    stm: Mapping[str, Any] | None,
    heard: Utterance | None,
    spoken: int,
) -> dict[str, Block]:
    """The blocks of a mind that hears and thinks in a story which differ from those of a conversation.

    Round, stage and room stand in place of the conversation's progress, and all times are those of the character's own
    clock: how many utterances it had heard. In a room, its words are not marked as whispers, for all there hear them.

    Args:
        situation: the story as the character sees it.
        story: the part of it on rounds, stages and rooms.
        name: the character's.
        shown: recalled memories within budget.
        stm: the memory in short-term memory.
        heard: the utterance just heard, if any.
        spoken: how often the character has spoken.
    """
    clock = story.get("heard", [])

    def own_time(turn: int) -> int:
        return bisect_right(clock, turn)

    scene = blocks.scene(situation, name)
    time = Item("story_time", {key: story[key] for key in ("round", "rounds", "stage")}, prunable=False)
    decider = [Item("decider", {"name": story["decider"]})] if story["decider"] else []
    counts = (Item("heard_so_far", {"count": len(clock)}), Item("spoken", {"count": spoken}))
    progress = Block("progress", (time, *decider, *room(story).items, *counts))
    there = story["room"] is not None
    unmarked: Any = {**heard, "heard_by": []} if heard and there else heard
    return {
        "memories": blocks.memories([one.model_copy(update={"turn": own_time(one.turn)}) for one in shown]),
        "short_term_memory": blocks.short_term_memory({**stm, "turn": own_time(stm["turn"])} if stm else None),
        "environment": Block("environment", (*scene.items, *progress.items)),
        "scene": scene,
        "progress": progress,
        "last_utterances": words(situation["recent"], story, name),
        **({"heard": blocks.heard(unmarked, name, situation["present"])} if heard else {}),
    }


def plan_in_story(mind: StoryMind) -> tuple[Item, ...]:
    """What a mind that hears and thinks has in mind besides its plan: last stocktaking, aims, a host's plan."""
    return (*stock(mind).items, *aims(mind).items, *plan(mind["plan"]).items)
