"""What a superstep has changed in a conversation's state, as events: pure functions on two states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persimchat.runs.events import Event, HandRaised, TopicChanged


def silences(state: Mapping[str, Any]) -> list[tuple[str, int, str, str]]:
    """Who is silent since when, at what and why."""
    minds = state.get("agents", {})
    silent = {name: mind["silent"] for name, mind in minds.items() if mind.get("silent")}
    return [(name, found["turn"], found["step"], found["why"]) for name, found in silent.items()]


def intervened(before: Mapping[str, Any], state: Mapping[str, Any], turn: int) -> list[Event]:
    """The events of an intervention: another topic, hands that were raised or lowered.

    Args:
        before: the state that it found.
        state: the state that it left.
        turn: utterances so far.
    """
    events: list[Event] = []
    if state["topic"] != before.get("topic"):
        events.append(TopicChanged(turn=turn, topic=state["topic"]))
    for name, mind in state["agents"].items():
        if mind.get("hand", False) != before["agents"][name].get("hand", False):
            events.append(HandRaised(turn=turn, agent=name, raised=mind["hand"]))
    return events
