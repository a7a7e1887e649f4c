"""The graphs of one mind in a story: awakening, and one graph for each action.

Summaries and reviews become memories as a conversation's thoughts do: through short-term memory into the long-term one.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START

from persimchat.graph.minds import MindGraph, after_settling, mind_builder
from persimchat.graph.node import current_settings, route
from persimchat.graph.stories.talks import hears
from persimchat.nodes.at_once import appraise_at_once
from persimchat.nodes.awakening import settle, settle_unfelt
from persimchat.nodes.balloting import vote
from persimchat.nodes.choosing import choose_partner
from persimchat.nodes.emotion import feel
from persimchat.nodes.need_to_talk import judge_need_to_talk
from persimchat.nodes.remembering import remember_thoughts
from persimchat.nodes.reviewing import review
from persimchat.nodes.saving import save_memories
from persimchat.nodes.stocktaking import take_stock
from persimchat.nodes.story_context import part_of_act
from persimchat.nodes.summarising import sum_up
from persimchat.state.mind import Step
from persimchat.state.settings import Settings


def build_awakening() -> MindGraph:
    """Profile, topic and goals into memory, then the first impressions of the others, if the story has them.

    A mind that hears and thinks awakens as in a conversation besides: feel → need to talk, or both in one answer.
    """
    apart = (feel, judge_need_to_talk, appraise_at_once)
    builder = mind_builder(settle, settle_without_impressions, review, *apart, save_memories)

    def begins(mind: Step) -> str:
        return "settle" if mind["asks"] == "impressions" else "settle_without_impressions"

    def has_settled(mind: Step) -> list[str]:
        felt = [after_settling(mind)] if hears(current_settings()) else []
        return [*(["review"] if mind["asks"] == "impressions" else []), *felt, "save_memories"]

    builder.add_conditional_edges(START, route(begins), ["settle", "settle_without_impressions"])
    next_ = ["review", "feel", "appraise_at_once", "save_memories"]
    for settled in ("settle", "settle_without_impressions"):
        builder.add_conditional_edges(settled, route(has_settled), next_)
    builder.add_edge("feel", "judge_need_to_talk")
    for last in ("review", "judge_need_to_talk", "appraise_at_once", "save_memories"):
        builder.add_edge(last, END)
    return builder.compile(name="story_awakening")


async def settle_without_impressions(mind: Step, settings: Settings) -> Step:
    """As `settle`, for a story without first impressions."""
    return {**await settle(mind, settings), "story": part_of_act(mind, None)}


async def settle_alone(mind: Step, settings: Settings) -> Step:
    """As `settle`, for a character whose model fails; a mind that hears and thinks is calm."""
    return await (settle_unfelt if hears(settings) else settle)(mind, settings)


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
