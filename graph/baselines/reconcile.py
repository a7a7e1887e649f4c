"""Baseline reconcile: a round table that talks until all agree, or votes by confidence after the last round.

Source: Chen, Saha and Bansal 2023, "ReConcile: Round-Table Conference Improves Reasoning via Consensus among Diverse
LLMs" (arXiv:2309.13007), section 3. Taken: each agent answers with reasons and a confidence; in each later round each
agent sees all answers, grouped by answer, with reasons and confidences; the debate ends as soon as all agree, or after
the last round; then the answers are weighted by their rescaled confidences (`state.voting.calibrated`). Ours: the first
answers, which the paper does not count, are the first round of `rounds`, so that all baselines have as many answers;
agents are personas (with different models if `agent_models` says so, as in the paper); agents see no examples of
convincing explanations, because there are none for a simulation's questions.
"""

from __future__ import annotations

from typing import Any

from langgraph.types import Checkpointer

from persimchat.graph.baselines.building import Graph
from persimchat.graph.baselines.rounds import build_rounds, limit, newest, onlooker, published, standing
from persimchat.nodes.counting import conclude, counted
from persimchat.state.conversation import Conversation
from persimchat.state.settings import Settings


async def count_votes(state: Conversation, settings: Settings) -> dict[str, Any]:
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
    return build_rounds("reconcile", count_votes, checkpointer)
