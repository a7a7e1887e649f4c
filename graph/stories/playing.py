"""What a person who plays a character is asked: pure functions of the story's state.

A question holds all that the character knows, which is what `is_heard` allows, and nothing else. Unlike a model's
prompt it leaves out nothing that is old: a person has no summaries to remember by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from persimchat.graph.situation import situation_of
from persimchat.graph.stories.agenda import stage_name
from persimchat.graph.stories.situation import candidates_in, cast_of, resources_in, room_seen
from persimchat.graph.stories.talks import OUTSIDE_STAGES, said_since
from persimchat.state.mind import Step, in_step
from persimchat.state.person_answer import Knowledge, Learned, StoryQuestion
from persimchat.state.settings import Settings
from persimchat.state.story import Story
from persimchat.state.story_state import StoryState
from persimchat.state.visibility import is_heard

_KEPT: Final = ("name", "emotion", "utterances", "last_spoke", "silent", "human", "story")
"""The keys of a mind that a person's part of an act needs."""
_LEARNED: Final = ("stage", "met", "choice", "guess", "ballot", "closed_ballot")
"""What happened beside words that a person is told of; where they stand is told apart, and the outcome at the end."""


def for_person(state: StoryState, name: str, story: Story, settings: Settings) -> Step:
    """A person's mind with its input for the present act.

    Args:
        state: the story.
        name: whose part the person takes.
        story: its section of the scenario.
        settings: of the simulation.
    """
    act, mind = state["act"], cast(Mapping[str, Any], state["agents"][name])
    situation = situation_of(state, name, settings, window=1)
    situation["recent"] = []
    more: dict[str, Any] = {"asks": act.get("asks", "")} if act["do"] == "ballot" else {}
    question = question_to(state, name, story, settings)
    return in_step(
        {key: mind[key] for key in _KEPT if key in mind}, situation=situation, act=act["n"], question=question, **more
    )


def question_to(state: StoryState, name: str, story: Story, settings: Settings) -> StoryQuestion:
    """The part `story` of the question to a person in the present act; a ballot's kind is not in it yet."""
    act = state["act"]
    left = {"speak": (act["left"] + 1) // 2, "address": act["left"] if act["stage"] != OUTSIDE_STAGES else 1}
    room = room_seen(state, name, story) if act["do"] == "speak" else None
    return {
        "act": act["n"],
        "round": state["round"],
        "rounds": settings.rounds,
        "stage": stage_name(state, story, settings),
        "ballot": "",
        "candidates": candidates_in(state, name, story, act),
        "left": left.get(act["do"], 0),
        "room": {"others": [one["name"] for one in room["others"]], "public": room["public"]} if room else None,
        "knows": known_to(state, name, story, settings),
    }


def known_to(state: StoryState, name: str, story: Story, settings: Settings) -> Knowledge:
    """All that a character knows."""
    mind = state["agents"][name]
    own = mind["story"]
    return {
        "topic": state["topic"],
        "rules": state["rules"],
        "name": name,
        "description": str(mind["persona"].get("description", "")),
        "known_as": story.characters[name].known_as,
        "main": own["main"],
        "goals": mind["goals"],
        "relationships": situation_of(state, name, settings, window=1)["relationships"],
        "beliefs": own["beliefs"],
        "closeness": own["closeness"],
        "supports": own["supports"],
        "cast": cast_of(story, name),
        "resources": resources_in(state, story),
        "decider": story.settlement.decider if story.settlement is not None else "",
        "heard": learned(state, name),
    }


def learned(state: StoryState, name: str) -> list[Learned]:
    """Everything that a character has heard or done, oldest first."""
    said = said_since(state, 0)
    # What happened after as many utterances as a word's number comes after this word.
    events: list[tuple[int, bool, Any]] = [
        *((one["turn"], False, one) for one in said),
        *((one["turn"], True, one) for one in state["happenings"]),
    ]
    at = {"round": 0, "stage": ""}
    found: list[Learned] = []
    for _, happened, one in sorted(events, key=lambda event: event[:2]):
        if happened:
            at = {"round": one["round"], "stage": one["stage"]}
        if not is_heard(one, name) or (happened and one["do"] not in _LEARNED):
            continue
        if happened:
            what = {"do": one["do"], "others": one.get("others", []), "text": one.get("choice", "")}
        else:
            what = {"do": "words", "others": one.get("heard_by") or [], "text": one["text"]}
        found.append(cast(Learned, {**at, "who": one["speaker"], **what}))
    return found
