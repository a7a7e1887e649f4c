"""The graphs of one mind: awakening, hearing an utterance, thinking while another speaks, and acting in a story.

Each is compiled once, and runs once per agent and turn. Hearing is two model calls deep, thinking one, awakening two;
with lean cognition each is one call deep. With fixed cognition there are no calls, and nothing changes. Summaries and
reviews of a story become memories as a conversation's thoughts do: through short-term memory into the long-term one.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from ...state.settings import HEARD, Settings
from ..node import TRANSIENT, current_settings, module_node, route
from ..stories.talks import hears

MindGraph = CompiledStateGraph[Any, Any, Any, Any]

_OWN: Final = {"need_to_talk": judge_need_to_talk, "openness": judge_openness}
"""The appraisals of participants, which a judge does not make."""
_EVERYBODY_S: Final = {"action": choose_action, "emotion": feel}
"""The other appraisals of a mind that is no companion's, by module."""


def mind_builder(*modules: Any) -> StateGraph[Any, Any, Any, Any]:
    """A builder of a mind's graph with these modules as its nodes."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Step, context_schema=Settings)
    for module in modules:
        builder.add_node(module.__name__, module_node(module), retry_policy=TRANSIENT)
    return builder


def _apart(modules: Mapping[str, Any]) -> list[str]:
    """The nodes of those of these modules that have a call of their own."""
    joined = current_settings().in_one_answer
    return [node.__name__ for module, node in modules.items() if module not in joined]


def _filtering() -> list[str]:
    """The node that asks whether to keep what leaves short-term memory, where the settings want it."""
    return ["filter_memory"] if current_settings().memory_filtering else []


def _of_packages(mind: Step) -> list[Send]:
    """A task for each module of an installed package that has a call of its own; none for a judge and a companion."""
    settings = current_settings()
    names = [] if "role" in mind else [name for name in settings.modules if name not in settings.in_one_answer]
    return [Send(judge_own.__name__, {**mind, "asked": name}) for name in names]


def build_awakening() -> MindGraph:
    """Before the first utterance: settle (profile, topic, goals) → feel → need to talk ‖ openness, saving meanwhile.

    With compact and lean cognition, one answer has all judgements, else those that are `joined`; with fixed cognition
    there are none. A judge has neither need to talk nor openness.
    """
    builder = mind_builder(settle, feel, *_OWN.values(), appraise_at_once, save_memories)
    builder.add_edge(START, "settle")
    builder.add_conditional_edges("settle", route(after_settling), ["feel", "appraise_at_once", END])
    builder.add_edge("settle", "save_memories")
    _add_awakening(builder, _OWN)
    builder.add_edge("save_memories", END)
    return builder.compile(name="awakening")


def after_settling(mind: Step) -> Literal["feel", "appraise_at_once", "__end__"]:
    """Route: what a mind feels, alone or in one answer with others, or nothing."""
    settings = current_settings()
    if settings.cognition == "fixed":
        return "__end__"
    return "appraise_at_once" if "emotion" in settings.in_one_answer else "feel"


def _add_awakening(builder: StateGraph[Any, Any, Any, Any], own: Mapping[str, Any]) -> None:
    """Add the edges behind `feel` and `appraise_at_once`: what a mind judges by what it feels now.

    Args:
        builder: has the nodes.
        own: these appraisals, which a judge does not make, by module.
    """

    def has_felt(mind: Step) -> list[str]:
        judged = {} if "role" in mind else own
        joined = ["appraise_at_once"] if current_settings().in_one_answer & judged.keys() else []
        return [*_apart(judged), *joined] or [END]

    def has_appraised(mind: Step) -> list[str]:
        felt = "emotion" in current_settings().in_one_answer
        return (_apart(own) if felt and "role" not in mind else []) or [END]

    nodes = [node.__name__ for node in own.values()]
    builder.add_conditional_edges("feel", route(has_felt), [*nodes, "appraise_at_once", END])
    builder.add_conditional_edges("appraise_at_once", route(has_appraised), [*nodes, END])
    for node in nodes:
        builder.add_edge(node, END)


def build_hearing(checkpointer: Checkpointer = None) -> MindGraph:
    """One utterance, in as many answers as the setting `cognition` allows.

    - full: perceive ‖ wonder → remember → need to talk ‖ openness ‖ action ‖ feel ‖ modules of packages ‖ save. What is
      `joined` is in one answer, as with compact cognition.
    - compact: hear_at_once → remember → appraise_at_once ‖ save.
    - lean: recall by the words heard → react_at_once → remember → save.
    - fixed: nothing.

    A companion judges trust in place of need to talk, openness and action, and recalls by the words heard. Memory
    filtering runs in parallel with the first step. A judge has neither need to talk nor openness.

    Args:
        checkpointer: False if it leaves nothing in the checkpoints of the graph around it.
    """
    appraising = (*_OWN.values(), *_EVERYBODY_S.values(), judge_trust, judge_own, appraise_at_once)
    first = (perceive, wonder, hear_at_once, recall_by_words, filter_memory)
    builder = mind_builder(*first, remember_utterance, *appraising, react_at_once, remember_percept, save_memories)
    appraisals = [module.__name__ for module in appraising]

    def hears(mind: Step) -> list[str]:
        match current_settings().cognition:
            case "fixed":
                return [END]
            case "lean":
                return ["recall_by_words", *_filtering()]
        asks = {} if mind.get("role") == "companion" else {"focal_points": wonder}
        return [*(_apart({"perception": perceive, **asks}) or ["hear_at_once"]), *_filtering()]

    def has_filtered(mind: Step) -> str:
        return "react_at_once" if current_settings().cognition == "lean" else "remember_utterance"

    def has_remembered(mind: Step) -> list[str | Send]:
        own = {**_OWN, **_EVERYBODY_S} if "role" not in mind else _EVERYBODY_S
        judged = {"emotion": feel, "trust": judge_trust} if mind.get("role") == "companion" else own
        joined = ["appraise_at_once"] if current_settings().in_one_answer - {*HEARD} else []
        return [*_apart(judged), *_of_packages(mind), *joined, "save_memories"]

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


def chosen_thought(mind: Step) -> list[str]:
    """Route: the action that the agent chose."""
    return ["reflect" if mind["action"] == "reflect" else "plan", *_filtering()]


def build_thinking() -> MindGraph:
    """While another participant speaks: reflect or plan, as chosen ‖ filter → remember the thoughts."""
    builder = mind_builder(filter_memory, reflect, plan, remember_thoughts)
    thinking = (filter_memory, reflect, plan)
    builder.add_conditional_edges(START, route(chosen_thought), [module.__name__ for module in thinking])
    for module in thinking:
        builder.add_edge(module.__name__, "remember_thoughts")
    builder.add_edge("remember_thoughts", END)
    return builder.compile(name="thinking")


def build_story_awakening() -> MindGraph:
    """Profile, topic and goals into memory, then the first impressions of the others, if the story has them.

    A mind that hears and thinks awakens as in a conversation besides: feel → need to talk, or both in one answer.
    """
    needs = {"need_to_talk": judge_need_to_talk}
    appraising = (feel, *needs.values(), appraise_at_once)
    builder = mind_builder(settle, settle_without_impressions, review, *appraising, save_memories)

    def begins(mind: Step) -> str:
        return "settle" if mind["asks"] == "impressions" else "settle_without_impressions"

    def has_settled(mind: Step) -> list[str]:
        felt = [after_settling(mind)] if hears(current_settings()) else []
        return [*(["review"] if mind["asks"] == "impressions" else []), *felt, "save_memories"]

    builder.add_conditional_edges(START, route(begins), ["settle", "settle_without_impressions"])
    next_ = ["review", "feel", "appraise_at_once", "save_memories"]
    for settled in ("settle", "settle_without_impressions"):
        builder.add_conditional_edges(settled, route(has_settled), next_)
    _add_awakening(builder, needs)
    for last in ("review", "save_memories"):
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
