"""Carries out interventions between two turns: a raised hand, another topic, the end. No model is asked."""

from __future__ import annotations

from typing import Any

from persimchat.memory.consolidation import admit
from persimchat.nodes.person import need_of_person
from persimchat.state.conversation import Conversation, participants
from persimchat.state.emotion import EmotionalState
from persimchat.state.errors import InputError
from persimchat.state.intervention import AnyIntervention, Choose, Floor, Hand, NewTopic, Say, Stop, intervention
from persimchat.state.memory import new_memory
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings

_TOPIC = 1
"""The topic's place among a mind's pinned memories: profile, topic, social goals."""


def pending(state: Conversation) -> AnyIntervention | None:
    """The next intervention; None if there is none.

    Raises:
        InputError: it is not a valid intervention, or has an unknown name.
    """
    waiting = state.get("interventions") or []
    if not waiting:
        return None
    present = participants(state)
    return intervention(waiting[0], list(present), [name for name, mind in present.items() if mind.get("human")])


async def intervene(state: Conversation, settings: Settings) -> dict[str, Any]:
    """Carry out the waiting interventions up to the next `Say` or `Floor`, which the edges handle.

    Raises:
        InputError: as `pending`.
    """
    now: Conversation = state.copy()
    update: dict[str, Any] = {}
    while (wanted := pending(now)) is not None and not isinstance(wanted, Say | Floor):
        done = _carried_out(wanted, now, settings)
        agents = {**update.get("agents", {})}
        for name, changed in done.get("agents", {}).items():
            agents[name] = {**agents.get(name, {}), **changed}
        records = [*update.get("carried_out", []), {"turn": state["turn"], **wanted.model_dump()}]
        waiting = now["interventions"][1:]
        update = {**update, **done, "agents": agents, "interventions": waiting, "carried_out": records}
        now["interventions"] = waiting
    return update


def _carried_out(wanted: AnyIntervention, state: Conversation, settings: Settings) -> dict[str, Any]:
    match wanted:
        case Hand(agent=name, raised=raised):
            mind: Mind = {**state["agents"][name], "hand": raised}
            return {"agents": {name: {"hand": raised, "need_to_talk": need_of_person(mind, False, settings)}}}
        case NewTopic(topic=topic):
            thinking = {name: mind for name, mind in state["agents"].items() if not mind.get("human")}
            turned = {name: _turned_to(topic, mind, state["turn"], settings) for name, mind in thinking.items()}
            return {"topic": topic, "agents": turned}
        case Stop():
            detail = "The moderator ended the conversation."
            return {"stop_reason": "stopped", "stop_source": "moderator", "stop_detail": detail}
        case Choose(host=host):
            raise InputError(
                f"{host} chooses nobody to talk to: this is no story", where="intervention", remedy="Leave it out."
            )
        case _:
            raise TypeError(f"edges, not this node, handle words and the floor: {wanted}")


def _turned_to(topic: str, mind: Mind, turn: int, settings: Settings) -> Mind:
    """The changes of a mind for another topic: it is pinned in place of the old one, which may now be forgotten."""
    if len(mind["pinned"]) <= _TOPIC:
        return {}
    memory = new_memory(mind["name"], turn, "topic", topic, [], 10, EmotionalState().vector())
    pinned = [*mind["pinned"][:_TOPIC], memory.id, *mind["pinned"][_TOPIC + 1 :]]
    alive, _ = admit(mind["alive"], memory.id, turn, settings.ltm_capacity, pinned)
    unsaved = [whole for whole in (*mind.get("unsaved", []), memory.model_dump()) if whole["id"] in alive]
    return {"alive": alive, "pinned": pinned, "unsaved": unsaved}
