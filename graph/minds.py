"""The graphs of one mind: awakening, hearing an utterance, thinking while somebody else speaks.

Each is compiled once and run once per agent and turn. Hearing is two model calls deep, thinking one, awakening two.
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.node import module_node
from persimchat.graph.retrying import TRANSIENT
from persimchat.nodes.action import choose_action
from persimchat.nodes.awakening import settle
from persimchat.nodes.emotion import feel
from persimchat.nodes.focal_points import wonder
from persimchat.nodes.memory_filtering import filter_memory
from persimchat.nodes.need_to_talk import judge_need_to_talk
from persimchat.nodes.openness import judge_openness
from persimchat.nodes.perception import perceive
from persimchat.nodes.planning import plan
from persimchat.nodes.reflection import reflect
from persimchat.nodes.remembering import remember_thoughts, remember_utterance
from persimchat.nodes.saving import save_memories
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings

MindGraph = CompiledStateGraph[Any, Any, Any, Any]
Thought = Literal["reflect", "plan"]


def _builder(*modules: Any) -> StateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Mind, context_schema=Settings)
    for module in modules:
        builder.add_node(module.__name__, module_node(module), retry_policy=TRANSIENT)
    return builder


def build_awakening(*, speaks: bool = True) -> MindGraph:
    """Before the first word: settle (profile, topic, goals) → feel → need to talk ‖ openness, saving meanwhile.

    Args:
        speaks: whether this mind takes part; one that only listens (the persona judge) has no need to talk.
    """
    appraisals = (judge_need_to_talk, judge_openness) if speaks else ()
    builder = _builder(settle, feel, *appraisals, save_memories)
    builder.add_edge(START, "settle")
    builder.add_edge("settle", "feel")
    builder.add_edge("settle", "save_memories")
    for appraisal in appraisals:
        builder.add_edge("feel", appraisal.__name__)
        builder.add_edge(appraisal.__name__, END)
    if not appraisals:
        builder.add_edge("feel", END)
    builder.add_edge("save_memories", END)
    return builder.compile(name="awakening")


def build_hearing(*, speaks: bool = True) -> MindGraph:
    """One utterance: perceive ‖ wonder ‖ filter → remember → need to talk ‖ openness ‖ action ‖ feel ‖ save.

    Args:
        speaks: whether this mind takes part; one that only listens (the persona judge) has no need to talk.
    """
    first = (perceive, wonder, filter_memory)
    own = (judge_need_to_talk, judge_openness) if speaks else ()
    appraisals = (*own, choose_action, feel, save_memories)
    builder = _builder(*first, remember_utterance, *appraisals)
    for module in first:
        builder.add_edge(START, module.__name__)
    builder.add_edge([module.__name__ for module in first], "remember_utterance")
    for appraisal in appraisals:
        builder.add_edge("remember_utterance", appraisal.__name__)
        builder.add_edge(appraisal.__name__, END)
    return builder.compile(name="hearing")


def chosen_thought(mind: Mind) -> Thought:
    """Route: the action that the agent chose."""
    return "reflect" if mind["action"] == "reflect" else "plan"


def build_thinking() -> MindGraph:
    """While somebody speaks: reflect or plan, as chosen ‖ filter → remember the thoughts."""
    builder = _builder(filter_memory, reflect, plan, remember_thoughts)
    builder.add_edge(START, "filter_memory")
    builder.add_conditional_edges(START, chosen_thought)
    for module in (filter_memory, reflect, plan):
        builder.add_edge(module.__name__, "remember_thoughts")
    builder.add_edge("remember_thoughts", END)
    return builder.compile(name="thinking")
