"""The lines and the manifest of a run's folder, as they are read back.

What older versions did not write yet has a default that says so (None, or empty), and what newer ones add is ignored.
The writing side is in `runs/events.py`, `runs/manifest.py` and `runs/folder.py`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from persimchat.runs.events import RecalledMemory, Totals
from persimchat.state.emotion import Level

Count = Annotated[int, Field(ge=0)]
Turn = Annotated[int, Field(ge=0, le=10_000_000)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _known(value: Any) -> Any:
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


Levels = Annotated[dict[str, Level], BeforeValidator(_known)]
"""Levels by name; those that are null are left out."""


class _Recorded(BaseModel):
    """Base of all: null says the same as a field that is not there."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: Any) -> Any:
        return _known(value)


class Tokens(_Recorded):
    """Tokens of the call that worded an utterance."""

    input: Count = 0
    output: Count | None = None


class RecordedUtterance(_Recorded):
    """One line of transcript.jsonl."""

    turn: Annotated[int, Field(ge=1, le=10_000_000)]
    speaker: str
    text: str
    addressees: list[str] = []
    heard_by: list[str] | None = None
    """A whisper: who hears it beside its speaker; None for everybody."""
    emotion: Levels = {}
    need_to_talk: Levels = {}
    response_time_s: Seconds | None = None
    tokens: Tokens = Tokens()
    corrections: list[str] = []
    answer: str | None = None
    confidence: Share | None = None

    @property
    def is_given(self) -> bool:
        """Whether a person gave the words: a moderator, a participant who is a person, or somebody in one's name."""
        tokens = self.tokens
        return tokens.input == 0 and tokens.output == 0 and not self.response_time_s


class Thought(_Recorded):
    """What is shown of a memory, a plan or an insight."""

    theme: str = ""
    turn: Turn | None = None
    identity: str = ""
    reaction: str = ""
    importance: int | None = None


class RecordedMind(_Recorded):
    """One line of minds.jsonl, without what was recalled."""

    turn: Turn
    agent: str
    did: str = ""
    short_term_memory: Thought | None = None
    long_term_memories: Count | None = None
    need_to_talk: Level | None = None
    openness: Level | None = None
    emotion: Levels = {}
    plan: Thought | None = None
    insights: list[Thought] = []


class RecordedPercept(_Recorded):
    """What an agent took from an utterance."""

    theme: str = ""
    keywords: list[str] = []
    importance: Level | None = None


class WholeMind(RecordedMind):
    """One line of minds.jsonl, with what was recalled and why it felt so."""

    action: str = ""
    need_reasoning: str = ""
    openness_reasoning: str = ""
    percept: RecordedPercept | None = None
    focal_points: list[str] = []
    recalled: list[RecalledMemory] = []


class Position(_Recorded):
    """What one participant holds, by a verdict."""

    agent: str
    position: str = ""
    agrees: bool


class RecordedVerdict(_Recorded):
    """One line of verdicts.jsonl (state/verdict.py)."""

    turn: Turn
    reasoning: str = ""
    consensus: bool
    answer: str = ""
    positions: list[Position] = []
    progress: str = ""
    overruled: str = ""


class RecordedScore(_Recorded):
    """One line of analysis.jsonl."""

    turn: Annotated[int, Field(ge=1, le=10_000_000)]
    speaker: str
    reasoning: str = ""
    coherence: Points
    sentiment: Points
    engagement: Points


class RecordedSilence(_Recorded):
    """One line of silences.jsonl: an agent that was silent for a turn."""

    turn: Turn
    agent: str
    step: str = ""
    why: str = ""


class RecordedIntervention(_Recorded):
    """One line of control.jsonl: what somebody did to the conversation, with whatever belongs to it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    turn: Turn
    do: str

    @property
    def more(self) -> dict[str, Any]:
        """Everything in it beside turn and deed."""
        return dict(self.model_extra or {})


class RecordedCall(_Recorded):
    """One line of calls.jsonl: a request to a model, without what was asked and answered."""

    turn: Turn | None = None
    agent: str = ""
    module: str
    model: str
    n: Count | None = None
    seconds: Seconds | None = None
    input_tokens: Count = 0
    output_tokens: Count = 0
    estimated: bool = False
    cost_usd: Seconds | None = None
    failed: str | None = None


class RecordedConclusion(_Recorded):
    """What a debate came to (state/verdict.py)."""

    answer: str
    consensus: bool
    reasoning: str = ""
    supporters: list[str] = []
    by: str = ""


class Participant(_Recorded):
    """Who took part."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    description: str = ""
    human: bool = False


class RecordedScenario(_Recorded):
    """What a run was about; what is not named here is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    topic: str
    participants: list[Participant]


class RecordedSettings(_Recorded):
    """How a run was made; the settings that are not named here are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: str = "discussion"
    pattern: str = "need_to_talk"
    baseline: str | None = None
    max_messages: Count | None = None
    model: str | None = None


class UsageRow(BaseModel):
    """What one module used for one agent with one model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent: str
    module: str
    model: str
    calls: Count
    input_tokens: Count
    output_tokens: Count
    estimated: bool
    cost_usd: float | None = None


class Usage(_Recorded):
    """What a run used; empty while it goes on."""

    total: Totals | None = None
    by_module: dict[str, Totals] = {}
    by_agent: dict[str, Totals] = {}
    rows: list[UsageRow] = []


class Branch(_Recorded):
    """Where a run has its past from."""

    of: str
    turn: Turn
    why: str = ""
    changed: Any = None


class Resumed(_Recorded):
    """When a run was taken up again after it had stopped."""

    at: str = ""
    turn: Turn | None = None
    changed: dict[str, Any] = {}
    """Settings that are no longer as they were, with their new values."""


class Manifest(_Recorded):
    """run.json."""

    run: str
    started: str = ""
    ended: str | None = None
    stop_reason: str | None = None
    stop_source: str = ""
    detail: str = ""
    seed: int | None = None
    scenario: RecordedScenario
    settings: RecordedSettings = RecordedSettings()
    models: dict[str, Any] = {}
    outside_models: dict[str, Any] = {}
    prompt_hash: str = ""
    versions: dict[str, str] = {}
    conclusion: RecordedConclusion | None = None
    usage: Usage = Usage()
    state_version: int | None = None
    branch: Branch | None = None
    resumed: list[Resumed] = []

    @property
    def people(self) -> list[str]:
        """Those of the participants who are people."""
        return [participant.name for participant in self.scenario.participants if participant.human]
