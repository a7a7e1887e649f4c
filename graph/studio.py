"""The graphs that langgraph.json names, for LangGraph's server and Studio: one for each way to hold a conversation.

Each is what its name says without any setting: `debate` debates, `mad` is the baseline mad. Given settings still count.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.choice import graph_for
from persimchat.graph.context import PRESET, context_of
from persimchat.state.settings import Settings

Graph = CompiledStateGraph[Any, Any, Any, Any]

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "discussion": {"mode": "discussion"},
    "debate": {"mode": "debate"},
    "single_agent": {"mode": "discussion", "baseline": "single_agent"},
    "mad": {"mode": "debate", "baseline": "mad"},
    "mad_judge": {"mode": "debate", "baseline": "mad_judge"},
    "reconcile": {"mode": "debate", "baseline": "reconcile"},
}
"""The settings that a graph's name stands for."""


def named(name: str) -> Graph:
    """The graph of a name, with the context schema and the defaults that go with it.

    Args:
        name: one of `PRESETS`.
    """
    preset = PRESETS[name]
    graph = graph_for(Settings(**preset)).with_config(configurable={PRESET: preset})
    return graph.copy({"name": name, "context_schema": context_of(name, preset)})


discussion = named("discussion")
debate = named("debate")
single_agent = named("single_agent")
mad = named("mad")
mad_judge = named("mad_judge")
reconcile = named("reconcile")
