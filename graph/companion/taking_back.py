"""Taking the last exchange back, as if it had not been: for another answer, or for other words of the person."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import RemoveMessage

from persimchat.graph.companion.lines import about, line_id
from persimchat.state.companion import Exchange, Talk, Tie
from persimchat.state.companion_state import CompanionState
from persimchat.state.mind import Mind


def undo_of(exchange: Exchange, before: Mind, tie: Tie, after: Mind) -> dict[str, Any]:
    """What a digest has changed, so that it can be taken back.

    Args:
        exchange: the exchange digested.
        before: the whole mind before.
        tie: the tie before.
        after: the whole mind afterwards.
    """
    return {
        "exchange": exchange["id"],
        "talk": exchange["talk"],
        "tie": tie.model_dump(mode="json"),
        "emotion": before["emotion"],
        "stm": before.get("stm"),
        "memories": [memory for memory in after["alive"] if memory not in before["alive"]],
    }


def taken_back(state: CompanionState, mind: Mind, tie: Tie) -> tuple[Mind, Tie, dict[str, Any]]:
    """Mind, tie and channels without the last exchange; unchanged if it is consolidated, or there is none.

    A mind that has gone on with other persons keeps what it felt since.
    """
    pending = list(state.get("pending", []))
    if pending:
        last = pending.pop()
        return mind, _reopened(tie, last["talk"]), {"pending": pending, **_without(state, last["id"])}
    undo = state.get("undo")
    if not undo or not any(talk.id == undo["talk"] for talk in _unconsolidated(tie)):
        return mind, tie, {}
    gone = set(undo["memories"])
    own = {**mind["companion"], "digested": [one for one in mind["companion"]["digested"] if one != undo["exchange"]]}
    newest = next(iter(reversed(mind["companion"]["digested"])), "") == undo["exchange"]
    changed: Any = {
        **mind,
        "alive": {memory: turn for memory, turn in mind["alive"].items() if memory not in gone},
        "unsaved": [memory for memory in mind.get("unsaved", []) if memory["id"] not in gone],
        "companion": own,
    }
    if newest:
        changed |= {"emotion": undo["emotion"], "stm": undo["stm"]}
        changed["alive"].pop(undo["stm"]["id"] if undo["stm"] else "", None)
    return changed, Tie.model_validate(undo["tie"]), {"undo": None, **_without(state, undo["exchange"])}


def _unconsolidated(tie: Tie) -> list[Talk]:
    return [*tie.over, *([tie.talk] if tie.talk else [])]


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
