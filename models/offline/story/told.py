"""What a story's prompt tells: from blocks and values to plain data. It knows no more than the prompt shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from persimchat.models.offline.words import normalised
from persimchat.prompts.blocks import Item
from persimchat.prompts.rendering import one_line

OF_STORIES: Final = ("stocktaking", "choice", "summary", "review", "ballot", "story_utterance")
"""The tasks of a story, by the names of their templates."""
_WORDS: Final = ("kind", "first", "place", "exchanges", "change", "ablation", "sentence")


@dataclass(frozen=True)
class Held:
    """A belief; `favours` is empty for nobody, and `score` 0 if the prompt does not show it."""

    text: str
    favours: str
    score: int = 0


@dataclass(frozen=True)
class Passed:
    """A line of what has happened."""

    do: str
    who: str
    others: tuple[str, ...]
    text: str
    round: int


@dataclass(frozen=True)
class Owned:
    """A resource."""

    name: str
    owner: str
    influence: int
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """A story's prompt; what it lacks is empty.

    Attributes:
        round: 0 before the first round.
        stage: its kind.
        decider: who decides in the end.
        mains: the others who are main characters.
        resources: of everybody.
        aims: the strongest beliefs.
        beliefs: all of them, with their scores.
        closeness: by name, of all others or of the candidates.
        supports: whom one stands behind.
        stock: the last stocktaking.
        steps: what it says is to be done next.
        other: who is in the room.
        room: the number of the room of a split group; 0 elsewhere.
        public: whether all know that the two meet.
        plan: topics of a host.
        happened: oldest first.
        candidates: who or what may be chosen.
        words: what is asked for beside that: "kind" of ballot, whether it is the `first` review, `place` of speech,
            `ablation`, and the field of a review's `sentence`.
    """

    round: int = 0
    stage: str = ""
    decider: str = ""
    mains: tuple[str, ...] = ()
    resources: tuple[Owned, ...] = ()
    aims: tuple[Held, ...] = ()
    beliefs: tuple[Held, ...] = ()
    closeness: Mapping[str, int] = field(default_factory=dict)
    supports: str = ""
    stock: str = ""
    steps: tuple[str, ...] = ()
    other: str = ""
    room: int = 0
    public: bool = False
    plan: tuple[str, ...] = ()
    happened: tuple[Passed, ...] = ()
    candidates: tuple[str, ...] = ()
    words: Mapping[str, Any] = field(default_factory=dict)


def told_of(items: Sequence[Item], values: Mapping[str, Any]) -> Told:
    """What the items and values of a story's prompt tell."""
    time = next(_every(items, "story_time"), {})
    return Told(
        round=time.get("round", 0),
        stage=time.get("stage", ""),
        decider=one_line(next(_every(items, "decider"), {}).get("name", "")),
        mains=tuple(one_line(v["name"]) for v in _every(items, "character") if v["main"]),
        resources=tuple(
            Owned(one_line(v["name"]), one_line(v["owner"]), v["influence"], tuple(map(one_line, v["topics"])))
            for v in _every(items, "resource")
        ),
        aims=tuple(Held(one_line(v["text"]), one_line(v["for"])) for v in _every(items, "aim")),
        beliefs=tuple(Held(one_line(v["text"]), one_line(v["for"]), v["score"]) for v in _every(items, "belief")),
        closeness={one_line(v["to"]): v["score"] for v in _every(items, "closeness")}
        or {one_line(v["name"]): v["closeness"] for v in _every(items, "candidate") if v["closeness"] is not None},
        stock=one_line(next(_every(items, "stock"), {}).get("text", "")),
        supports=one_line(next(_every(items, "supports"), {}).get("name", "")),
        steps=tuple(one_line(v["text"]) for v in _every(items, "next_step")),
        other=one_line(next(_every(items, "beside_me"), {}).get("name", "")),
        room=next(_every(items, "room_number"), {}).get("number", 0),
        public=next(_every(items, "room"), {}).get("public", False),
        plan=tuple(one_line(v["text"]) for v in _every(items, "talking_point")),
        happened=tuple(
            Passed(v["do"], one_line(v["who"]), tuple(map(one_line, v["others"])), one_line(v["text"]), v["round"])
            for v in _every(items, "happened")
        ),
        candidates=tuple(one_line(v["name"]) for v in _every(items, "candidate")),
        words={key: values[key] for key in _WORDS if key in values},
    )


def _every(items: Iterable[Item], kind: str) -> Iterator[dict[str, Any]]:
    return (dict(item.values) for item in items if item.kind == kind)


def favoured_in(text: str, speaker: str, names: Iterable[str]) -> str:
    """Whom words speak for, by the set phrases of this model: "for NAME", "for myself"; empty for nobody."""
    if re.search(r"\bfor (?:myself|themselves|me)\b", text):
        return speaker
    for name in names:
        first = name.partition(" ")[0]
        if re.search(rf"\bfor (?:{re.escape(name)}|{re.escape(first)})\b", text):
            return name
    return ""


def speaks_for(text: str, speaker: str, belief: Held, names: Iterable[str]) -> bool:
    """Whether words speak for a belief: for whom it favours, or, if that is nobody, in its own words."""
    if belief.favours:
        return favoured_in(text, speaker, names) == belief.favours
    return normalised(belief.text) in normalised(text)
