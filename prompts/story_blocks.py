"""Blocks of a story's prompts: the story as one character sees it. The words are in `templates/_story_item.jinja`.

No block tells the number of utterances: it would tell of talks that the character was not in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from persimchat.prompts.blocks import Block, Item, last_utterances
from persimchat.state.mind import Situation, Utterance
from persimchat.state.standing import strongest
from persimchat.state.story_mind import StoryMind, StorySituation


def story_scene(situation: Situation, story: StorySituation, name: str) -> Block:
    """Topic, participants, rules, and where the story stands."""
    items = [
        Item("topic", {"text": situation["topic"]}, prunable=False),
        Item("present", {"others": [other for other in situation["present"] if other != name]}),
        *(Item("rule", {"text": rule}) for rule in situation["rules"]),
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
    return Block("room", (*others, Item("room", {"public": room["public"]}, prunable=False)))


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
