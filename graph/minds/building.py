"""The graphs of one mind: awakening, hearing an utterance, thinking while another speaks, and acting in a story.

Each is compiled once, and runs once per agent and turn. Hearing is two model calls deep, thinking one, awakening two;
with lean cognition each is one call deep. With fixed cognition there are no calls, and nothing changes. Summaries and
reviews of a story become memories as a conversation's thoughts do: through short-term memory into the long-term one.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from ...nodes.minds.appraising import (
    appraise_at_once,
    choose_action,
    feel,
    hear_at_once,
    judge_need_to_talk,
    judge_openness,
    judge_own,
    judge_trust,
    perceive,
    react_at_once,
    wonder,
)
from ...nodes.minds.awakening import settle, settle_unfelt
from ...nodes.minds.remembering import (
    filter_memory,
    recall_by_words,
    remember_percept,
    remember_thoughts,
    remember_utterance,
    save_memories,
)
from ...nodes.minds.thinking import plan, reflect
from ...nodes.stories.acting import review
from ...nodes.stories.context import part_of_act
from ...state.minds.mind import Step
from ...state.settings import Settings
from ..node import TRANSIENT, current_settings, module_node, route
from ..stories.talks import hears

MindGraph = CompiledStateGraph[Any, Any, Any, Any]
Thought = Literal["reflect", "plan"]

_OWN: Final = (judge_need_to_talk, judge_openness)
"""The appraisals of participants, which a judge does not make."""


def mind_builder(*modules: Any) -> StateGraph[Any, Any, Any, Any]:
    """A builder of a mind's graph with these modules as its nodes."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Step, context_schema=Settings)
    for module in modules:
        builder.add_node(module.__name__, module_node(module), retry_policy=TRANSIENT)
    return builder


def _own(mind: Step) -> list[str]:
    """The names of these appraisals; empty for a judge and a companion, who have none."""
    return [] if "role" in mind else [module.__name__ for module in _OWN]


def _of_packages(mind: Step) -> list[Send]:
    """A task for each module of an installed package; none for a judge and a companion."""
    names = [] if "role" in mind else current_settings().modules
    return [Send(judge_own.__name__, {**mind, "asked": name}) for name in names]


def build_awakening() -> MindGraph:
    """Before the first utterance: settle (profile, topic, goals) → feel → need to talk ‖ openness, saving meanwhile.

    With compact and lean cognition, one answer has all judgements; with fixed cognition there are none. A judge has
    neither need to talk nor openness.
    """
    builder = mind_builder(settle, feel, *_OWN, appraise_at_once, save_memories)
    builder.add_edge(START, "settle")
    builder.add_conditional_edges("settle", route(after_settling), ["feel", "appraise_at_once", END])
    builder.add_edge("settle", "save_memories")
    own = [module.__name__ for module in _OWN]

    def has_felt(mind: Step) -> list[str]:
        return _own(mind) or [END]

    builder.add_conditional_edges("feel", route(has_felt), [*own, END])
    for appraisal in own:
        builder.add_edge(appraisal, END)
    builder.add_edge("appraise_at_once", END)
    builder.add_edge("save_memories", END)
    return builder.compile(name="awakening")


def after_settling(mind: Step) -> Literal["feel", "appraise_at_once", "__end__"]:
    """Route: each module in its own call, all in one answer, or none."""
    match current_settings().cognition:
        case "full":
            return "feel"
        case "fixed":
            return "__end__"
        case _:
            return "appraise_at_once"


def build_hearing(checkpointer: Checkpointer = None) -> MindGraph:
    """One utterance, in as many answers as the setting `cognition` allows.

    - full: perceive ‖ wonder → remember → need to talk ‖ openness ‖ action ‖ feel ‖ modules of packages ‖ save.
    - compact: hear_at_once → remember → appraise_at_once ‖ save.
    - lean: recall by the words heard → react_at_once → remember → save.
    - fixed: nothing.

    A companion judges trust in place of need to talk, openness and action, and recalls by the words heard. Memory
    filtering runs in parallel with the first step. A judge has neither need to talk nor openness.

    Args:
        checkpointer: False if it leaves nothing in the checkpoints of the graph around it.
    """
    every = (choose_action, feel, judge_trust, judge_own)
    first = (perceive, wonder, hear_at_once, recall_by_words, filter_memory)
    builder = mind_builder(
        *first, remember_utterance, *_OWN, *every, appraise_at_once, react_at_once, remember_percept, save_memories
    )
    begin = {"full": ["perceive", "wonder"], "compact": ["hear_at_once"], "lean": ["recall_by_words"]}
    appraisals = [*(module.__name__ for module in (*_OWN, *every)), "appraise_at_once"]

    def hears(mind: Step) -> list[str]:
        if current_settings().cognition == "fixed":
            return [END]
        first = ["perceive"] if mind.get("role") == "companion" else begin["full"]
        return [*(begin | {"full": first})[current_settings().cognition], "filter_memory"]

    def has_filtered(mind: Step) -> str:
        return "react_at_once" if current_settings().cognition == "lean" else "remember_utterance"

    def has_remembered(mind: Step) -> list[str | Send]:
        companion = mind.get("role") == "companion"
        own = [*_own(mind), *_of_packages(mind), "choose_action", "feel"]
        full = ["feel", "judge_trust"] if companion else own
        return [*(full if current_settings().cognition == "full" else ["appraise_at_once"]), "save_memories"]

    builder.add_conditional_edges(START, route(hears), [*(module.__name__ for module in first), END])
    for module in (perceive, wonder, hear_at_once):
        builder.add_edge(module.__name__, "remember_utterance")
    builder.add_edge("recall_by_words", "react_at_once")
    builder.add_conditional_edges("filter_memory", route(has_filtered), ["remember_utterance", "react_at_once"])
    builder.add_conditional_edges("remember_utterance", route(has_remembered), [*appraisals, "save_memories"])
    builder.add_edge("react_at_once", "remember_percept")
    builder.add_edge("remember_percept", "save_memories")
    for name in (*appraisals, "save_memories"):
        builder.add_edge(name, END)
    return builder.compile(checkpointer, name="hearing")


def chosen_thought(mind: Step) -> Thought:
    """Route: the action that the agent chose."""
    return "reflect" if mind["action"] == "reflect" else "plan"


def build_thinking() -> MindGraph:
    """While another participant speaks: reflect or plan, as chosen ‖ filter → remember the thoughts."""
    builder = mind_builder(filter_memory, reflect, plan, remember_thoughts)
    builder.add_edge(START, "filter_memory")
    builder.add_conditional_edges(START, route(chosen_thought), ["reflect", "plan"])
    for module in (filter_memory, reflect, plan):
        builder.add_edge(module.__name__, "remember_thoughts")
    builder.add_edge("remember_thoughts", END)
    return builder.compile(name="thinking")


def build_story_awakening() -> MindGraph:
    """Profile, topic and goals into memory, then the first impressions of the others, if the story has them.

    A mind that hears and thinks awakens as in a conversation besides: feel → need to talk, or both in one answer.
    """
    apart = (feel, judge_need_to_talk, appraise_at_once)
    builder = mind_builder(settle, settle_without_impressions, review, *apart, save_memories)

    def begins(mind: Step) -> str:
        return "settle" if mind["asks"] == "impressions" else "settle_without_impressions"

    def has_settled(mind: Step) -> list[str]:
        felt = [after_settling(mind)] if hears(current_settings()) else []
        return [*(["review"] if mind["asks"] == "impressions" else []), *felt, "save_memories"]

    builder.add_conditional_edges(START, route(begins), ["settle", "settle_without_impressions"])
    next_ = ["review", "feel", "appraise_at_once", "save_memories"]
    for settled in ("settle", "settle_without_impressions"):
        builder.add_conditional_edges(settled, route(has_settled), next_)
    builder.add_edge("feel", "judge_need_to_talk")
    for last in ("review", "judge_need_to_talk", "appraise_at_once", "save_memories"):
        builder.add_edge(last, END)
    return builder.compile(name="story_awakening")


async def settle_without_impressions(mind: Step, settings: Settings) -> Step:
    """As `settle`, for a story without first impressions."""
    return {**await settle(mind, settings), "story": part_of_act(mind, None)}


async def settle_alone(mind: Step, settings: Settings) -> Step:
    """As `settle`, for a character whose model fails; a mind that hears and thinks is calm."""
    return await (settle_unfelt if hears(settings) else settle)(mind, settings)


def build_answering(module: Any) -> MindGraph:
    """One question to the mind, whose answer leaves no memory: stocktaking, choice, ballot."""
    builder = mind_builder(module)
    builder.add_edge(START, module.__name__)
    builder.add_edge(module.__name__, END)
    return builder.compile(name=module.__name__)


def build_remembering(module: Any) -> MindGraph:
    """One question to the mind, whose answer is remembered: summary, review."""
    builder = mind_builder(module, remember_thoughts, save_memories)
    builder.add_edge(START, module.__name__)
    builder.add_edge(module.__name__, "remember_thoughts")
    builder.add_edge("remember_thoughts", "save_memories")
    builder.add_edge("save_memories", END)
    return builder.compile(name=module.__name__)
