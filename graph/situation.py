"""The part of the conversation that each agent gets for one step: pure functions of the conversation's state."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from ..prompts.blocks import LEAST_MEMORY_COST
from ..state import visibility
from ..state.conversation import Conversation, each_utterance, participants
from ..state.language import ENGLISH
from ..state.minds.mind import Mind, Situation, Step, Utterance, in_step
from ..state.persona import Relationship
from ..state.settings import Settings
from .guiding import as_seen, limit_of


def last_heard(state: Conversation, name: str, count: int) -> list[Utterance]:
    """The last `count` utterances that a participant hears (an onlooker, if `name` is empty), oldest first."""
    newest_first = each_utterance(islice(reversed(state["messages"]), state["turn"]))
    return visibility.last_heard(newest_first, name, count)


def compared_with(state: Conversation, name: str, settings: Settings) -> list[str]:
    """The utterances, as a participant heard them, that its next one is compared with, so that it repeats none."""
    count = settings.repetition_window if settings.repetition_check else 0
    return [utterance["text"] for utterance in last_heard(state, name, count)]


def situation_of(state: Conversation, name: str, settings: Settings, *, window: int | None = None) -> Situation:
    """The conversation as one agent sees it, with the last utterances only, so that prompts do not grow.

    Args:
        state: the conversation.
        name: the agent; empty for an onlooker, who has no relationships.
        settings: of the simulation.
        window: the number of last utterances; `recent_utterances` if None.
    """
    ties = state["relationships"] if settings.relationships else []
    own = [Relationship.model_validate(tie).seen_by(name) for tie in ties if name in (tie["from"], tie["to"])]
    situation: Situation = {
        "simulation": state["simulation"],
        "topic": state["topic"],
        "turn": state["turn"],
        "max_messages": limit_of(state, settings),
        "present": list(participants(state)),
        "rules": state["rules"],
        "relationships": [seen for seen in own if seen is not None],
        "recent": last_heard(state, name, window or settings.recent_utterances),
        "debate": {"format": settings.answer_format, "choices": settings.choices}
        if settings.mode == "debate"
        else None,
        "closing": bool(state.get("closing")),
    }
    forms = {name: mind.get("persona", {}).get("called") for name, mind in participants(state).items()}
    if called := {name: form for name, form in forms.items() if form}:
        situation["called"] = called
    if settings.language != ENGLISH:
        situation["language"] = settings.language
    if settings.brief is not None:
        situation["brief"] = settings.brief
    guide = as_seen(state)
    return situation if guide is None else {**situation, "guide": guide}


_REPLACED: Final = frozenset(
    {
        *("percept", "focal_points", "insights", "need_reasoning", "openness_reasoning"),
        *("did", "thought", "listening", "pruned"),
    }
)
"""Keys of a mind that the next step does not read. They are not sent to it, because checkpoints store what is sent."""


def for_step(
    state: Conversation,
    mind: Mind,
    settings: Settings,
    *,
    recalls: bool = True,
    **given: Any,
) -> Step:
    """One mind with its input for one step.

    Args:
        state: the conversation.
        mind: the mind of a participant or of the judge.
        settings: of the simulation.
        recalls: whether the step reads the memories recalled last; only as many are sent as a prompt can show.
        **given: further input of the step.
    """
    kept: dict[str, Any] = {key: value for key, value in mind.items() if key not in _REPLACED}
    # Pinned memories are recalled, but have their own blocks in prompts and do not count among the memories shown.
    shown = settings.memory_tokens // LEAST_MEMORY_COST + len(kept["pinned"]) if recalls else 0
    if state["turn"] and "memories" in kept["persona"]:  # they were taken in before the first utterance
        kept["persona"] = {key: value for key, value in kept["persona"].items() if key != "memories"}
    situation = situation_of(state, kept["name"], settings)
    return in_step(kept, recalled=kept.get("recalled", [])[:shown], situation=situation, **given)
