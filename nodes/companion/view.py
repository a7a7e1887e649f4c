"""One agent's mind as it is used with one person: without what others have told it in confidence.

The modules of a mind know nothing of persons. They get a view of the mind; what they change goes back into the mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ...memory.consolidation import admit, within
from ...state.companion import CompanionMind
from ...state.minds.mind import STORED, Mind

_OF_ITS_OWN: Final = ("companion", "alive", "unsaved", "stm", "recalled", "role")
"""Keys that go back into the mind by rules of their own, or not at all."""


def view(mind: Mind, person: str, capacity: int) -> Mind:
    """The mind as it may be used with a person.

    A memory of somebody else in short-term memory moves to long-term memory first.

    Args:
        mind: the whole mind.
        person: id of the person.
        capacity: of long-term memory.
    """
    whole = settled(mind, capacity) if not _may_hear(_hearers(mind.get("stm")), person) else mind
    private = whole["companion"].get("private", {})
    return {
        **whole,
        "role": "companion",
        "alive": {
            memory: turn
            for memory, turn in whole["alive"].items()
            if memory not in private or person in private[memory]
        },
        "unsaved": [memory for memory in whole.get("unsaved", []) if _may_hear(_hearers(memory), person)],
        "recalled": [],
    }


def settled(mind: Mind, capacity: int) -> Mind:
    """The mind with its short-term memory moved to long-term memory."""
    stm = mind.get("stm")
    if not stm:
        return mind
    alive, _ = admit(mind["alive"], stm["id"], _tick(mind), capacity, mind["pinned"])
    private = known_hearers(mind["companion"].get("private", {}), [stm], alive)
    own: CompanionMind = {**mind["companion"], "private": private}
    return {**mind, "stm": None, "alive": alive, "unsaved": [*mind.get("unsaved", []), stm], "companion": own}


def returned(mind: Mind, seen: Mind, after: Mapping[str, Any], capacity: int) -> Mind:
    """The whole mind after modules have changed a view of it.

    Args:
        mind: the whole mind before.
        seen: the view that the modules got.
        after: the view after them.
        capacity: of long-term memory: then the memories used least recently go, whosever they are.
    """
    whole = settled(mind, capacity) if mind.get("stm") and seen.get("stm") is None else mind
    changed: dict[str, Any] = {key: value for key, value in after.items() if key in STORED and key not in _OF_ITS_OWN}
    now = after.get("alive", seen["alive"])
    kept = {memory: now.get(memory, turn) for memory, turn in whole["alive"].items()
            if memory in now or memory not in seen["alive"]}  # fmt: skip
    alive, _ = within({**kept, **now}, capacity, whole["pinned"])
    others = [memory for memory in whole.get("unsaved", []) if memory not in seen.get("unsaved", [])]
    unsaved = [memory for memory in [*others, *after.get("unsaved", [])] if memory["id"] in alive]
    told = [
        *filter(None, [seen.get("stm"), after.get("stm")]),
        *seen.get("unsaved", []),
        *after.get("unsaved", []),
        *after.get("insights", []),
        *after.get("arriving", []),
    ]
    private = known_hearers(whole["companion"].get("private", {}), told, alive)
    own: CompanionMind = {**whole["companion"], "private": private}
    made: Any = {**whole, **changed, "alive": alive, "unsaved": unsaved, "companion": own}
    made["stm"] = after.get("stm", seen.get("stm"))
    return made  # type: ignore[no-any-return]


def known_hearers(
    private: Mapping[str, list[str]], memories: Iterable[Mapping[str, Any]], alive: Mapping[str, int]
) -> dict[str, list[str]]:
    """Who may hear of the memories alive, by their ids; those that everybody may hear of are missing.

    Args:
        private: the record so far.
        memories: full copies of memories that are new.
        alive: what is alive now.
    """
    found = {
        **private,
        **{memory["id"]: memory["heard_by"] for memory in memories if memory.get("heard_by") is not None},
    }
    return {memory: hearers for memory, hearers in found.items() if memory in alive}


def _hearers(memory: Mapping[str, Any] | None) -> list[str] | None:
    return memory.get("heard_by") if memory else None


def _may_hear(hearers: list[str] | None, person: str) -> bool:
    return hearers is None or person in hearers


def _tick(mind: Mind) -> int:
    return mind["companion"].get("tick", 0)
