"""Baseline single_agent: one model writes the whole conversation in one answer.

Source: thesis 6.1, "Single-Agent Zero-Shot": one model gets the personas' descriptions and writes their conversation;
the output gets the same form as that of the other methods. Zhou et al. 2024, "Is this the real life?"
(arXiv:2403.05020), call it script mode. Ours: the model also gets relationships and social goals; the speakers are
checked, and a faulty script is asked for once more (`state/script.py` says what is removed, and what is refused).
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from persimchat.graph import phases
from persimchat.graph.baselines.building import Graph, analyses, builder_of, compiled
from persimchat.graph.node import route
from persimchat.graph.situation import situation_of
from persimchat.nodes.script import Written, write_script
from persimchat.state.conversation import Conversation, as_message, utterance_id, utterances
from persimchat.state.script import Faults
from persimchat.state.settings import Settings

NAME = "single_agent"


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


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """End the conversation, which is complete as soon as it is written."""
    return {"stop_reason": "message_limit", "stop_source": NAME}


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
    """The compiled conversation, assemble ─▶ write ─▶ end_check; see `graph.conversation.build_conversation`."""
    builder = builder_of({phases.WRITE: write, phases.END_CHECK: end_check})
    builder.add_edge(phases.ASSEMBLE, phases.WRITE)
    builder.add_edge(phases.WRITE, phases.END_CHECK)
    builder.add_conditional_edges(phases.END_CHECK, route(after_the_end), [phases.ANALYSE, END])
    return compiled(builder, NAME, checkpointer)
