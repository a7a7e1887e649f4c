"""The graphs that langgraph.json names, for LangGraph's server and Studio: one per kind of conversation.

Each graph's name gives its default settings: `debate` is a debate, `mad` is the baseline mad. Given settings override
these defaults.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.companion.companion import COMPANION, studio_graph
from persimchat.graph.context import PRESET, context_of
from persimchat.graph.kinds import graph_for
from persimchat.state import kinds
from persimchat.state.settings import Settings

Graph = CompiledStateGraph[Any, Any, Any, Any]

_CHOSEN: Final = [kinds.chosen_by(kind) for kind in kinds.conversations() if len(kind.CHOSEN) < 2]
PRESETS: Final[dict[str, dict[str, Any]]] = {
    **{chosen.get("baseline") or chosen["mode"]: chosen for chosen in _CHOSEN},
    "companion": COMPANION,
}
"""The default settings of each graph."""


def named(name: str) -> Graph:
    """The graph of a name, with its context schema and its default settings.

    Args:
        name: one of `PRESETS`.
    """
    preset = PRESETS[name]
    companion = name == "companion"
    made = studio_graph() if companion else graph_for(Settings(**preset))
    kind = kinds.Companion if companion else Settings(**preset).kind
    graph = made.with_config(configurable={PRESET: preset})
    return graph.copy({"name": name, "context_schema": context_of(name, preset, kind)})


discussion = named("discussion")
debate = named("debate")
story = named("story")
companion = named("companion")
single_agent = named("single_agent")
group_chat = named("group_chat")
mad = named("mad")
mad_judge = named("mad_judge")
reconcile = named("reconcile")
