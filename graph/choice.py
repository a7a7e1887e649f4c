"""Which graph runs a simulation: the conversation of minds, or a baseline of the literature in its place."""

from __future__ import annotations

from typing import Any

from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.conversation import graph
from persimchat.state.settings import Settings


def graph_for(settings: Settings) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled graph that the settings ask for."""
    if settings.baseline is None:
        return graph
    from persimchat.graph.baselines import baseline_graph

    return baseline_graph(settings)
