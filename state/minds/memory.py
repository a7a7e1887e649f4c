"""One memory: what an agent keeps of something perceived, thought or planned (thesis, 5.2.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..persona import Persona
from .emotion import EmotionalState, Level

MemoryKind = Literal[
    "profile", "topic", "social_goals", "perception", "reflection", "plan", "summary", "review", "event", "talk", "fact"
]

PINNED: Final[frozenset[str]] = frozenset({"profile", "topic", "social_goals"})
"""Kinds that are never pruned from long-term memory (specification, step 2)."""


class Circumstance(BaseModel):
    """When, where and from whom a companion has a memory."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: str = Field(description="ISO time")
    person: str = Field(default="", description="id of the person it was with")
    talk: str = Field(default="", description="id of the talk")
    exchange: str = Field(default="", description="id of the exchange")
    place: str = Field(default="", description="address")
    quote: str = Field(default="", max_length=200, description="the person's own words")
    subject: str = Field(default="", max_length=80, description="what a fact is about")


class Memory(BaseModel):
    """An immutable memory.

    The mind's `alive`, not the memory, says whether it is alive and when it was last recalled. So a resumed or branched
    run remembers exactly what that run knew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(description="hash of agent, turn, module and content; see memory_id()")
    kind: MemoryKind
    theme: str = Field(min_length=1, description="the overarching theme, one sentence")
    keywords: list[str] = Field(default_factory=list, description="keywords and standout words")
    importance: Level = Field(description="how important it is to this persona, 0–10")
    emotion: list[Level] = Field(min_length=6, max_length=6, description="emotional state when stored; order EMOTIONS")
    turn: int = Field(ge=0, description="number of utterances so far when it was made")
    depth: int = Field(default=0, ge=0, description="0 for a leaf; else 1 + the greatest depth in its evidence")
    evidence: list[str] = Field(default_factory=list, description="ids of the memories that support a reflection")
    circumstance: Circumstance | None = Field(
        default=None, exclude_if=lambda value: value is None, description="of a companion's memory; None: no companion"
    )
    heard_by: list[str] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="ids of the persons with whom it may be recalled; None: all",
    )

    @property
    def text(self) -> str:
        """What is embedded and compared: theme and keywords."""
        return f"{self.theme} ({', '.join(self.keywords)})" if self.keywords else self.theme


def memory_id(agent: str, turn: int, module: str, content: str) -> str:
    """A memory's id, 24 hexadecimal digits.

    The same memory made again (a retried or resumed node) has the same id, so it is written once. The simulation is
    not part of it, because a collection belongs to one simulation: two runs with the same settings, seed and answers
    have the same ids.
    """
    payload = json.dumps([agent, turn, module, content], ensure_ascii=False)
    return hashlib.sha256(payload.encode()).hexdigest()[:24]


def new_memory(
    agent: str,
    turn: int,
    kind: MemoryKind,
    theme: str,
    keywords: list[str],
    importance: int,
    emotion: list[int],
    *,
    evidence: list[Memory] | None = None,
    index: int = 0,
    circumstance: Circumstance | None = None,
    heard_by: Sequence[str] | None = None,
) -> Memory:
    """Make a memory with its id and depth.

    Args:
        agent: whose memory it is.
        turn: number of utterances so far.
        kind: the kind of the memory, which also names the module that made it.
        theme: the overarching theme.
        keywords: keywords or standout words.
        importance: 0–10.
        emotion: the agent's emotional state now, order `EMOTIONS`.
        evidence: the memories that support a reflection.
        index: distinguishes memories of one module and turn with the same words (the five insights of a reflection).
        circumstance: of a companion's memory.
        heard_by: with whom it may be recalled besides, of those who may hear of all its evidence; None: all of these.
    """
    support = evidence or []
    depth = 1 + max((m.depth for m in support), default=0) if kind == "reflection" else 0
    own = [circumstance.exchange or circumstance.talk] if circumstance else []
    content = json.dumps([theme, keywords, index, *own], ensure_ascii=False)
    return Memory(
        id=memory_id(agent, turn, kind, content),
        circumstance=circumstance,
        heard_by=_hearers([heard_by, *(memory.heard_by for memory in support)]),
        kind=kind,
        theme=theme,
        keywords=keywords,
        importance=importance,
        emotion=emotion,
        turn=turn,
        depth=depth,
        evidence=[m.id for m in support],
    )


def _hearers(each: Sequence[Sequence[str] | None]) -> list[str] | None:
    """Those who may hear of all of several memories; None: everybody."""
    named = [set(hearers) for hearers in each if hearers is not None]
    return sorted(set.intersection(*named)) if named else None


MOST_IMPORTANT: Final = 10
"""The importance of what is never pruned."""


def profile_memory(persona: Persona) -> Memory:
    """The memory that holds who a persona is."""
    texts = [*persona.characteristics.values(), *persona.traits]
    theme, calm = f"{persona.name}: {persona.description}", EmotionalState().vector()
    return new_memory(persona.name, 0, "profile", theme, texts, MOST_IMPORTANT, calm)


def goals_memory(agent: str, goals: Sequence[str]) -> Memory:
    """The memory that holds an agent's social goals."""
    return new_memory(agent, 0, "social_goals", "; ".join(goals), [], MOST_IMPORTANT, EmotionalState().vector())


def given_memories(persona: Persona) -> list[Memory]:
    """What a persona remembers from before the conversation, in its order: of kind event, stored calmly."""
    calm = EmotionalState().vector()
    return [
        new_memory(persona.name, 0, "event", given.text, given.keywords, given.importance, calm, index=place)
        for place, given in enumerate(persona.memories)
    ]
