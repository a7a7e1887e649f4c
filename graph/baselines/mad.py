"""Baseline mad: multiagent debate. All answer, then answer again knowing the others' answers; the majority wins.

Source: Du, Li, Torralba, Tenenbaum and Mordatch 2023, "Improving Factuality and Reasoning in Language Models through
Multiagent Debate" (arXiv:2305.14325), section 2. Taken: all agents answer at once; from the second round on each is
shown the last answers of the others beside its own; the number of rounds is fixed, and does not end early where all
agree; the most frequent answer of the last round wins, the earliest listed in a tie. Ours: agents are personas; the
answer's form is checked; answers in free text of which no two are the same in words are read by a judge.
"""

from __future__ import annotations

from typing import Any

from langgraph.types import Checkpointer

from persimchat.graph.baselines.building import Graph
from persimchat.graph.baselines.rounds import build_rounds, limit, newest, onlooker, published, standing
from persimchat.nodes.counting import conclude
from persimchat.state.conversation import Conversation
from persimchat.state.settings import Settings


async def count_votes(state: Conversation, settings: Settings) -> dict[str, Any]:
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
    return build_rounds("mad", count_votes, checkpointer)
