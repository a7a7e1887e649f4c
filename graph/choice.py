"""Which graph runs a simulation: the conversation of minds, or a baseline of the literature in its place."""

from __future__ import annotations

from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from persimchat.graph.conversation import build_conversation, graph
from persimchat.state.settings import Settings


def graph_for(settings: Settings, checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph that the settings ask for.

    Args:
        settings: whose `baseline` counts.
        checkpointer: a LangGraph saver, for which a graph of its own is built; without one, everybody gets the same.
    """
    if settings.baseline is not None:
        from persimchat.graph.baselines import baseline_graph

        return baseline_graph(settings, checkpointer)
    return graph if checkpointer is None else build_conversation(checkpointer)
