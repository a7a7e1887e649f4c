"""What one mind carries through a story, and what it is told of it in one act."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from persimchat.state.story import Ablation


class StoryMind(TypedDict):
    """What a mind carries through a story."""

    main: bool
    beliefs: list[dict[str, Any]]
    """`text`, `score` and `for` (a participant's name, or empty)."""
    closeness: dict[str, int]
    """To each of the others, 0–100."""
    supports: str
    """The main character whom it supports; empty for nobody."""
    stock: dict[str, Any] | None
    """The last stocktaking: `summary` and `next_steps`."""
    plan: list[str]
    """A host's plan for its room: a topic for each exchange."""
    review: str
    """The sentence of the last review."""
    done: int
    """The number of the last act of which it has done its part."""
    answer: dict[str, Any] | None
    """What it answered in that act; None if its answers were unusable."""


class Seen(TypedDict):
    """A line of what a character knows has happened."""

    round: int
    do: Literal["met", "summary", "review", "words"]
    who: str
    others: list[str]
    text: str


class StorySituation(TypedDict):
    """The story as one character sees it in one act."""

    round: int
    rounds: int
    stage: str
    """The kind of stage, or "awakening", "update", "settlement"."""
    cast: list[dict[str, Any]]
    """The other characters, as everybody knows them: `name`, `main`, `known_as`, `camp`."""
    resources: list[dict[str, Any]]
    """`name`, `owner`, `influence`, `topics`, `description`."""
    room: dict[str, Any] | None
    """`others`, with what they are known as, `public`, and of a split group `number` and `of`; None outside rooms."""
    happened: list[Seen]
    """Oldest first."""
    candidates: list[str]
    """Who, or what, may be chosen."""
    exchanges: int
    """How often each speaks in the stage."""
    change: int
    """The greatest change of an update."""
    decider: str
    heard: NotRequired[list[int]]
    """For minds that hear and think: the numbers of the utterances that the character has heard, its own clock."""
    ablation: NotRequired[list[Ablation]]
    """What the mind goes without; missing if nothing."""
