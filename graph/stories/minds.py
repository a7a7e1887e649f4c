"""The graphs of one mind in a story: awakening, and one graph for each action.

Summaries and reviews become memories as a conversation's thoughts do: through short-term memory into the long-term one.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START

from persimchat.graph.minds import MindGraph, mind_builder
from persimchat.graph.node import route
from persimchat.nodes.awakening import settle
from persimchat.nodes.balloting import vote
from persimchat.nodes.choosing import choose_partner
from persimchat.nodes.remembering import remember_thoughts
from persimchat.nodes.reviewing import review
from persimchat.nodes.saving import save_memories
from persimchat.nodes.stocktaking import take_stock
from persimchat.nodes.story_context import part_of_act
from persimchat.nodes.summarising import sum_up
from persimchat.state.mind import Step
from persimchat.state.settings import Settings


def build_awakening() -> MindGraph:
    """Profile, topic and goals into memory, then the first impressions of the others, if the story has them."""
    builder = mind_builder(settle, settle_without_impressions, review, save_memories)

    def begins(mind: Step) -> str:
        return "settle" if mind["asks"] == "impressions" else "settle_without_impressions"

    builder.add_conditional_edges(START, route(begins), ["settle", "settle_without_impressions"])
    builder.add_edge("settle", "review")
    for settled in ("settle", "settle_without_impressions"):
        builder.add_edge(settled, "save_memories")
    for last in ("review", "save_memories"):
        builder.add_edge(last, END)
    return builder.compile(name="story_awakening")


async def settle_without_impressions(mind: Step, settings: Settings) -> Step:
    """As `settle`, for a story without first impressions."""
    return {**await settle(mind, settings), "story": part_of_act(mind, None)}


def build_answering(module: Any) -> MindGraph:
    """One question to the mind, whose answer leaves no memory: stocktaking, choice, ballot."""
    builder = mind_builder(module)
    builder.add_edge(START, module.__name__)
    builder.add_edge(module.__name__, END)
    return builder.compile(name=module.__name__)


def build_remembering(module: Any) -> MindGraph:
    """One question to the mind, whose answer is remembered: summary, review."""
    builder = mind_builder(module, remember_thoughts, save_memories)
    builder.add_edge(START, module.__name__)
    builder.add_edge(module.__name__, "remember_thoughts")
    builder.add_edge("remember_thoughts", "save_memories")
    builder.add_edge("save_memories", END)
    return builder.compile(name=module.__name__)


def build_stocktaking() -> MindGraph:
    """The graph of `take_stock`."""
    return build_answering(take_stock)


def build_choosing() -> MindGraph:
    """The graph of `choose_partner`."""
    return build_answering(choose_partner)


def build_balloting() -> MindGraph:
    """The graph of `vote`."""
    return build_answering(vote)


def build_summarising() -> MindGraph:
    """The graph of `sum_up`."""
    return build_remembering(sum_up)


def build_reviewing() -> MindGraph:
    """The graph of `review`."""
    return build_remembering(review)
