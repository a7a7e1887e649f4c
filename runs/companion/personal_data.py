"""What of a world belongs to one person: memories with all that rests on them, and what a mind holds of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...state.companion import person_key
from ...state.minds.memory import PINNED, Memory
from ...state.plain_text import folded

_FLEETING: Final = ("percept", "focal_points", "recalled", "plan", "weak", "silent", "listening", "pruned")
"""What a mind holds of its last steps, whomever they were with; the next step makes them anew."""


@dataclass(frozen=True)
class Person:
    """Somebody who is to be forgotten.

    Attributes:
        id: of the person.
        name: as it is written.
    """

    id: str
    name: str

    @property
    def key(self) -> str:
        """The form by which persons are told apart."""
        return person_key(self.name)

    def is_named_in(self, text: str) -> bool:
        """Whether a text has the name as words of its own, regardless of case and accents."""
        name = folded(self.name)
        return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded(text)) is not None

    def is_in(self, value: Any) -> bool:
        """Whether any text in a value of JSON has the name."""
        return any(map(self.is_named_in, _texts_in(value)))


def _texts_in(value: Any) -> Iterable[str]:
    """All texts in a value of JSON, keys of mappings too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def carried(mind: Mapping[str, Any]) -> list[Memory]:
    """The memories of which a mind has full copies: unsaved ones, and the one in short-term memory."""
    stm = mind.get("stm")
    return [Memory.model_validate(one) for one in (*mind.get("unsaved", []), *([stm] if stm else []))]


def memories_of(person: Person, memories: Collection[Memory], besides: Collection[str] = ()) -> set[str]:
    """Ids of the memories that belong to a person, with all that rest on them.

    Args:
        person: whose.
        memories: all of an agent.
        besides: ids that belong to the person, as the record says.
    """
    own = {
        memory.id
        for memory in memories
        if (memory.circumstance and memory.circumstance.person == person.id) or memory.heard_by == [person.id]
    }
    return with_what_rests_on(own | set(besides), memories)


def with_what_rests_on(gone: set[str], memories: Collection[Memory]) -> set[str]:
    """The memories, and those with any of them in their evidence, and so on."""
    found = set(gone)
    while more := {memory.id for memory in memories if found.intersection(memory.evidence)} - found:
        found |= more
    return found


def mentioning(person: Person, memories: Iterable[Memory], gone: Collection[str]) -> list[Memory]:
    """The memories of other people's talks, and of none, that have the person's name.

    What a persona is and wants comes from the place file, and is none of them.
    """
    return [
        memory
        for memory in memories
        if memory.id not in gone and memory.kind not in PINNED and person.is_in(memory.model_dump(exclude={"id"}))
    ]


def without(
    mind: Mapping[str, Any], gone: Collection[str], person: Person, exchanges: Collection[str] = ()
) -> dict[str, Any]:
    """A mind without memories of a person, and without plans with them.

    Args:
        mind: as the record keeps it.
        gone: ids of the memories.
        person: who is forgotten.
        exchanges: ids of the exchanges with the person: a new acquaintance has the same ids again.
    """
    stm, own = mind.get("stm"), dict(mind.get("companion", {}))
    if "private" in own:
        own["private"] = {
            memory: [one for one in hearers if one != person.id]
            for memory, hearers in own["private"].items()
            if memory not in gone
        }
    own["digested"] = [one for one in own.get("digested", []) if one not in exchanges]
    for key in {"plan", "seen"} & own.keys():
        own[key] = [one for one in own[key] if one.get("heard_by") != [person.id] and not person.is_in(one)]
    return {
        **{key: value for key, value in mind.items() if key not in _FLEETING},
        "alive": {memory: turn for memory, turn in mind.get("alive", {}).items() if memory not in gone},
        "pinned": [memory for memory in mind.get("pinned", []) if memory not in gone],
        "unsaved": [memory for memory in mind.get("unsaved", []) if memory["id"] not in gone],
        "stm": None if stm and stm["id"] in gone else stm,
        "insights": [],
        "companion": own,
    }
