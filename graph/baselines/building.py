"""The common parts of all baselines' graphs: the conversation's channels, the assembling, and the analysis."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from ...nodes.onlookers import analyse
from ...state.conversation import Conversation, ConversationInput, ConversationOutput, utterances
from ...state.minds.mind import Utterance
from ...state.settings import Settings
from .. import phases
from ..compiled import ConversationGraph
from ..context import Context
from ..conversation import assemble
from ..langgraph_compat import recompiled
from ..node import TRANSIENT, current_settings, module_node
from ..situation import situation_of

Builder = StateGraph[Any, Any, Any, Any]
Graph = CompiledStateGraph[Any, Any, Any, Any]
Module = Callable[[Any, Settings], Coroutine[Any, Any, dict[str, Any]]]


def builder_of(modules: Mapping[str, Module]) -> Builder:
    """A builder over the conversation's channels with these nodes, the assembling before them, and the analysis.

    Args:
        modules: the baseline's own nodes by name.
    """
    builder: Builder = StateGraph(
        Conversation, context_schema=Context, input_schema=ConversationInput, output_schema=ConversationOutput
    )
    for name, module in {phases.ASSEMBLE: assemble, **modules, phases.ANALYSE: analyse}.items():
        builder.add_node(
            name, module_node(module, tells=True), retry_policy=None if name == phases.ASSEMBLE else TRANSIENT
        )
    builder.add_edge(START, phases.ASSEMBLE)
    builder.add_edge(phases.ANALYSE, END)
    return builder


def compiled(builder: Builder, name: str, checkpointer: Checkpointer) -> Graph:
    """The compiled graph, which ignores a parent's recursion limit."""
    return recompiled(ConversationGraph, builder.compile(checkpointer=checkpointer, name=name))


def analyses(state: Conversation, new: Sequence[Utterance]) -> list[Send]:
    """Tasks that score new utterances if analysis is on; they run in parallel with the next nodes."""
    settings = current_settings()
    if not settings.analysis:
        return []
    situation, window = situation_of(state, "", settings), settings.recent_utterances
    said = utterances(state["messages"][-state["turn"] :])
    return [
        Send(
            phases.ANALYSE,
            {"situation": {**situation, "turn": u["turn"], "recent": _upto(u, said, window)}, "heard": u},
        )
        for u in new
    ]


def _upto(last: Utterance, said: list[Utterance], window: int) -> list[Utterance]:
    """The utterances that the analysis of `last` sees: `last` and those before it."""
    return said[max(0, last["turn"] - window) : last["turn"]]
