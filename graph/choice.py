"""Chooses the graph of a simulation: the conversation of minds, or a baseline of the literature."""

from __future__ import annotations

from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from persimchat.graph.conversation import build_conversation, graph
from persimchat.state.settings import Settings


def graph_for(settings: Settings, checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph that the settings ask for.

    Args:
        settings: `baseline` is read.
        checkpointer: a LangGraph saver, for which a new graph is built; without one, all callers share one graph.
    """
    if settings.baseline is not None:
        from persimchat.graph.baselines import baseline_graph

        return baseline_graph(settings, checkpointer)
    return graph if checkpointer is None else build_conversation(checkpointer)
