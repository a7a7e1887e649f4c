"""The graph of each kind of conversation. Code that follows a run needs no special case for any of them.

Baselines take the same input and context as the conversation of minds and fill the same channels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pkgutil import resolve_name
from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from ..state import kinds
from ..state.settings import Settings
from .baselines.chats import build_group_chat, build_single_agent
from .baselines.mad_judge import build_mad_judge
from .baselines.rounds import build_mad, build_reconcile
from .conversation import build_conversation, graph
from .stories.story import build_story

Graph = CompiledStateGraph[Any, Any, Any, Any]
Build = Callable[[Checkpointer], Graph]

GRAPHS: Final[dict[type[kinds.Choice], Build]] = {
    kinds.Discussion: build_conversation,
    kinds.Debate: build_conversation,
    kinds.Story: build_story,
    kinds.SingleAgent: build_single_agent,
    kinds.GroupChat: build_group_chat,
    kinds.GroupDebate: build_group_chat,
    kinds.Mad: build_mad,
    kinds.MadJudge: build_mad_judge,
    kinds.Reconcile: build_reconcile,
}
"""The builder of each shipped kind's graph; each takes a checkpointer."""


def builder_for(kind: type[kinds.Choice]) -> Build:
    """The builder of a kind's graph, also of one of another package."""
    return GRAPHS.get(kind) or resolve_name(kind.GRAPH)


def graph_for(settings: Settings, checkpointer: Checkpointer = None) -> Graph:
    """The compiled graph that the settings ask for.

    Args:
        settings: `baseline` and `mode` are read.
        checkpointer: a LangGraph saver, for which a new graph is built; without one, all callers share one graph.
    """
    build = builder_for(settings.kind)
    return _shared(build) if checkpointer is None else build(checkpointer)


@cache
def _shared(build: Build) -> Graph:
    return graph if build is build_conversation else build(None)
