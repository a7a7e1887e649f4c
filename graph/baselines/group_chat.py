"""Baseline group_chat: after every utterance a model names the next speaker, and personas speak without minds.

Source: Wu et al. 2023, "AutoGen: Enabling Next-Gen LLM Applications via Multi-Agent Conversation" (arXiv:2308.08155),
dynamic group chat, which thesis 6.1 compares its conversations with. Taken: a model that takes no part reads the
conversation and names who speaks next; the named participant answers from its description and the conversation; nobody
has memories, emotions, needs or plans. Ours: a speaker who does not take part is never accepted; only the last
utterances are shown; what is checked in an agent's utterance is checked here, too; the ending rules, and in debates
the sliding-window judge, are those of the conversation of minds, so that nothing but the minds differs.

An utterance is two model calls deep: the selector, the speaker; in debates the judge's is the third.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from persimchat.graph import phases
from persimchat.graph.baselines.building import Graph, analyses, builder_of, compiled
from persimchat.graph.conversation import conclude, end_check, judge, select, spoken_words
from persimchat.graph.edges import lacks_conclusion
from persimchat.graph.ending import judge_is_due
from persimchat.graph.node import current_settings, route
from persimchat.graph.situation import compared_with, for_step
from persimchat.state.conversation import Conversation, utterances
from persimchat.state.mind import Step
from persimchat.state.settings import Settings

NAME: Final = "group_chat"


async def speak(persona: Step, settings: Settings) -> dict[str, Any]:
    """The selected persona words its utterance, and the clock advances."""
    return {**await spoken_words(persona, settings, NAME), "turn": persona["situation"]["turn"] + 1}


def selected_speaks(state: Conversation) -> list[Send]:
    """Route: the selected persona speaks; in parallel the analysis of the utterance before, if it is on."""
    settings, name = current_settings(), state["selected"]["speaker"]
    said = compared_with(state, name, settings)
    persona = for_step(state, state["agents"][name], settings, recalls=False, needs={}, said=said)
    return [Send(phases.SPEAK, persona), *_analysis(state)]


def after_speaking(state: Conversation) -> Literal["judge", "end_check"]:
    """Route: a debate's judge, if it is due."""
    return phases.JUDGE if judge_is_due(state["turn"], len(state["agents"]), current_settings()) else phases.END_CHECK


def next_step(state: Conversation) -> list[Send | str] | Literal["select", "__end__"]:
    """Route: the next speaker; or the end, with a conclusion if a debate has none, and the last analysis."""
    if not state["stop_reason"]:
        return phases.SELECT
    last = [phases.CONCLUDE] if lacks_conclusion(state, current_settings()) else []
    return [*last, *_analysis(state)] or "__end__"


def _analysis(state: Conversation) -> list[Send]:
    return analyses(state, utterances(state["messages"][-1:]) if state["turn"] else [])


def build_group_chat(checkpointer: Checkpointer = None) -> Graph:
    """The compiled conversation, assemble ─▶ (select ─▶ speak ─▶ (judge ─▶) end_check)… (─▶ conclude) or END.

    See `persimchat.graph.conversation.build_conversation`.
    """
    builder = builder_of(
        {
            phases.SELECT: select,
            phases.SPEAK: speak,
            phases.JUDGE: judge,
            phases.END_CHECK: end_check,
            phases.CONCLUDE: conclude,
        }
    )
    builder.add_edge(phases.ASSEMBLE, phases.SELECT)
    builder.add_conditional_edges(phases.SELECT, route(selected_speaks), [phases.SPEAK, phases.ANALYSE])
    builder.add_conditional_edges(phases.SPEAK, route(after_speaking), [phases.JUDGE, phases.END_CHECK])
    builder.add_edge(phases.JUDGE, phases.END_CHECK)
    after = [phases.SELECT, phases.CONCLUDE, phases.ANALYSE, END]
    builder.add_conditional_edges(phases.END_CHECK, route(next_step), after)
    builder.add_edge(phases.CONCLUDE, END)
    return compiled(builder, NAME, checkpointer)
