"""The mind of one agent after an utterance: a line of minds.jsonl, and the events `mind` and `judge_mind`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from persimchat.runs.folder.stored import AsGiven, Count, Levels, Stored, Turn, is_empty, is_none
from persimchat.runs.folder.story_record import StoryStanding
from persimchat.state.emotion import Level
from persimchat.state.pruning import Pruned

WHOLE_ONLY: Final = frozenset(
    {"percept", "focal_points", "recalled", "memories", "need_reasoning", "openness_reasoning", "action"}
)
"""Fields that are omitted unless a mind is read whole: most of a run."""

_MAPPING: Final = WithJsonSchema({"additionalProperties": True, "type": "object"})


class _Part(AsGiven):
    """A part of a mind; programs may read it as a mapping."""

    def __getitem__(self, name: str) -> Any:
        """The original value under a name."""
        return self.given[name]


class Percept(_Part):
    """What an agent took from an utterance."""

    theme: str = ""
    keywords: list[str] = []
    importance: Level | None = None


class Thought(_Part):
    """A memory, a plan or an insight.

    Attributes:
        id: of a memory; empty for a plan.
        kind: of a memory; empty for a plan.
        keywords: and standout words.
        evidence: ids of the memories that support an insight.
        identity: of a plan: who the agent is.
        progress: of a plan: the agent's view of the conversation so far.
        react: of a plan: whether to react to the utterance.
        reaction: of a plan: how.
        goals: of a plan.
    """

    id: str = ""
    kind: str = ""
    turn: Turn | None = None
    theme: str = ""
    importance: int | None = None
    keywords: list[str] = []
    evidence: list[str] = []
    identity: str = ""
    progress: str = ""
    react: bool | None = None
    reaction: str = ""
    goals: list[str] = []


class RecalledMemory(BaseModel):
    """A recalled memory, and the weighted components of its score."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    turn: int = Field(description="when it was made")
    theme: str
    focal_point: int = Field(description="index of the focal point that recalled it best")
    score: float
    recency: float
    importance: float
    relevance: float
    emotional: float
    stm_relevance: float


class MindRecord(Stored):
    """The mind of one agent after it has heard an utterance: one line of minds.jsonl."""

    turn: Turn = Field(description="utterances so far; 0 before the first")
    agent: str
    did: str = Field(
        default="", description="what it did while this utterance was made: speak, reflect, plan or nothing (empty)"
    )
    percept: Annotated[Percept, _MAPPING] | None = Field(
        default=None, description="theme, keywords, importance; null at turn 0"
    )
    focal_points: list[str] = []
    recalled: list[RecalledMemory] = Field(default=[], description="best first")
    short_term_memory: Annotated[Thought, _MAPPING] | None = None
    long_term_memories: Count = Field(default=0, description="memories alive")
    need_to_talk: Level | None = Field(
        default=None, description="0–10; null for the judge's mind, which never speaks, and with cognition=fixed"
    )
    need_reasoning: str | None = None
    openness: Level | None = Field(default=None, description="openness to consensus, 0–10; null in discussions")
    openness_reasoning: str | None = None
    action: str = Field(default="", description="what it will do while the next utterance is made, unless it speaks")
    emotion: Levels = {}
    plan: Annotated[Thought, _MAPPING] | None = Field(default=None, description="the plan made during this turn")
    insights: list[Annotated[Thought, _MAPPING]] = Field(default=[], description="the insights drawn during this turn")
    listened: bool | None = Field(
        default=None,
        exclude_if=is_none,
        description="whether its model was asked about the utterance; if false, it remembers only the words; left out "
        "if all are asked (the setting `listeners`)",
    )
    failed: list[str] = Field(
        default=[],
        exclude_if=is_empty,
        description="modules whose answers were invalid twice, so their values stayed as they were; left out if none",
    )
    corrected: list[str] = Field(
        default=[],
        exclude_if=is_empty,
        description="modules of which a number was moved into its range, or a list was corrected; left out if none",
    )
    pruned: Pruned | None = Field(
        default=None,
        exclude_if=is_none,
        description="what the prompt of its utterance lacked; left out unless the setting `pruning` left something out",
    )
    story: StoryStanding | None = Field(
        default=None, exclude_if=is_none, description="in a story: beliefs, closeness, support; left out elsewhere"
    )
