"""Overhearing: how an agent takes in an utterance about which its model is not asked (the setting `listeners`)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ...memory.lexical import nearness
from ...state.errors import ModelError
from ...state.minds.listening import Concern, faded, importance_unasked, need_unasked
from ...state.minds.memory import Memory
from ...state.minds.mind import Mind, Step, Utterance, in_step
from ...state.settings import Settings
from .appraising import as_heard
from .remembering import remember_unembedded, save_memories

_UNSAVED: Final = 8
"""The number of memories that wait in the mind before they are written to the store together."""


async def overhear(mind: Step, settings: Settings, *, agents: int) -> dict[str, Any]:
    """Remember the words, feel a little less and want to talk a little more; no model is asked.

    The recalled memories and the openness to consensus stay as they were, and the agent chooses no action.

    Args:
        mind: with its situation (simulation and turn are read), the utterance, and its listening.
        settings: of the simulation.
        agents: the number of agents.
    """
    assert settings.listeners != "all"
    heard, listening = mind["heard"], mind["listening"]
    percept = as_heard(heard) | {"importance": importance_unasked(nearness(heard["text"], _who_it_is(mind)))}
    update: dict[str, Any] = {"percept": percept, "focal_points": []}
    update |= remember_unembedded(in_step(mind, **update), settings)
    if len(update["unsaved"]) >= _UNSAVED:
        # If the embedding's server fails, they wait until the agent's model is asked, where the error is reported.
        with suppress(ModelError):
            update |= await save_memories(in_step(mind, **update), settings)
    if "need_to_talk" in mind:
        need = need_unasked(mind["need_to_talk"], listening["missed"], agents, settings.listeners)
        update |= {"need_to_talk": need, "need_reasoning": ""}
    update |= {"emotion": faded(mind["emotion"], listening["temper"]), "action": ""}
    if "openness" in mind:
        update["openness_reasoning"] = ""
    if mind.get("silent"):
        update["silent"] = None
    known: Mapping[str, Any] = mind
    return {key: value for key, value in update.items() if key not in known or known[key] != value}


def concern_of(mind: Mind, heard: Utterance, said: str) -> Concern:
    """How much an utterance concerns an agent that heard it.

    Persona, goals, plan and recent memories count alike: short-term memory, the last insights and the agent's own
    last words.

    Args:
        mind: the agent's.
        heard: the utterance.
        said: the agent's last utterance; empty if it said nothing.
    """
    plan, stm = mind.get("plan"), mind.get("stm")
    recent = [Memory.model_construct(**stm).text] if stm else []
    recent += [insight["theme"] for insight in mind.get("insights", [])]
    parts = [
        _who_it_is(mind)[:1],
        mind["goals"],
        [f"{plan['theme']} {plan['reaction']}"] if plan else [],
        [*recent, *([said] if said else [])],
    ]
    near = sum(nearness(heard["text"], texts) for texts in parts)
    asked = mind["listening"]["asked"] if mind.get("listening") else 0
    return Concern(mind["name"], mind["name"] in heard["addressees"], round(near, 6), asked)


def _who_it_is(mind: Mind) -> list[str]:
    """The persona in words, then its goals."""
    persona = mind["persona"]
    about = [persona["description"], *persona["characteristics"].values(), *persona["traits"]]
    return [" ".join(about), *mind["goals"]]
