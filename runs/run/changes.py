"""What a superstep has changed in a conversation's state, as events: pure functions on two states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persimchat.models.recording import Request
from persimchat.nodes.at_once import asked_as
from persimchat.runs.events import Event, HandRaised, Shortened, TopicChanged
from persimchat.state.errors import ModelError
from persimchat.state.outcomes import hopeless
from persimchat.state.settings import Settings


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


def shortened(request: Request) -> Shortened:
    """That a prompt did not fit its model's context, and what was left out of it."""
    memories, said = request.dropped
    return Shortened(
        turn=request.turn,
        agent=request.agent,
        module=request.module,
        model=request.name.written,
        context_tokens=request.context or 0,
        memories=memories,
        utterances=said,
    )


def too_weak(state: Mapping[str, Any], settings: Settings, run: str) -> ModelError | None:
    """The error with which a conversation has stopped by itself: answers that are of no use to anybody.

    Args:
        state: as the conversation has left it.
        settings: of the simulation.
        run: its id, for the command with which it goes on.
    """
    module = hopeless(state.get("streaks") or {}) if state.get("stop_reason") == "error" else None
    if module is None:
        return None
    answering = asked_as(module, settings)
    own = answering in settings.module_models
    other = f"--set 'module_models={{{answering}: …}}'" if own else "--model …"
    return ModelError(
        state["stop_detail"].rstrip("."),
        model="",
        turn=state["turn"],
        remedy=f"Go on with another model: persimchat resume {run} {other}",
    )
