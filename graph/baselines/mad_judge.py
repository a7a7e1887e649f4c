"""Baseline mad_judge: two sides answer each other tit for tat, until a judge decides the debate.

Source: Liang et al. 2023, "Encouraging Divergent Thinking in Large Language Models through Multi-Agent Debate"
(arXiv:2305.19118), section 2. Taken: the affirmative side answers first, the negative side is asked to disagree; from
the second round on each side answers what the other said last; the level of "tit for tat" is the paper's default,
where no side has to agree or to disagree (level 2 of 0 to 3); after every round the judge says whether one answer is
clearly right, which ends the debate (the adaptive break), and after the last one it has to name one. Ours: the sides
are personas, which alternate in order of listing, so a side may have several members, who answer at the same time and
see the other side's answers and their own; "the affirmative side's answer" is that of most of its members; the judge's
last decision is one call, while the paper has it list the candidates first. A decision of the judge is a consensus only
if all participants gave that answer last.

A round is three model calls deep: one side, the other side, the judge.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from langgraph.graph import END
from langgraph.types import Checkpointer, Send

from ...nodes.baselines.rounds import decide
from ...state.baselines.rounds import Side, Vote, conclusion_of, sides, tallied, verdict_of
from ...state.conversation import Conversation, utterances
from ...state.minds.mind import Utterance
from ...state.settings import Settings
from .. import phases
from ..node import current_settings, route
from .building import Graph, analyses, builder_of, compiled
from .rounds import (
    answer,
    answering,
    held,
    last_round,
    limit,
    newest,
    onlooker,
    published,
    said,
)

NAME: Final = "mad_judge"


def affirmative(state: Conversation) -> list[Send]:
    """Route: the affirmative side answers; from the second round on, it answers what the other side said last."""
    before = last_round(state)
    return _side(state, phases.AFFIRM, "affirmative", before, before, first=state["turn"] + 1)


def negative(state: Conversation) -> list[Send]:
    """Route: the negative side answers what the affirmative side has just said."""
    opened = newest(state, len(_members(state, "affirmative")))
    before = utterances(state["messages"][-len(state["agents"]) - len(opened) : -len(opened)]) if state["turn"] else []
    more: dict[str, Any] = {}
    if not state["turn"]:
        votes = [Vote(u["speaker"], u["answer"]) for u in opened]
        more["opposes"] = tallied(votes, current_settings().answer_format)[0].answer
    return _side(state, phases.OPPOSE, "negative", opened, before, first=state["turn"] + len(opened) + 1, **more)


def _side(
    state: Conversation,
    node: str,
    side: Side,
    others: list[Utterance],
    before: list[Utterance],
    *,
    first: int,
    **more: Any,
) -> list[Send]:
    """The tasks of one side, whose members are shown the other side's last answers and their own."""
    all_sides = sides(list(state["agents"]))
    against = [u for u in others if all_sides[u["speaker"]] != side]
    return [
        answering(
            state,
            node,
            NAME,
            name,
            [*against, *(u for u in before if u["speaker"] == name)],
            number=first + place,
            side=side,
            sides=all_sides,
            **more,
        )
        for place, name in enumerate(_members(state, side))
    ]


def _members(state: Conversation, side: Side) -> list[str]:
    return [name for name, its in sides(list(state["agents"])).items() if its == side]


async def change_sides(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Wait for all answers of the affirmative side; the edge after this node then starts the negative side."""
    return {}


async def judge(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Finish a round, and ask the judge whether the debate is decided."""
    names, form = list(state["agents"]), settings.answer_format
    update = published(state)
    turn, number, rounds = update["turn"], update["turn"] // len(names), limit(state, settings) // len(names)
    answers = newest(state, len(names))
    before = utterances(state["messages"][-2 * len(names) : -len(names)]) if state["turn"] else []
    situation = onlooker(state, settings, turn)
    decision = await decide(situation, answers, sides(names), round=number, rounds=rounds, settings=settings)
    verdict = verdict_of(decision, answers, {u["speaker"]: u["answer"] for u in before}, names, turn, form)
    update |= {"verdicts": [verdict]}
    if not decision.decided:
        return update
    conclusion = conclusion_of(decision, answers, names, form)
    who = held(len(conclusion["supporters"]), len(names))
    detail = f"The judge decided for the {decision.side} side after {said(number)}; {who} its answer."
    return {**update, "conclusion": conclusion, "stop_detail": detail}


async def end_check(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Set why the debate ends, if the judge has decided it: by consensus, before the last round, or after it."""
    conclusion = state["conclusion"]
    if conclusion is None:
        return {"stop_reason": ""}
    over = state["turn"] == limit(state, settings)
    reason = "consensus" if conclusion["consensus"] else "message_limit" if over else "closed"
    return {"stop_reason": reason, "stop_source": NAME}


def next_round(state: Conversation) -> list[Send] | Literal["__end__"]:
    """Route: the end, or the affirmative side again; in parallel the analysis of the last round, if it is on."""
    scores = analyses(state, last_round(state))
    if state["stop_reason"]:
        return scores or "__end__"
    return [*affirmative(state), *scores]


def build_mad_judge(checkpointer: Checkpointer = None) -> Graph:
    """The compiled debate, assemble ─▶ (affirm×n ─▶ change_sides ─▶ oppose×m ─▶ judge ─▶ end_check)… or END.

    See `persimchat.graph.conversation.build_conversation`.
    """
    builder = builder_of(
        {
            phases.AFFIRM: answer,
            phases.CHANGE_SIDES: change_sides,
            phases.OPPOSE: answer,
            phases.JUDGE: judge,
            phases.END_CHECK: end_check,
        }
    )
    builder.add_conditional_edges(phases.ASSEMBLE, route(affirmative), [phases.AFFIRM])
    builder.add_edge(phases.AFFIRM, phases.CHANGE_SIDES)
    builder.add_conditional_edges(phases.CHANGE_SIDES, route(negative), [phases.OPPOSE])
    builder.add_edge(phases.OPPOSE, phases.JUDGE)
    builder.add_edge(phases.JUDGE, phases.END_CHECK)
    builder.add_conditional_edges(phases.END_CHECK, route(next_round), [phases.AFFIRM, phases.ANALYSE, END])
    return compiled(builder, NAME, checkpointer)
