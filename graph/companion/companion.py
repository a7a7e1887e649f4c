"""The companion's graph: attend ─▶ answer ─▶ digest ─▶ look_back, one run for each occurrence.

The words to a message are two supersteps deep and one request. This module is wiring only.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Checkpointer

from persimchat.graph.companion.answering import answer
from persimchat.graph.companion.attending import attend
from persimchat.graph.companion.consolidating import look_back
from persimchat.graph.companion.digesting import digest
from persimchat.graph.context import Context
from persimchat.graph.node import TRANSIENT, module_node, route
from persimchat.state.companion_state import CompanionInput, CompanionOutput, CompanionState

COMPANION: Final[dict[str, Any]] = {"cognition": "lean", "ltm_capacity": 2_000}
"""The settings of companions that differ from those of conversations."""


def companion_graph(
    checkpointer: Checkpointer = None, store: BaseStore | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled companion, for `invoke`, `ainvoke`, `stream` and `astream`.

    Who talks with whom is in the settings `companion.world`, `companion.agent` and `companion.person`.

    Args:
        checkpointer: keeps the threads; without one, a talk has no transcript.
        store: keeps places, minds and ties; None: this process only. LangGraph's server gives its own.
    """
    return _builder().compile(checkpointer, store=InMemoryStore() if store is None else store, name="companion")


def studio_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled companion for LangGraph's server, which gives it checkpointer and store."""
    return _builder().compile(name="companion")


def _builder() -> StateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        CompanionState, context_schema=Context, input_schema=CompanionInput, output_schema=CompanionOutput
    )
    builder.add_node("attend", module_node(attend))
    builder.add_node("answer", module_node(answer), retry_policy=TRANSIENT)
    builder.add_node("digest", module_node(digest))
    builder.add_node("look_back", module_node(look_back))
    builder.add_edge(START, "attend")
    builder.add_conditional_edges("attend", route(has_attended), ["answer", "digest"])
    builder.add_edge("answer", "digest")
    builder.add_edge("digest", "look_back")
    builder.add_edge("look_back", END)
    return builder


def has_attended(state: CompanionState) -> str:
    """Route: somebody waits for words, or not."""
    return "answer" if state.get("speaks") else "digest"
