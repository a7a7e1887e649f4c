"""Edges of a story whose minds hear and think: who thinks beside the next words, and who hears those just said.

Nothing is sent in a story of strategists. `is_heard` decides who hears.
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.types import Send

from persimchat.graph import phases
from persimchat.graph.edges import hearers
from persimchat.graph.node import current_settings
from persimchat.graph.routing import is_silent
from persimchat.graph.stories.agenda import story_in
from persimchat.graph.stories.situation import for_mind
from persimchat.graph.stories.talks import hears, room_of, said_since
from persimchat.state.conversation import participants
from persimchat.state.settings import Settings
from persimchat.state.story_state import StoryState


def thinkers(state: StoryState, settings: Settings) -> list[str]:
    """Who thinks beside the words of the present act: all others where they are said, in order of listing.

    As in a conversation, a mind thinks once before an utterance, and a silent one not at all. One that has heard
    nothing yet plans.
    """
    act, turn = state["act"], state["turn"]
    if not hears(settings) or not settings.planning_and_reflection or act["do"] not in ("speak", "address"):
        return []

    def room(name: str) -> str:
        return room_of(state["rooms"], act, state["round"], name)

    where = {room(name) for name in act["who"]}
    minds = [mind for name, mind in participants(state).items() if name not in act["who"] and room(name) in where]
    awake = (mind for mind in minds if not mind.get("human") and not is_silent(mind, turn))
    return [mind["name"] for mind in awake if mind.get("thought", 0) <= turn]


def others_think(state: StoryState, settings: Settings) -> list[Send]:
    """The tasks of those who think beside the words of the present act."""
    story = story_in(state)
    names = thinkers(state, settings)
    return [Send(phases.THINK, for_mind(state, name, story, settings, thinks=True)) for name in names]


def what_each_did(state: StoryState, speakers: list[str], settings: Settings) -> dict[str, dict[str, Any]]:
    """What each mind did while the words after utterance `turn` were made; nothing in a story of strategists."""
    if not hears(settings):
        return {}
    turn = state["turn"] + 1
    thought = {
        name: mind["action"] or "plan" if mind.get("thought") == turn else ""
        for name, mind in participants(state).items()
    }
    return {name: {"did": "speak" if name in speakers else did} for name, did in thought.items()}


def all_hear(state: StoryState) -> list[Send] | Literal["agenda"]:
    """Route: those who hear the words just said take them in, each what was said where it is; else the agenda."""
    settings = current_settings()
    if not hears(settings):
        return "agenda"
    story = story_in(state)
    return [
        Send(phases.HEAR, for_mind(state, name, story, settings, heard=said))
        for said in said_since(state, state["checked"])
        for name in hearers(state, said)
    ] or "agenda"
