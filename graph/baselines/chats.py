"""Baselines single_agent, one model writes the whole conversation, and group_chat, personas speak without minds.

single_agent: thesis 6.1, "Single-Agent Zero-Shot": one model gets the personas' descriptions and writes their
conversation; the output gets the same form as that of the other methods. Zhou et al. 2024, "Is this the real life?"
(arXiv:2403.05020), call it script mode. Ours: the model also gets relationships and social goals; the speakers are
checked, and a faulty script is asked for once more (`state/baselines/script.py`).

group_chat: Wu et al. 2023, "AutoGen: Enabling Next-Gen LLM Applications via Multi-Agent Conversation"
(arXiv:2308.08155), dynamic group chat, which thesis 6.1 compares its conversations with. Taken: a model that takes no
part reads the conversation and names who speaks next; the named participant answers from its description and the
conversation; nobody has memories, emotions, needs or plans. Ours: a speaker who does not take part is never accepted;
only the last utterances are shown; what is checked in an agent's utterance is checked here, too; the ending rules, and
in debates the sliding-window judge, are those of the conversation of minds, so that nothing but the minds differs. An
utterance is two model calls deep: the selector, the speaker; in debates the judge's is the third.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from ...nodes.baselines.script import Written, write_script
from ...state.baselines.script import Faults
from ...state.conversation import Conversation, as_message, utterance_id, utterances
from ...state.minds.mind import Step
from ...state.settings import Settings
from .. import phases
from ..conversation import conclude, end_check, judge, select, spoken_words
from ..edges import lacks_conclusion
from ..ending import judge_is_due
from ..node import current_settings, route
from ..situation import compared_with, for_step, situation_of
from .building import Graph, analyses, builder_of, compiled

_ALONE = "single_agent"


async def write(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Have the model write the whole conversation."""
    people: list[Any] = [(mind, situation_of(state, name, settings)) for name, mind in state["agents"].items()]
    written = await write_script(people, settings)
    said = written.utterances
    spoke = {u["speaker"]: u["turn"] for u in said}
    counts = {name: sum(u["speaker"] == name for u in said) for name in spoke}
    return {
        "messages": [as_message(u, utterance_id(state["simulation"], u["turn"])) for u in said],
        "turn": len(said),
        "agents": {name: {"utterances": counts[name], "last_spoke": spoke[name]} for name in spoke},
        "stop_detail": in_words(written, settings),
    }


async def _end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """End the conversation, which is complete as soon as it is written."""
    return {"stop_reason": "message_limit", "stop_source": _ALONE}


def in_words(written: Written, settings: Settings) -> str:
    """A description of a written script, one sentence, for `stop_detail`."""
    count = len(written.utterances)
    number = f"{count} utterance{'' if count == 1 else 's'}"
    if written.cut:
        number = f"{count + written.cut} utterances, of which the last {written.cut} were left out"
    elif count < settings.max_messages:
        number += f" in place of {settings.max_messages}"
    wrong = written.faults or Faults([], count, [], [])
    rest = [f"{', '.join(wrong.silent)} said nothing"] if wrong.silent else []
    rest += [f"{', '.join(wrong.repeaters)} spoke twice in a row"] if wrong.repeaters else []
    return f"One model wrote {number}{''.join(f'; {fault}' for fault in rest)}."


def after_the_end(state: Conversation) -> list[Send] | Literal["__end__"]:
    """Route: analyse the utterances if analysis is on."""
    return analyses(state, utterances(state["messages"][-state["turn"] :])) or "__end__"


def build_single_agent(checkpointer: Checkpointer = None) -> Graph:
    """The compiled conversation, assemble ─▶ write ─▶ _end_check; see `graph.conversation.build_conversation`."""
    builder = builder_of({phases.WRITE: write, phases.END_CHECK: _end_check})
    builder.add_edge(phases.ASSEMBLE, phases.WRITE)
    builder.add_edge(phases.WRITE, phases.END_CHECK)
    builder.add_conditional_edges(phases.END_CHECK, route(after_the_end), [phases.ANALYSE, END])
    return compiled(builder, _ALONE, checkpointer)


_CHAT: Final = "group_chat"


async def speak(persona: Step, settings: Settings) -> dict[str, Any]:
    """The selected persona words its utterance, and the clock advances."""
    return {**await spoken_words(persona, settings, _CHAT), "turn": persona["situation"]["turn"] + 1}


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
    return compiled(builder, _CHAT, checkpointer)
