"""The conversation: assemble ─▶ awaken×n ─▶ (speak ‖ think×(n−1) ─▶ publish ─▶ hear×n ─▶ end_check)… or END.

One turn is four supersteps and three model calls deep: speak, perceive, appraise. In debates the judge comes between
hearing and the end check, and makes it four. Everything here is wiring.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from persimchat.graph.context import Context
from persimchat.graph.edges import (
    after_hearing,
    after_publishing,
    after_regrouping,
    beside_hearing,
    everyone_awakens,
    leaving_since,
    next_step,
    nobody_heard,
    selected_speaks,
)
from persimchat.graph.ending import closing_reason, ending, quiet_turns
from persimchat.graph.minds import build_awakening, build_hearing, build_thinking
from persimchat.graph.nested import ConversationGraph
from persimchat.graph.node import Node, mind_node, module_node, silenced
from persimchat.graph.retrying import TRANSIENT, last_attempt
from persimchat.graph.routing import candidates
from persimchat.graph.situation import situation_of
from persimchat.models.failures import is_transient
from persimchat.nodes.analysis import analyse
from persimchat.nodes.assembling import assemble as assemble_conversation
from persimchat.nodes.intervening import intervene
from persimchat.nodes.judge import agreed_conclusion, give_verdict, word_majority
from persimchat.nodes.natural_language import word_utterance
from persimchat.nodes.person import need_of_person, person_appraises, person_speaks
from persimchat.nodes.saying import say
from persimchat.nodes.selector import select_speaker
from persimchat.state.conversation import (
    Conversation,
    ConversationInput,
    ConversationOutput,
    as_message,
    utterance_id,
    utterances,
)
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard


async def assemble(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Bring the participants together."""
    place = get_config().get("configurable", {})
    thread = place.get("thread_id") or uuid.uuid4()
    # Inside another graph there may be many conversations on one thread: each is a task of its own, with a namespace.
    inside = str(place.get("checkpoint_ns") or "").rpartition("|")[0]
    name = f"{thread}/{inside}" if inside else str(thread)
    return await asyncio.to_thread(assemble_conversation, state, settings, name)


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
    """The chosen agent says something; that it begins to is told as a custom stream event, at every attempt.

    An agent whose model fails for good is silent for a turn, and somebody else speaks.
    """
    name, turn = mind["name"], mind["situation"]["turn"] + 1
    get_stream_writer()({"turn": turn, "speaker": name, "need_to_talk": mind["needs"]})
    message_id = utterance_id(mind["situation"]["simulation"], turn)
    try:
        utterance, spoken = await word_utterance(mind, settings, message_id)  # type: ignore[arg-type]
    except ModelError as error:
        if mind.get("required") or (is_transient(error) and not last_attempt()):
            raise
        return silenced(mind, "speak", error)
    message = as_message(utterance, spoken.message.id or message_id)
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn}
    return {"messages": [message], "agents": {name: own}, "usage": [spoken.call]}


async def publish(state: Conversation, settings: Settings) -> dict[str, Any]:
    """The utterance is out: the clock moves on, and what everybody did meanwhile is done.

    Where its speaker failed or passed there is none, and the clock stands still.
    """
    turn = state["turn"] + 1
    said = utterances(state["messages"][-1:])
    waiting = state["interventions"]
    done: dict[str, Any] = {}
    if waiting and waiting[0]["do"] in ("say", "floor"):
        done = {"interventions": waiting[1:], "carried_out": [{"turn": state["turn"], **waiting[0]}]}
    if not said or not str(state["messages"][-1].id).startswith(utterance_id(state["simulation"], turn)):
        return done
    speaker, addressees = said[0]["speaker"], said[0]["addressees"]
    agents: dict[str, dict[str, Any]] = {}
    for name, mind in state["agents"].items():
        thought = mind["action"] if mind.get("thought") == turn else ""
        agents[name] = {"did": "speak" if name == speaker else thought}
        if mind.get("human") and is_heard(said[0], name):
            spoken_to = name in addressees or name in (said[0].get("heard_by") or ())
            agents[name]["need_to_talk"] = need_of_person(mind, spoken_to, settings)  # type: ignore[arg-type]
    judged = {
        name: {"did": mind["action"] if mind.get("thought") == turn else ""}
        for name, mind in state["judge_mind"].items()
    }
    return {"turn": turn, "agents": agents, **({"judge_mind": judged} if judged else {}), **done}


async def regroup(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Those whose model could not hear the utterance meet: where that is everybody, they try once more."""
    return {"agents": {name: {"silent": None} for name in state["agents"]}} if nobody_heard(state) else {}


async def judge(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Debates: the judge says whether there is consensus."""
    situation = situation_of(state, "", settings, window=settings.window_size)
    verdict, calls = await give_verdict(situation, state["agents"], _judge_of(state), settings)
    return {"verdicts": [verdict], "usage": calls}


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Say whether it is time to take leave, and why the conversation ends, if it does.

    After an intervention it looks once more.
    """
    if state["stop_reason"] == "stopped":
        return {}
    found = ending(state, settings)
    if found is not None:
        reason, source, detail = found
        agreed = agreed_conclusion(state["verdicts"][-1]) if reason == "consensus" else None
        return {"stop_reason": reason, "stop_source": source, "stop_detail": detail, "conclusion": agreed}
    turn, quiet = state["turn"], state["quiet"]
    if turn > state["checked"]:
        quiet = quiet_turns(quiet, state["agents"], settings)
    closing = state["closing"] or closing_reason(state["turn"], quiet, len(state["agents"]), settings)
    begins = {"closing": closing, "closing_since": state["turn"]} if closing and not state["closing"] else {}
    return {"stop_reason": "", "quiet": quiet, "checked": turn, **begins}


async def select(state: Conversation, settings: Settings) -> dict[str, Any]:
    """pattern=selector: a model that takes no part names the next speaker."""
    able = candidates(state["agents"], state["turn"], settings, leaving_since=leaving_since(state))
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


def build_conversation(
    checkpointer: Checkpointer = None, *, settings: Settings | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled conversation, for `invoke`, `ainvoke`, `stream` and `astream`, alone or as a node of another graph.

    As a node it shares `messages` with the graph around it, and what else both call by one name; `conversation_node()`
    fits it to other keys.

    Args:
        checkpointer: a LangGraph saver; without one, a conversation cannot be resumed. As a subgraph, the parent's is
            used.
        settings: how conversations are held where no context is given; needed inside a graph whose context is
            something else.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        Conversation, context_schema=Context, input_schema=ConversationInput, output_schema=ConversationOutput
    )
    nodes: dict[str, Node] = {
        "assemble": module_node(begin),
        "awaken": mind_node(build_awakening(), "awaken"),
        "judge_awakens": mind_node(build_awakening(speaks=False), "judge_awakens", judge=True),
        "select": module_node(select),
        "intervene": module_node(intervene),
        "speak": module_node(speak),
        "person_speaks": module_node(person_speaks),
        "say": module_node(say),
        "think": mind_node(build_thinking(), "think", may_fail=True),
        "judge_thinks": mind_node(build_thinking(), "judge_thinks", judge=True),
        "publish": module_node(publish),
        "hear": mind_node(build_hearing(), "hear", may_fail=True),
        "judge_hears": mind_node(build_hearing(speaks=False), "judge_hears", judge=True),
        "person_appraises": module_node(person_appraises),
        "analyse": module_node(analyse),
        "regroup": module_node(regroup),
        "judge": module_node(judge),
        "end_check": module_node(end_check),
        "conclude": module_node(conclude),
    }
    for name, node in nodes.items():
        asks = name in ("select", "speak", "analyse", "judge", "conclude")
        builder.add_node(name, node, retry_policy=TRANSIENT if asks else None)
    speaking = ["speak", "person_speaks", "say", "think", "judge_thinks"]
    hearing = ["hear", "judge_hears", "person_appraises", "analyse"]
    builder.add_edge(START, "assemble")
    builder.add_conditional_edges("assemble", everyone_awakens, ["awaken", "judge_awakens"])
    builder.add_edge("awaken", "end_check")
    builder.add_edge("judge_awakens", "end_check")
    after = [*speaking, "select", "intervene", "conclude", END]
    builder.add_conditional_edges("end_check", next_step, after)
    builder.add_edge("intervene", "end_check")
    builder.add_conditional_edges("select", selected_speaks, speaking)
    for name in speaking:
        builder.add_edge(name, "publish")
    builder.add_conditional_edges("publish", after_publishing, [*hearing, *speaking[:2], "select", "end_check"])
    builder.add_conditional_edges("hear", after_hearing, ["regroup", "judge", "end_check"])
    for name in hearing[1:]:
        builder.add_conditional_edges(name, beside_hearing, ["end_check", END])
    builder.add_conditional_edges("regroup", after_regrouping, ["hear", END])
    builder.add_edge("judge", "end_check")
    builder.add_edge("conclude", END)
    compiled = builder.compile(checkpointer=checkpointer, name="conversation")
    return ConversationGraph(settings=settings, **vars(compiled))


graph = build_conversation()
"""The compiled default, for langgraph.json."""
