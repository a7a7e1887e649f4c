"""Taking the last exchange back, as if it had not been: for another answer, or for other words of the person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import RemoveMessage

from persimchat.graph.companion.lines import about, line_id
from persimchat.state.companion import CompanionMind, Exchange, Talk, Tie
from persimchat.state.companion_state import CompanionState
from persimchat.state.mind import Mind


def undo_of(exchange: Exchange, before: Mind, tie: Tie, after: Mind) -> dict[str, Any]:
    """What a digest has changed, so that it can be taken back; nothing that another person has said is in it.

    Args:
        exchange: the exchange digested.
        before: the whole mind before.
        tie: the tie before.
        after: the whole mind afterwards.
    """
    stm = before.get("stm")
    own = bool(stm and (stm.get("circumstance") or {}).get("person") == tie.person)
    talk = next((one for one in tie.unconsolidated if one.id == exchange["talk"]), None)
    return {
        "exchange": exchange["id"],
        "talk": talk.model_dump(mode="json") if talk is not None else None,
        "trust": tie.trust,
        "talked": tie.talked,
        "emotion": before["emotion"],
        "label": before["companion"].get("label", "neutral"),
        "importance": _importance(after) - _importance(before),
        "stm": stm if own else None,
        "memories": sorted(_memories(after) - _memories(before)),
    }


def taken_back(state: CompanionState, mind: Mind, tie: Tie) -> tuple[Mind, Tie, dict[str, Any]]:
    """Mind, tie and channels without the last exchange; unchanged if its talk is consolidated, or there is none.

    What has happened since stays: other talks of the person, and other persons' talks with what the agent felt in them.
    """
    pending = list(state.get("pending", []))
    if pending:
        last = pending.pop()
        return mind, _reopened(tie, last["talk"]), {"pending": pending, **_without(state, last["id"])}
    undo = state.get("undo")
    talk = Talk.model_validate(undo["talk"]) if undo and undo["talk"] else None
    if not undo or talk is None or not any(one.id == talk.id for one in tie.unconsolidated):
        return mind, tie, {}
    return _unlearned(mind, undo), _untold(tie, undo, talk), {"undo": None, **_without(state, undo["exchange"])}


def _unlearned(mind: Mind, undo: Mapping[str, Any]) -> Mind:
    """The mind without what an exchange has left in it."""
    gone, own, stm = set(undo["memories"]), mind["companion"], mind.get("stm")
    unsaved = mind.get("unsaved", [])
    alive = {memory: turn for memory, turn in mind["alive"].items() if memory not in gone}
    left: CompanionMind = {
        **own,
        "private": {memory: hearers for memory, hearers in own.get("private", {}).items() if memory not in gone},
        "digested": [one for one in own["digested"] if one != undo["exchange"]],
        "since_reflection": max(0, own.get("since_reflection", 0) - undo["importance"]),
    }
    felt: Any = {}
    if own["digested"][-1:] == [undo["exchange"]]:
        left["label"] = undo["label"]
        felt = {"emotion": undo["emotion"]}
    if stm and stm["id"] in gone:
        # The one before comes back, if nobody has forgotten it.
        stm = undo["stm"] if undo["stm"] and undo["stm"]["id"] in alive else None
        alive.pop(stm["id"] if stm else "", None)
    out = gone | ({stm["id"]} if stm else set())
    unsaved = [memory for memory in unsaved if memory["id"] not in out]
    return {**mind, **felt, "alive": alive, "unsaved": unsaved, "stm": stm, "companion": left}


def _untold(tie: Tie, undo: Mapping[str, Any], talk: Talk) -> Tie:
    """The tie with trust and talk as they were before an exchange."""
    before = {"trust": undo["trust"], "talked": undo["talked"]}
    if tie.talk is not None and tie.talk.id != talk.id:
        over = [talk if one.id == talk.id else one for one in tie.over]
        return tie.model_copy(update={**before, "over": over})
    over = [one for one in tie.over if one.id != talk.id]
    return tie.model_copy(update={**before, "talk": talk, "over": over})


def _memories(mind: Mind) -> set[str]:
    stm = mind.get("stm")
    return {*mind["alive"], *([stm["id"]] if stm else [])}


def _importance(mind: Mind) -> int:
    return mind["companion"].get("since_reflection", 0)


def _reopened(tie: Tie, talk: str) -> Tie:
    """The tie with this talk open again, and no longer about to end."""
    over = next((one for one in tie.over if one.id == talk), None)
    opened = tie.talk or over
    if opened is None or opened.id != talk:
        return tie
    rest = [one for one in tie.over if one.id != talk]
    return tie.model_copy(update={"talk": opened.model_copy(update={"closing": False}), "over": rest})


def _without(state: CompanionState, exchange: str) -> dict[str, Any]:
    ids = {line_id(exchange, own=own) for own in (False, True)}
    known = [str(message.id) for message in state.get("messages", []) if str(message.id) in ids and about(message)]
    return {"messages": [RemoveMessage(id=one) for one in known], "answer": None}
