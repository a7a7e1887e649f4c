"""The conversation: assemble ─▶ awaken×n ─▶ (speak ‖ think×(n−1) ─▶ publish ─▶ hear×n ─▶ end_check)… or END.

One turn is four supersteps and three model calls deep: speak, perceive, appraise. In debates the judge's call between
hearing and the end check is the fourth. This module is wiring only.
"""

from __future__ import annotations

import asyncio
import uuid
from itertools import islice
from typing import Any

from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from ..models.attention.scoring import check_settings
from ..models.failures import is_transient
from ..models.ledger import current_ledger
from ..nodes.assembling import assemble as assemble_conversation
from ..nodes.debates.judge import agreed_conclusion, give_verdict, word_majority
from ..nodes.minds.awakening import settle_unfelt
from ..nodes.minds.natural_language import Template, word_utterance
from ..nodes.minds.overhearing import concern_of
from ..nodes.minds.overhearing import overhear as remember_words
from ..nodes.onlookers import analyse, select_speaker
from ..nodes.people import intervene, need_of_person, person_appraises, person_speaks, person_takes_position, say
from ..state.conversation import (
    Conversation,
    ConversationInput,
    ConversationOutput,
    as_message,
    each_utterance,
    judge_mind,
    participants,
    utterance_id,
    utterances,
)
from ..state.errors import InputError, ModelError
from ..state.minds.listening import Listening, most_concerned, noticed
from ..state.minds.mind import Step, Utterance, in_step
from ..state.settings import Settings
from ..state.visibility import is_heard
from . import phases
from .compiled import HELD, ConversationGraph
from .context import Context
from .edges import (
    after_publishing,
    after_regrouping,
    beside_hearing,
    everyone_awakens,
    has_awoken,
    has_heard,
    last_utterance,
    leaving_since,
    next_step,
    nobody_took_part,
    overhearers,
    selected_speaks,
)
from .ending import closing_reason, ending, quiet_turns
from .guiding import positions_due, resting
from .langgraph_compat import Node, recompiled
from .minds.building import build_awakening, build_hearing, build_thinking
from .node import TRANSIENT, last_attempt, mind_node, module_node, route, silenced
from .routing import candidates
from .situation import situation_of


def listening_to(state: Conversation, heard: Utterance, settings: Settings) -> dict[str, Listening]:
    """The new record of listening of every agent that hears an utterance; empty if all are asked.

    Args:
        state: the conversation, with the utterance as its last message, which `turn` does not count yet.
        heard: the utterance.
        settings: `listeners` and `recent_utterances` are read.
    """
    if settings.listeners == "all":
        return {}
    minds = {
        name: mind for name, mind in participants(state).items() if not mind.get("human") and is_heard(heard, name)
    }
    before = islice(reversed(state["messages"]), 1, 1 + min(state["turn"], settings.recent_utterances))
    said: dict[str, str] = {}
    for utterance in each_utterance(before):
        said.setdefault(utterance["speaker"], utterance["text"])
    concerns = [concern_of(mind, heard, said.get(name, "")) for name, mind in minds.items() if name != heard["speaker"]]
    asked = {heard["speaker"], *most_concerned(concerns, settings.listeners)}
    return {
        name: noticed(mind.get("listening"), heard["turn"], mind["emotion"], asked=name in asked)
        for name, mind in minds.items()
    }


async def assemble(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Make the conversation's channels and minds from its input.

    Raises:
        InputError: the input is invalid, or pruning needs a scorer that cannot be used.
    """
    ledger = current_ledger()
    if ledger is None or not ledger.replays:  # a replay takes the scores from the record
        await check_settings(settings)
    place = get_config().get("configurable", {})
    thread = place.get("thread_id") or uuid.uuid4()
    # Inside another graph, one thread may hold many conversations, each a task with its own namespace.
    inside = str(place.get("checkpoint_ns") or "").rpartition("|")[0]
    name = f"{thread}/{inside}" if inside else str(thread)
    assembled = await asyncio.to_thread(assemble_conversation, state, settings, name)
    place.get(HELD, []).append((settings.store, assembled["simulation"]))
    return assembled


async def begin(state: Conversation, settings: Settings) -> dict[str, Any]:
    """As `assemble`; refuse settings with a baseline, because each baseline has its own graph.

    Raises:
        InputError: the settings name a baseline, or the input is invalid.
    """
    if settings.baseline is not None:
        raise InputError(
            "the conversation of minds cannot run a baseline",
            where=f"setting baseline={settings.baseline}",
            remedy="Leave it out, or use persimchat.graph.kinds.graph_for(settings).",
        )
    return await assemble(state, settings)


async def spoken_words(mind: Step, settings: Settings, template: Template = "utterance") -> dict[str, Any]:
    """A participant words its utterance, after a custom stream event with the speaker.

    Raises:
        ModelError: as `word_utterance`.
    """
    name, turn = mind["name"], mind["situation"]["turn"] + 1
    get_stream_writer()({"turn": turn, "speaker": name, "need_to_talk": mind["needs"]})
    message_id = utterance_id(mind["situation"]["simulation"], turn)
    worded = await word_utterance(mind, settings, message_id, template=template)
    message = as_message(worded.utterance, worded.spoken.message.id or message_id)
    own = {"utterances": mind["utterances"] + 1, "last_spoke": turn, **worded.own}
    return {"messages": [message], "agents": {name: own}}


async def speak(mind: Step, settings: Settings) -> dict[str, Any]:
    """The chosen agent words its utterance; every attempt announces the speaker anew.

    If its model fails permanently, the agent is silent for a turn, and another participant speaks.
    """
    try:
        return await spoken_words(mind, settings)
    except ModelError as error:
        if mind.get("required") or (is_transient(error) and not last_attempt()):
            raise
        return silenced(mind, phases.SPEAK, error)


async def publish(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Advance the clock after an utterance, record what each mind did meanwhile, and choose who listens.

    If the speaker failed or passed, there is no utterance, and the clock stands still.
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
            agents[name]["need_to_talk"] = need_of_person(mind, spoken_to, settings)
    for name, listening in listening_to(state, said[0], settings).items():
        agents[name]["listening"] = listening
    return {"turn": turn, "agents": agents, **done}


async def overhear(state: Conversation, settings: Settings) -> dict[str, Any]:
    """The setting `listeners`: agents whose model is not asked about the last utterance remember its words."""
    heard = last_utterance(state)
    names, agents = overhearers(state, heard), sum(not mind.get("human") for mind in participants(state).values())
    situation = situation_of(state, "", settings)
    minds = [in_step(state["agents"][name], heard=heard, situation=situation) for name in names]
    left = await asyncio.gather(*(remember_words(mind, settings, agents=agents) for mind in minds))
    return {"agents": dict(zip(names, left, strict=True))}


async def regroup(state: Conversation, settings: Settings) -> dict[str, Any]:
    """End the silence of all participants if the models of all agents failed at awakening or hearing.

    Then the agents try once more.
    """
    return {"agents": {name: {"silent": None} for name in participants(state)}} if nobody_took_part(state) else {}


async def judge(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Ask a debate's judge whether there is consensus."""
    situation = situation_of(state, "", settings, window=settings.judge_window)
    verdict = await give_verdict(situation, participants(state), judge_mind(state), settings)
    return {"verdicts": [verdict]}


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Decide whether the conversation closes or ends, and why; runs once per turn and after every intervention."""
    if state["stop_reason"] == "stopped":
        return {}
    found = ending(state, settings)
    if found is not None and not positions_due(state, over=True):
        reason, source, detail = found
        agreed = (
            agreed_conclusion(state["verdicts"][-1], utterances(state["messages"])) if reason == "consensus" else None
        )
        return {"stop_reason": reason, "stop_source": source, "stop_detail": detail, "conclusion": agreed}
    turn, quiet, present = state["turn"], state["quiet"], participants(state)
    if turn > state["checked"]:
        quiet = quiet_turns(quiet, present, settings)
    closing = state["closing"]
    if not state.get("guide"):  # a guide ends when its last question is done
        closing = closing or closing_reason(state["turn"], quiet, len(present), settings)
    begins = {"closing": closing, "closing_since": state["turn"]} if closing and not state["closing"] else {}
    return {"stop_reason": "", "quiet": quiet, "checked": turn, **begins}


async def select(state: Conversation, settings: Settings) -> dict[str, Any]:
    """pattern=selector, baseline=group_chat: ask the selector's model for the next speaker."""
    present = participants(state)
    able = candidates(present, state["turn"], settings, leaving_since=leaving_since(state), resting=resting(state))
    selected = await select_speaker(situation_of(state, "", settings), present, able, settings)
    return {"selected": selected}


async def conclude(state: Conversation, settings: Settings) -> dict[str, Any]:
    """After a debate without consensus, let the judge word the position of the majority."""
    situation = situation_of(state, "", settings, window=settings.judge_window)
    verdict, said = next(iter(state["verdicts"][-1:]), None), utterances(state["messages"])
    conclusion = await word_majority(
        situation, participants(state), judge_mind(state), settings, verdict=verdict, said=said
    )
    return {"conclusion": conclusion}


def build_conversation(
    checkpointer: Checkpointer = None, *, settings: Settings | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled conversation, for `invoke`, `ainvoke`, `stream` and `astream`, alone or as a node of another graph.

    As a node it shares `messages`, and all other keys with equal names, with the surrounding graph. For other keys, use
    `conversation_node()`.

    Args:
        checkpointer: a LangGraph saver; without one, a conversation cannot be resumed. A subgraph uses the parent's.
        settings: the settings of conversations without a context; needed inside a graph whose context holds no
            settings.
    """
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        Conversation, context_schema=Context, input_schema=ConversationInput, output_schema=ConversationOutput
    )
    nodes: dict[str, Node] = {
        phases.ASSEMBLE: module_node(begin),
        phases.AWAKEN: mind_node(build_awakening(), phases.AWAKEN, leads=has_awoken, otherwise=settle_unfelt),
        phases.SELECT: module_node(select, tells=True),
        phases.INTERVENE: module_node(intervene),
        phases.SPEAK: module_node(speak, tells=True),
        phases.PERSON_SPEAKS: module_node(person_speaks),
        phases.SAY: module_node(say),
        phases.THINK: mind_node(build_thinking(), phases.THINK),
        phases.PUBLISH: module_node(publish),
        phases.HEAR: mind_node(build_hearing(), phases.HEAR, leads=has_heard),
        phases.OVERHEAR: module_node(overhear),
        phases.PERSON_APPRAISES: module_node(person_appraises),
        phases.PERSON_TAKES_POSITION: module_node(person_takes_position),
        phases.ANALYSE: module_node(analyse, tells=True),
        phases.REGROUP: module_node(regroup),
        phases.JUDGE: module_node(judge, tells=True),
        phases.END_CHECK: module_node(end_check),
        phases.CONCLUDE: module_node(conclude, tells=True),
    }
    leads_to = {
        phases.AWAKEN: (phases.REGROUP, phases.END_CHECK, END),
        phases.HEAR: (phases.REGROUP, phases.JUDGE, phases.END_CHECK, END),
    }
    for name, node in nodes.items():
        asks = name in (phases.SELECT, phases.SPEAK, phases.ANALYSE, phases.JUDGE, phases.CONCLUDE)
        builder.add_node(name, node, retry_policy=TRANSIENT if asks else None, destinations=leads_to.get(name))
    speaking = [phases.SPEAK, phases.PERSON_SPEAKS, phases.SAY, phases.THINK]
    beside = [phases.PERSON_APPRAISES, phases.ANALYSE]
    builder.add_edge(START, phases.ASSEMBLE)
    builder.add_conditional_edges(phases.ASSEMBLE, route(everyone_awakens), [phases.AWAKEN])
    between = [phases.INTERVENE, phases.PERSON_TAKES_POSITION]
    after = [*speaking, phases.SELECT, *between, phases.CONCLUDE, END]
    builder.add_conditional_edges(phases.END_CHECK, route(next_step), after)
    for name in between:
        builder.add_edge(name, phases.END_CHECK)
    builder.add_conditional_edges(phases.SELECT, route(selected_speaks), speaking)
    for name in speaking:
        builder.add_edge(name, phases.PUBLISH)
    after_words = [phases.HEAR, *beside, phases.OVERHEAR, *speaking[:3], phases.SELECT, phases.END_CHECK]
    builder.add_conditional_edges(phases.PUBLISH, route(after_publishing), after_words)
    builder.add_edge(phases.OVERHEAR, END)
    for name in beside:
        builder.add_conditional_edges(name, route(beside_hearing), [phases.END_CHECK, END])
    builder.add_conditional_edges(phases.REGROUP, route(after_regrouping), [phases.AWAKEN, phases.HEAR, END])
    builder.add_edge(phases.JUDGE, phases.END_CHECK)
    builder.add_edge(phases.CONCLUDE, END)
    compiled = builder.compile(checkpointer=checkpointer, name="conversation")
    return recompiled(ConversationGraph, compiled, settings=settings)


graph = build_conversation()
"""The compiled conversation without checkpoints, which callers share."""
