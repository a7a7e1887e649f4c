"""The baselines of the literature: separate short graphs over the conversation's channels, for comparison.

They take the same input and context as the conversation of minds and fill the same channels, so code that follows a run
needs no special case for them. `graph_for` chooses between them and the conversation of minds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from persimchat.graph.baselines.group_chat import build_group_chat
from persimchat.graph.baselines.mad import build_mad
from persimchat.graph.baselines.mad_judge import build_mad_judge
from persimchat.graph.baselines.reconcile import build_reconcile
from persimchat.graph.baselines.single_agent import build_single_agent
from persimchat.graph.conversation import build_conversation, graph
from persimchat.graph.stories.story import build_story
from persimchat.state.settings import Settings

BUILDERS: Final[dict[str, Callable[..., CompiledStateGraph[Any, Any, Any, Any]]]] = {
    "single_agent": build_single_agent,
    "group_chat": build_group_chat,
    "mad": build_mad,
    "mad_judge": build_mad_judge,
    "reconcile": build_reconcile,
}
"""The builders of the baselines' graphs, by name in the settings; each takes a checkpointer."""

_OF_MINDS: Final = frozenset(
    {
        "cognition",
        "emotional_retrieval",
        "human_turns",
        "listeners",
        "ltm_capacity",
        "memory_filtering",
        "memory_tokens",
        "planning_and_reflection",
        "selection",
        "selection_temperature",
        "stm_retrieval",
        "weights",
    }
)
_OF_UTTERANCES: Final = frozenset(
    {
        "closing_need",
        "embedding",
        "judge_every",
        "judge_window",
        "prompt_order",
        "repetition_check",
        "repetition_overlap",
        "repetition_similarity",
        "repetition_window",
    }
)
_IN_ROUNDS: Final = _OF_MINDS | _OF_UTTERANCES | {"allow_repeated_speaker", "closing", "speech_register"}
UNHEEDED: Final[dict[str, frozenset[str]]] = {
    "single_agent": _OF_MINDS | _OF_UTTERANCES | {"rounds"},
    "group_chat": _OF_MINDS | {"rounds"},
    "mad": _IN_ROUNDS,
    "mad_judge": _IN_ROUNDS,
    "reconcile": _IN_ROUNDS,
}
"""Settings that change nothing in a baseline, by its name."""


def baseline_graph(settings: Settings, checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph of `settings.baseline`.

    Args:
        settings: with a baseline.
        checkpointer: a LangGraph saver, for which a new graph is built; without one, all callers share one graph.

    Raises:
        KeyError: the settings name no baseline.
    """
    name = settings.baseline or ""
    return _compiled(name) if checkpointer is None else BUILDERS[name](checkpointer)


@cache
def _compiled(name: str) -> CompiledStateGraph[Any, Any, Any, Any]:
    return BUILDERS[name]()


@cache
def _story() -> CompiledStateGraph[Any, Any, Any, Any]:
    return build_story()


def graph_for(settings: Settings, checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph that the settings ask for.

    Args:
        settings: `baseline` and `mode` are read.
        checkpointer: a LangGraph saver, for which a new graph is built; without one, all callers share one graph.
    """
    if settings.baseline is not None:
        return baseline_graph(settings, checkpointer)
    if settings.mode == "story":
        return _story() if checkpointer is None else build_story(checkpointer)
    return graph if checkpointer is None else build_conversation(checkpointer)
