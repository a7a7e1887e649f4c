"""The common parts of the debate baselines: rounds in which each participant answers once.

Participants see the last round only, so prompts do not grow with the debate.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from persimchat.graph import phases
from persimchat.graph.baselines.building import Graph, Module, analyses, builder_of, compiled
from persimchat.graph.node import current_settings, route
from persimchat.graph.situation import situation_of
from persimchat.nodes.answering import Given, Method, give_answer
from persimchat.state.conversation import Conversation, as_message, merge_minds, utterance_id, utterances
from persimchat.state.mind import Situation, Utterance
from persimchat.state.settings import Settings
from persimchat.state.voting import rounds_of

_SENT: Final = ("name", "persona", "goals", "utterances")
"""The keys of a mind that an answer needs."""


def newest(state: Conversation, count: int) -> list[Utterance]:
    """The last `count` answers, in the order in which they were given."""
    return utterances(state["messages"][-count:])


def last_round(state: Conversation) -> list[Utterance]:
    """The answers of the last finished round; empty during the first."""
    return newest(state, len(state["agents"])) if state["turn"] else []


def limit(state: Conversation, settings: Settings) -> int:
    """The most answers of the debate, in whole rounds.

    Raises:
        InputError: the message limit is smaller than one round.
    """
    participants = len(state["agents"])
    return rounds_of(participants, settings) * participants


def onlooker(state: Conversation, settings: Settings, turn: int) -> Situation:
    """The debate after `turn` answers, as an onlooker sees it."""
    return {**situation_of(state, "", settings), "max_messages": limit(state, settings), "turn": turn}


def answering(
    state: Conversation, node: str, method: Method, name: str, answers: list[Utterance], *, number: int, **more: Any
) -> Send:
    """One participant's answer as a task of a node.

    Args:
        state: the debate.
        node: the node that answers.
        method: the baseline.
        name: the participant.
        answers: the answers that the participant sees.
        number: the utterance's number, from 1.
        **more: further input of the node.
    """
    settings = current_settings()
    most = limit(state, settings)
    situation = {**situation_of(state, name, settings), "max_messages": most, "recent": []}
    mind = {key: value for key, value in state["agents"][name].items() if key in _SENT}
    given = {"method": method, "mind": mind, "situation": situation, "number": number, "answers": answers}
    return Send(node, {**given, **more})


async def answer(given: Given, settings: Settings) -> dict[str, Any]:
    """Have a participant answer."""
    utterance = await give_answer(given, settings)
    message_id = utterance_id(given["situation"]["simulation"], utterance["turn"])
    return {"messages": [as_message(utterance, message_id)]}


def published(state: Conversation) -> dict[str, Any]:
    """The update after a round: all have answered once more, and the clock advances."""
    spoke = {utterance["speaker"]: utterance["turn"] for utterance in newest(state, len(state["agents"]))}
    return {
        "turn": state["turn"] + len(spoke),
        "agents": {
            name: {"utterances": mind["utterances"] + 1, "last_spoke": spoke[name], "did": "speak"}
            for name, mind in state["agents"].items()
        },
    }


def standing(state: Conversation, update: dict[str, Any]) -> dict[str, Any]:
    """All minds after an update that `published` made."""
    return merge_minds(state["agents"], [update["agents"]])


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Set why the debate ends, if it has a conclusion."""
    conclusion, participants = state["conclusion"], len(state["agents"])
    if conclusion is None:
        return {"stop_reason": ""}
    rounds, holders = state["turn"] // participants, len(conclusion["supporters"])
    if conclusion["consensus"]:
        reason, detail = "consensus", f"All {participants} gave the same answer after round {rounds}."
    else:
        cut = rounds < settings.rounds
        room = f", for which the limit of {settings.max_messages} utterances left room" if cut else ""
        reason, detail = "message_limit", f"{held(holders, participants)} it after {said(rounds)}{room}."
    return {"stop_reason": reason, "stop_source": conclusion["by"], "stop_detail": detail}


def held(holders: int, participants: int) -> str:
    """How many participants hold an answer: "2 of 3 hold"."""
    return f"{holders} of {participants} {'holds' if holders == 1 else 'hold'}"


def said(rounds: int) -> str:
    """A number of rounds in words."""
    return "1 round" if rounds == 1 else f"{rounds} rounds"


def build_rounds(method: Literal["mad", "reconcile"], count_votes: Module, checkpointer: Checkpointer) -> Graph:
    """A debate in which all answer at once: assemble ─▶ (answer×n ─▶ count_votes ─▶ end_check)… or END.

    A round is one model call deep.

    Args:
        method: the baseline.
        count_votes: the node after a round, which advances the clock and concludes the debate when it is over.
        checkpointer: a LangGraph saver, or None.
    """

    def next_round(state: Conversation) -> list[Send] | Literal["__end__"]:
        before, first = last_round(state), state["turn"] + 1
        scores = analyses(state, before)
        if state["stop_reason"]:
            return scores or "__end__"
        names = enumerate(state["agents"])
        return [
            *(answering(state, phases.ANSWER, method, name, before, number=first + place) for place, name in names),
            *scores,
        ]

    builder = builder_of({phases.ANSWER: answer, phases.COUNT_VOTES: count_votes, phases.END_CHECK: end_check})
    builder.add_conditional_edges(phases.ASSEMBLE, route(next_round), [phases.ANSWER])
    builder.add_edge(phases.ANSWER, phases.COUNT_VOTES)
    builder.add_edge(phases.COUNT_VOTES, phases.END_CHECK)
    builder.add_conditional_edges(phases.END_CHECK, route(next_round), [phases.ANSWER, phases.ANALYSE, END])
    return compiled(builder, method, checkpointer)
