"""The conversation: assemble ─▶ awaken×n ─▶ (speak ‖ think×(n−1) ─▶ publish ─▶ hear×n ─▶ end_check)… or END.

One turn is four supersteps and three model calls deep: speak, perceive, appraise. In debates the judge comes between
hearing and the end check, and makes it four. Everything here is wiring.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, Literal

from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from persimchat.graph.ending import closing_reason, ending, judge_is_due, quiet_turns
from persimchat.graph.minds import build_awakening, build_hearing, build_thinking
from persimchat.graph.node import Node, current_settings, mind_node, module_node
from persimchat.graph.retrying import TRANSIENT
from persimchat.graph.routing import candidates, choose_speaker
from persimchat.graph.situation import for_step, situation_of
from persimchat.nodes.analysis import analyse
from persimchat.nodes.assembling import assemble as assemble_conversation
from persimchat.nodes.judge import agreed_conclusion, give_verdict, word_majority
from persimchat.nodes.natural_language import word_utterance
from persimchat.nodes.selector import select_speaker
from persimchat.state.conversation import (
    Conversation,
    ConversationInput,
    ConversationOutput,
    as_message,
    utterance_id,
    utterances,
)
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

UNLIMITED = 10_000_000
"""Supersteps: a conversation ends by its own message limit, never by a parent graph's recursion limit."""


async def assemble(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Bring the participants together."""
    thread = get_config().get("configurable", {}).get("thread_id") or uuid.uuid4()
    return await asyncio.to_thread(assemble_conversation, state, settings, str(thread))


async def begin(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Bring the participants together, unless a baseline is asked for, which has a graph of its own."""
    if settings.baseline is not None:
        raise InputError(
            "the conversation of minds holds no baseline",
            where=f"setting baseline={settings.baseline}",
            remedy="Leave it out, or take persimchat.graph.baselines.baseline_graph(settings).",
        )
    return await assemble(state, settings)


async def speak(mind: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The chosen agent says something; that it begins to is told as a custom stream event, at every attempt."""
    name, turn = mind["name"], mind["situation"]["turn"] + 1
    get_stream_writer()({"turn": turn, "speaker": name, "need_to_talk": mind["needs"]})
    message_id = utterance_id(mind["situation"]["simulation"], turn)
    utterance, spoken = await word_utterance(mind, settings, message_id)  # type: ignore[arg-type]
    message = as_message(utterance, spoken.message.id or message_id)
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn}
    return {"messages": [message], "agents": {name: own}, "usage": [spoken.call]}


async def publish(state: Conversation, settings: Settings) -> dict[str, Any]:
    """The utterance is out: the clock moves on, and what everybody did meanwhile is done."""
    speaker = utterances(state["messages"][-1:])[0]["speaker"]
    did = {name: {"did": "speak" if name == speaker else mind["action"]} for name, mind in state["agents"].items()}
    judged = {name: {"did": mind["action"]} for name, mind in state["judge_mind"].items()}
    return {"turn": state["turn"] + 1, "agents": did, **({"judge_mind": judged} if judged else {})}


async def judge(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Debates: the judge says whether there is consensus."""
    situation = situation_of(state, "", settings, window=settings.window_size)
    verdict, calls = await give_verdict(situation, state["agents"], _judge_of(state), settings)
    return {"verdicts": [verdict], "usage": calls}


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Say whether it is time to take leave, and why the conversation ends, if it does."""
    found = ending(state, settings)
    if found is not None:
        reason, source, detail = found
        agreed = agreed_conclusion(state["verdicts"][-1]) if reason == "consensus" else None
        return {"stop_reason": reason, "stop_source": source, "stop_detail": detail, "conclusion": agreed}
    quiet = quiet_turns(state["quiet"], state["agents"], settings) if state["turn"] else 0
    closing = state["closing"] or closing_reason(state["turn"], quiet, len(state["agents"]), settings)
    begins = {"closing": closing, "closing_since": state["turn"]} if closing and not state["closing"] else {}
    return {"stop_reason": "", "quiet": quiet, **begins}


async def select(state: Conversation, settings: Settings) -> dict[str, Any]:
    """pattern=selector: a model that takes no part names the next speaker."""
    able = candidates(state["agents"], state["turn"], settings, leaving_since=_leaving_since(state))
    selected, calls = await select_speaker(situation_of(state, "", settings), state["agents"], able, settings)
    return {"selected": selected, "usage": calls}


async def conclude(state: Conversation, settings: Settings) -> dict[str, Any]:
    """A debate has ended without consensus: the judge words the position of the majority."""
    situation = situation_of(state, "", settings, window=settings.window_size)
    conclusion, calls = await word_majority(situation, state["agents"], _judge_of(state), settings)
    return {"conclusion": conclusion, "usage": calls}


def _judge_of(state: Conversation) -> Any:
    """The persona judge's mind, None with other judges."""
    return next(iter(state["judge_mind"].values()), None)


def _leaving_since(state: Conversation) -> int | None:
    return state["closing_since"] if state["closing"] else None


def everyone_awakens(state: Conversation) -> list[Send]:
    """Route: every agent awakens, and the judge who has a mind."""
    settings = current_settings()
    return [
        *(Send("awaken", for_step(state, mind, settings)) for mind in state["agents"].values()),
        *(Send("judge_awakens", for_step(state, mind, settings)) for mind in state["judge_mind"].values()),
    ]


def everyone_hears(state: Conversation) -> list[Send]:
    """Route: every agent hears the last utterance, its speaker included; the judge's mind and the analysis, too."""
    settings = current_settings()
    heard = utterances(state["messages"][-1:])[0]
    recalls = settings.memory_filtering
    to = [
        *(("hear", mind) for mind in state["agents"].values()),
        *(("judge_hears", mind) for mind in state["judge_mind"].values()),
    ]
    sends = [Send(node, for_step(state, mind, settings, recalls=recalls, heard=heard)) for node, mind in to]
    if settings.analysis:
        sends.append(Send("analyse", {"situation": situation_of(state, "", settings), "heard": heard}))
    return sends


def after_hearing(state: Conversation) -> Literal["judge", "end_check"]:
    """Route: the judge is asked where its time has come."""
    return "judge" if judge_is_due(state["turn"], len(state["agents"]), current_settings()) else "end_check"


def next_step(state: Conversation) -> list[Send] | Literal["select", "conclude", "__end__"]:
    """Route: the end; or somebody is selected; or the one who needs it most speaks."""
    settings = current_settings()
    if state["stop_reason"]:
        return "conclude" if settings.mode == "debate" and state["conclusion"] is None else "__end__"
    if settings.pattern == "selector":
        return "select"
    return _speaking(
        state, choose_speaker(state["agents"], state["turn"], settings, leaving_since=_leaving_since(state))
    )


def selected_speaks(state: Conversation) -> list[Send]:
    """Route: the one who was selected speaks."""
    return _speaking(state, state["selected"]["speaker"])


def _speaking(state: Conversation, speaker: str) -> list[Send]:
    """One speaks, everybody else does what they chose."""
    settings = current_settings()
    needs = {name: mind["need_to_talk"] for name, mind in state["agents"].items()}
    compared = min(state["turn"], settings.repetition_window) if settings.repetition_check else 0
    said = [u["text"] for u in utterances(state["messages"][-compared:])] if compared else []
    thinkers = [mind for name, mind in state["agents"].items() if name != speaker and mind["action"]]
    judges = [mind for mind in state["judge_mind"].values() if mind["action"]]
    return [
        Send("speak", for_step(state, state["agents"][speaker], settings, needs=needs, said=said)),
        *(Send("think", for_step(state, mind, settings)) for mind in thinkers),
        *(Send("judge_thinks", for_step(state, mind, settings)) for mind in judges),
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
        "assemble": module_node(begin),
        "awaken": mind_node(build_awakening(), "awaken"),
        "judge_awakens": mind_node(build_awakening(speaks=False), "judge_awakens", judge=True),
        "select": module_node(select),
        "speak": module_node(speak),
        "think": mind_node(build_thinking(), "think"),
        "judge_thinks": mind_node(build_thinking(), "judge_thinks", judge=True),
        "publish": module_node(publish),
        "hear": mind_node(build_hearing(), "hear"),
        "judge_hears": mind_node(build_hearing(speaks=False), "judge_hears", judge=True),
        "analyse": module_node(analyse),
        "judge": module_node(judge),
        "end_check": module_node(end_check),
        "conclude": module_node(conclude),
    }
    for name, node in nodes.items():
        asks = name in ("select", "speak", "analyse", "judge", "conclude")
        builder.add_node(name, node, retry_policy=TRANSIENT if asks else None)
    builder.add_edge(START, "assemble")
    builder.add_conditional_edges("assemble", everyone_awakens, ["awaken", "judge_awakens"])
    builder.add_edge("awaken", "end_check")
    builder.add_edge("judge_awakens", "end_check")
    speaking = ["speak", "think", "judge_thinks"]
    builder.add_conditional_edges("end_check", next_step, [*speaking, "select", "conclude", END])
    builder.add_conditional_edges("select", selected_speaks, speaking)
    for name in speaking:
        builder.add_edge(name, "publish")
    builder.add_conditional_edges("publish", everyone_hears, ["hear", "judge_hears", "analyse"])
    for name in ("hear", "judge_hears", "analyse"):
        builder.add_conditional_edges(name, after_hearing, ["judge", "end_check"])
    builder.add_edge("judge", "end_check")
    builder.add_edge("conclude", END)
    compiled = builder.compile(checkpointer=checkpointer, name="conversation")
    return compiled.with_config(recursion_limit=UNLIMITED)


graph = build_conversation()
"""The compiled default, for langgraph.json."""
