"""The conversation: assemble ─▶ awaken×n ─▶ (speak ‖ think×(n−1) ─▶ publish ─▶ hear×n ─▶ end_check)… or END.

One turn is four supersteps and three model calls deep: speak, perceive, appraise. Everything here is wiring.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, Literal

from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from persimchat.graph.minds import build_awakening, build_hearing, build_thinking
from persimchat.graph.node import Node, current_settings, mind_node, module_node
from persimchat.graph.retrying import TRANSIENT
from persimchat.graph.routing import choose_speaker, stop_reason
from persimchat.graph.situation import for_step
from persimchat.nodes.assembling import assemble as assemble_conversation
from persimchat.nodes.natural_language import word_utterance
from persimchat.state.conversation import (
    Conversation,
    ConversationInput,
    ConversationOutput,
    as_message,
    utterances,
)
from persimchat.state.settings import Settings

UNLIMITED = 10_000_000
"""Supersteps: a conversation ends by its own message limit, never by a parent graph's recursion limit."""

_MESSAGES = uuid.UUID("6f0c1d1e-8a53-4c0e-9b0e-5a1f6a0f7f55")


async def assemble(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Bring the participants together."""
    thread = get_config().get("configurable", {}).get("thread_id") or uuid.uuid4()
    return await asyncio.to_thread(assemble_conversation, state, settings, str(thread))


async def speak(mind: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The chosen agent says something; that it begins to is told as a custom stream event, at every attempt."""
    name, turn = mind["name"], mind["situation"]["turn"] + 1
    get_stream_writer()({"turn": turn, "speaker": name, "need_to_talk": mind["needs"]})
    message_id = str(uuid.uuid5(_MESSAGES, f"{mind['situation']['simulation']}/{turn}"))
    utterance, spoken = await word_utterance(mind, settings, message_id)  # type: ignore[arg-type]
    message = as_message(utterance, spoken.message.id or message_id)
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn}
    return {"messages": [message], "agents": {name: own}, "usage": [spoken.call]}


async def publish(state: Conversation, settings: Settings) -> dict[str, Any]:
    """The utterance is out: the clock moves on, and what everybody did meanwhile is done."""
    speaker = utterances(state["messages"][-1:])[0]["speaker"]
    did = {name: {"did": "speak" if name == speaker else mind["action"]} for name, mind in state["agents"].items()}
    return {"turn": state["turn"] + 1, "agents": did}


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Say why the conversation ends, if it does."""
    return {"stop_reason": stop_reason(state["turn"], settings)}


def everyone_awakens(state: Conversation) -> list[Send]:
    """Route: every agent awakens."""
    settings = current_settings()
    return [Send("awaken", for_step(state, name, settings)) for name in state["agents"]]


def everyone_hears(state: Conversation) -> list[Send]:
    """Route: every agent hears the last utterance, its speaker included."""
    settings = current_settings()
    heard = utterances(state["messages"][-1:])[0]
    recalls = settings.memory_filtering
    return [Send("hear", for_step(state, name, settings, recalls=recalls, heard=heard)) for name in state["agents"]]


def next_speaker(state: Conversation) -> list[Send] | Literal["__end__"]:
    """Route: the one who needs it most speaks, everybody else does what they chose; or the end."""
    if state["stop_reason"]:
        return "__end__"
    settings = current_settings()
    speaker = choose_speaker(state["agents"], state["turn"], settings)
    needs = {name: mind["need_to_talk"] for name, mind in state["agents"].items()}
    thinkers = [name for name, mind in state["agents"].items() if name != speaker and mind["action"]]
    return [
        Send("speak", for_step(state, speaker, settings, needs=needs)),
        *(Send("think", for_step(state, name, settings)) for name in thinkers),
    ]


def build_conversation(checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled conversation, for `invoke`, `ainvoke`, `stream` and `astream`, alone or as a node of another graph.

    Args:
        checkpointer: a LangGraph saver; without one, a conversation cannot be resumed. As a subgraph, the parent's is
            used.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        Conversation, context_schema=Settings, input_schema=ConversationInput, output_schema=ConversationOutput
    )
    nodes: dict[str, Node] = {
        "assemble": module_node(assemble),
        "awaken": mind_node(build_awakening(), "awaken"),
        "speak": module_node(speak),
        "think": mind_node(build_thinking(), "think"),
        "publish": module_node(publish),
        "hear": mind_node(build_hearing(), "hear"),
        "end_check": module_node(end_check),
    }
    for name, node in nodes.items():
        builder.add_node(name, node, retry_policy=TRANSIENT if name == "speak" else None)
    builder.add_edge(START, "assemble")
    builder.add_conditional_edges("assemble", everyone_awakens, ["awaken"])
    builder.add_edge("awaken", "end_check")
    builder.add_conditional_edges("end_check", next_speaker, ["speak", "think", END])
    builder.add_edge("speak", "publish")
    builder.add_edge("think", "publish")
    builder.add_conditional_edges("publish", everyone_hears, ["hear"])
    builder.add_edge("hear", "end_check")
    compiled = builder.compile(checkpointer=checkpointer, name="conversation")
    return compiled.with_config(recursion_limit=UNLIMITED)


graph = build_conversation()
"""The compiled default, for langgraph.json."""
