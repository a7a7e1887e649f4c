"""The graphs that langgraph.json names, for LangGraph's server and Studio: one per kind of conversation.

Each graph's name gives its default settings: `debate` is a debate, `mad` is the baseline mad. Given settings override
these defaults.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.baselines import graph_for
from persimchat.graph.companion.companion import COMPANION, studio_graph
from persimchat.graph.context import PRESET, context_of
from persimchat.state.settings import Settings

Graph = CompiledStateGraph[Any, Any, Any, Any]

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "discussion": {"mode": "discussion"},
    "debate": {"mode": "debate"},
    "story": {"mode": "story"},
    "companion": COMPANION,
    "single_agent": {"mode": "discussion", "baseline": "single_agent"},
    "group_chat": {"mode": "discussion", "baseline": "group_chat"},
    "mad": {"mode": "debate", "baseline": "mad"},
    "mad_judge": {"mode": "debate", "baseline": "mad_judge"},
    "reconcile": {"mode": "debate", "baseline": "reconcile"},
}
"""The default settings of each graph."""


def named(name: str) -> Graph:
    """The graph of a name, with its context schema and its default settings.

    Args:
        name: one of `PRESETS`.
    """
    preset = PRESETS[name]
    made = studio_graph() if name == "companion" else graph_for(Settings(**preset))
    graph = made.with_config(configurable={PRESET: preset})
    return graph.copy({"name": name, "context_schema": context_of(name, preset)})


discussion = named("discussion")
debate = named("debate")
story = named("story")
companion = named("companion")
single_agent = named("single_agent")
group_chat = named("group_chat")
mad = named("mad")
mad_judge = named("mad_judge")
reconcile = named("reconcile")
