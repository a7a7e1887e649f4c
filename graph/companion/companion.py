"""The companion's graph: attend ─▶ answer ─▶ digest ─▶ look_back, one run for each occurrence.

Events go by way of rate_events and react, and are answered only if the agent wants to speak; time goes by way of
plan_day. The words to a message are two supersteps deep and one request. This module is wiring only.
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
from persimchat.graph.companion.perceiving import rate_events, react
from persimchat.graph.companion.planning import plan_day
from persimchat.graph.context import Context
from persimchat.graph.node import TRANSIENT, module_node, route
from persimchat.state.companion_state import CompanionInput, CompanionOutput, CompanionState

COMPANION: Final[dict[str, Any]] = {
    "cognition": "lean",
    "ltm_capacity": 2_000,
    "weights": {"recency": 0.5, "importance": 1.0, "relevance": 3.0, "emotional": 0.5, "stm_relevance": 0.5},
}
"""The settings of companions that differ from those of conversations.

With equal weights, what was said last outweighs what is asked for: of 20 talks, no told fact was among the first 30
memories recalled; with these weights, all were among the first 10 (`persimchat companion measure`).
"""


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
    builder.add_node("plan_day", module_node(plan_day))
    builder.add_node("rate_events", module_node(rate_events))
    builder.add_node("react", module_node(react))
    builder.add_node("answer", module_node(answer), retry_policy=TRANSIENT)
    builder.add_node("digest", module_node(digest))
    builder.add_node("look_back", module_node(look_back))
    builder.add_edge(START, "attend")
    builder.add_conditional_edges("attend", route(has_attended), ["answer", "rate_events", "plan_day", "digest"])
    builder.add_conditional_edges("rate_events", route(has_perceived), ["react", "digest"])
    builder.add_conditional_edges("react", route(has_reacted), ["answer", "digest"])
    builder.add_edge("plan_day", "digest")
    builder.add_edge("answer", "digest")
    builder.add_edge("digest", "look_back")
    builder.add_edge("look_back", END)
    return builder


def has_attended(state: CompanionState) -> str:
    """Route: somebody waits for words; something happens, or time has passed; or neither."""
    if state.get("speaks"):
        return "answer"
    given = state.get("occurrence")
    kind = given["kind"] if given is not None else ""
    return {"events": "rate_events", "time": "plan_day"}.get(kind, "digest")


def has_perceived(state: CompanionState) -> str:
    """Route: something is new, or nothing is."""
    return "react" if state.get("perceived") else "digest"


def has_reacted(state: CompanionState) -> str:
    """Route: the agent speaks unasked, or does not."""
    return "answer" if state.get("speaks") else "digest"
