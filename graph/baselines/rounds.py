"""Baselines mad and reconcile, and what debates in rounds have in common: each participant answers once a round.

Participants see the last round only, so prompts do not grow with the debate.

mad: Du, Li, Torralba, Tenenbaum and Mordatch 2023, "Improving Factuality and Reasoning in Language Models through
Multiagent Debate" (arXiv:2305.14325), section 2. Taken: all agents answer at once; from the second round on each is
shown the last answers of the others beside its own; the number of rounds is fixed, and does not end early where all
agree; the most frequent answer of the last round wins, the earliest listed in a tie. Ours: agents are personas; the
answer's form is checked; answers in free text of which no two are the same in words are read by a judge.

reconcile: Chen, Saha and Bansal 2023, "ReConcile: Round-Table Conference Improves Reasoning via Consensus among Diverse
LLMs" (arXiv:2309.13007), section 3. Taken: each agent answers with reasons and a confidence; in each later round each
agent sees all answers, grouped by answer, with reasons and confidences; the debate ends as soon as all agree, or after
the last round; then the answers are weighted by their rescaled confidences. Ours: the first answers, which the paper
does not count, are the first round of `rounds`, so that all baselines have as many answers; agents are personas (with
different models if `agent_models` says so, as in the paper); agents see no examples of convincing explanations, because
there are none for a simulation's questions.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from ...nodes.baselines.rounds import Given, Method, conclude, counted, give_answer
from ...state.baselines.rounds import rounds_of
from ...state.conversation import Conversation, as_message, merge_minds, utterance_id, utterances
from ...state.minds.mind import Situation, Utterance
from ...state.settings import Settings
from .. import phases
from ..node import current_settings, route
from ..situation import situation_of
from .building import Graph, Module, analyses, builder_of, compiled

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


async def _count_in_mad(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Finish a round; after the last one, conclude with the majority's answer."""
    update, participants = published(state), len(state["agents"])
    if update["turn"] < limit(state, settings):
        return update
    situation = onlooker(state, settings, update["turn"])
    answers = newest(state, participants)
    conclusion = await conclude(situation, standing(state, update), answers, settings, by="mad", weighted=False)
    return {**update, "conclusion": conclusion}


def build_mad(checkpointer: Checkpointer = None) -> Graph:
    """The compiled debate; see `persimchat.graph.conversation.build_conversation`."""
    return build_rounds("mad", _count_in_mad, checkpointer)


async def _count_in_reconcile(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Finish a round; if all agree, or after the last round, conclude the debate."""
    update, participants = published(state), len(state["agents"])
    answers = newest(state, participants)
    agreed = len(counted(answers, settings, weighted=True)) == 1
    if not agreed and update["turn"] < limit(state, settings):
        return update
    situation = onlooker(state, settings, update["turn"])
    conclusion = await conclude(situation, standing(state, update), answers, settings, by="reconcile", weighted=True)
    return {**update, "conclusion": conclusion}


def build_reconcile(checkpointer: Checkpointer = None) -> Graph:
    """The compiled debate; see `persimchat.graph.conversation.build_conversation`."""
    return build_rounds("reconcile", _count_in_reconcile, checkpointer)
