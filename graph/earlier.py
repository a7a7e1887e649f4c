"""Reads the states of earlier versions as states of this version.

Version 1 kept the persona judge's mind in its own channel and nodes, and summed up the use of requests in the state.
The other channels have not changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph import phases
from persimchat.state.conversation import Conversation, Minds
from persimchat.state.story_state import StoryState

_NODES: Final = (*phases.ALL, "judge_awakens", "judge_hears", "judge_thinks")
"""Nodes of all versions and of all graphs."""


_OF_STORIES: Final = StoryState.__annotations__.keys() - Conversation.__annotations__.keys()
"""The channels that only stories have."""


class _Earlier(StoryState, total=False):
    """The channels of all versions and of all graphs."""

    judge_mind: Minds


def reader(saver: BaseCheckpointSaver[Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """A graph that reads the states of all versions and of all graphs; it runs no conversation.

    The conversation's graph can continue from a state that this graph writes as `phases.OUTSIDE` or `phases.AT_END`.

    Args:
        saver: the saver of the checkpoints.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(_Earlier)
    for name in _NODES:
        builder.add_node(name, _nothing)
    builder.add_edge(START, phases.ASSEMBLE)
    builder.add_edge(phases.OUTSIDE, phases.TURN_END)
    return builder.compile(checkpointer=saver)


def _nothing(state: Any) -> dict[str, Any]:
    return {}


def as_of_today(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a state in the channels of this version.

    Args:
        values: of a state of any version; not changed.
    """
    state = {name: value for name, value in values.items() if "story" in values or name not in _OF_STORIES}
    judges = state.pop("judge_mind", None) or {}
    if judges:
        state["agents"] = {**state["agents"], **{name: {**mind, "role": "judge"} for name, mind in judges.items()}}
    return state
