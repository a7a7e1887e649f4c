"""The one event stream that the terminal, JSON output and other programs draw from: typed and versioned.

Events come in this order: `started`, then for every utterance `speaking`, `token`…, `utterance`, `analysis` (where it
is on), `verdict` (in debates, where the judge was asked), `mind` (one an agent), `judge_mind` (a persona judge's),
`turn_ended`, and at last `stopped`. docs/events.md has the whole order, with people, silences and interventions.
The minds as they awaken (turn 0) come before the first `speaking`. Baselines of the literature have no `speaking`,
`token` and `mind`, and their utterances may come several at a time.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

EVENTS_VERSION: Final = 1

StopReason = Literal["message_limit", "consensus", "closed", "budget", "stopped", "error"]


class Totals(BaseModel):
    """What a run has used so far."""

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = Field(default=False, description="true where some of the token counts are estimates")
    cost_usd: float | None = Field(default=0.0, description="null where a price is not known")


class RecalledMemory(BaseModel):
    """A recalled memory, and the weighted components of its score."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: str
    turn: int = Field(description="when it was made")
    theme: str
    focal_point: int = Field(description="index of the focal point that called it up best")
    score: float
    recency: float
    importance: float
    relevance: float
    emotional: float
    stm_relevance: float


class MindRecord(BaseModel):
    """One agent's mind after it has heard an utterance: one line of minds.jsonl."""

    model_config = ConfigDict(frozen=True)

    turn: int = Field(description="utterances so far; 0 before the first")
    agent: str
    did: str = Field(description="what it did while this utterance was made: speak, reflect, plan or nothing (empty)")
    percept: dict[str, Any] | None = Field(description="theme, keywords, importance; null at turn 0")
    focal_points: list[str]
    recalled: list[RecalledMemory] = Field(description="best first")
    short_term_memory: dict[str, Any] | None
    long_term_memories: int = Field(description="memories alive")
    need_to_talk: int | None = Field(default=None, description="0–10; null for the judge's mind, which never speaks")
    need_reasoning: str | None = None
    openness: int | None = Field(default=None, description="openness to consensus, 0–10; null in discussions")
    openness_reasoning: str | None = None
    action: str = Field(description="what it will do while the next utterance is made, unless it speaks")
    emotion: dict[str, int]
    plan: dict[str, Any] | None = Field(default=None, description="the plan made during this turn")
    insights: list[dict[str, Any]] = Field(default=[], description="the insights drawn during this turn")


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    version: int = EVENTS_VERSION


class Started(_Event):
    """A run begins."""

    event: Literal["started"] = "started"
    run: str = Field(description="the run's id")
    mode: Literal["discussion", "debate"] = "discussion"
    baseline: str | None = Field(default=None, description="the method of the literature that holds it, if one does")
    topic: str
    participants: list[str]
    models: dict[str, str] = Field(description="agent: model that words its utterances")
    max_messages: int
    people: list[str] = Field(default=[], description="those of the participants who are people")
    turn: int = Field(default=0, description="a run that goes on: so many utterances come first, as its past")
    notice: str = Field(default="", description="something the user should know, for example that no model was chosen")


class Speaking(_Event):
    """Somebody was chosen and begins to speak. A second one for the same turn means that the model is asked again."""

    event: Literal["speaking"] = "speaking"
    turn: int = Field(description="number of the utterance that is being made")
    speaker: str
    need_to_talk: dict[str, int]


class Token(_Event):
    """A piece of the utterance that is being made, as the model gives it; the `utterance` event has the final text."""

    event: Literal["token"] = "token"
    turn: int
    speaker: str
    text: str


class Uttered(_Event):
    """An utterance is complete: the fields of one line of transcript.jsonl."""

    event: Literal["utterance"] = "utterance"
    turn: int
    speaker: str
    text: str
    addressees: list[str] = Field(description="whom it addresses by name; empty for nobody in particular")
    heard_by: list[str] | None = Field(
        default=None, description="a whisper: who hears it beside its speaker; null for everybody"
    )
    emotion: dict[str, int] = Field(description="the speaker's; empty for people and baselines")
    need_to_talk: dict[str, int] = Field(description="everybody's when the speaker was chosen")
    response_time_s: float = Field(description="seconds until it was worded; 0 for people")
    tokens: dict[str, int] = Field(description="of the call that worded it: input, output")
    corrections: list[str] = Field(
        default=[], description="what was wrong with the first wording, and what became of it"
    )
    answer: str | None = Field(default=None, description="debate baselines: the answer that it gives")
    confidence: float | None = Field(default=None, description="debate baselines: how sure the speaker is of it, 0–1")


class Position(BaseModel):
    """What a participant of a debate holds, as the judge sees it."""

    model_config = ConfigDict(frozen=True)

    agent: str
    position: str
    agrees: bool = Field(description="with the answer, or without consensus with what most hold")


class Judged(_Event):
    """The judge of a debate has looked at an utterance: the fields of one line of verdicts.jsonl."""

    event: Literal["verdict"] = "verdict"
    turn: int
    reasoning: str
    consensus: bool
    answer: str = Field(description="the answer agreed on; empty without consensus")
    positions: list[Position]
    progress: str = Field(description="progressing or circling")
    overruled: str = Field(description="why a verdict of consensus was not accepted; empty where none was turned down")


class Analysed(_Event):
    """An utterance was scored: the fields of one line of analysis.jsonl. Scores are 0–10 with one decimal."""

    event: Literal["analysis"] = "analysis"
    turn: int
    speaker: str
    reasoning: str | None
    coherence: float | None
    sentiment: float | None
    engagement: float | None
    failed: str = Field(default="", description="why it could not be scored; empty where it was")


class Concluded(BaseModel):
    """What a debate came to."""

    model_config = ConfigDict(frozen=True)

    answer: str = Field(description="the common answer, or the position of the majority")
    consensus: bool
    reasoning: str
    supporters: list[str] = Field(description="agents who hold it, in order of listing")
    by: str = Field(description="who says so: the judge, or the baseline's name")


class Silenced(_Event):
    """An agent's model has failed for good, and it is silent for a turn: one line of silences.jsonl."""

    event: Literal["silenced"] = "silenced"
    turn: int = Field(description="number of the utterance that it did not hear or did not make")
    agent: str
    step: Literal["hear", "think", "speak"]
    why: str = Field(description='what the model\'s error says; "passed" for a person who passed')


class Asked(_Event):
    """A person is asked, and the conversation waits for them."""

    event: Literal["asked"] = "asked"
    turn: int = Field(description="utterances so far")
    agent: str = Field(description="who is asked")
    what: Literal["utterance", "need_to_talk"]
    problem: str = Field(default="", description="what was wrong with the answer before; empty at first")


class HandRaised(_Event):
    """A person has raised or lowered a hand."""

    event: Literal["hand"] = "hand"
    turn: int
    agent: str
    raised: bool


class TopicChanged(_Event):
    """The moderator has turned the conversation to another topic."""

    event: Literal["topic"] = "topic"
    turn: int
    topic: str


class Paused(_Event):
    """The conversation has been paused by a person; `continued` follows when it goes on."""

    event: Literal["paused"] = "paused"
    turn: int


class Continued(_Event):
    """The conversation goes on after a pause."""

    event: Literal["continued"] = "continued"
    turn: int


class MindChanged(_Event):
    """An agent has heard an utterance."""

    event: Literal["mind"] = "mind"
    record: MindRecord


class JudgeMindChanged(_Event):
    """The persona judge of a debate has heard an utterance; its mind is no participant's."""

    event: Literal["judge_mind"] = "judge_mind"
    record: MindRecord


class TurnEnded(_Event):
    """Everybody has heard the utterance."""

    event: Literal["turn_ended"] = "turn_ended"
    turn: int
    max_messages: int
    totals: Totals


class Stopped(_Event):
    """The run is over."""

    event: Literal["stopped"] = "stopped"
    run: str
    reason: StopReason
    source: str = Field(
        default="",
        description="whose rule that was: message_limit, closing, judge, a baseline's name, a budget's; "
        "or user, moderator, person, record, error",
    )
    detail: str = Field(default="", description="the rule's own words; for an error what went wrong; one line")
    conclusion: Concluded | None = Field(default=None, description="what a debate came to; null in discussions")
    turn: int
    totals: Totals
    usage: list[dict[str, Any]] = Field(description="per module, agent and model: calls, tokens, cost")
    folder: str | None = Field(default=None, description="where the run is kept; null where it is not")


Event = Annotated[
    Started
    | Speaking
    | Token
    | Uttered
    | Silenced
    | Asked
    | HandRaised
    | TopicChanged
    | Paused
    | Continued
    | Analysed
    | Judged
    | MindChanged
    | JudgeMindChanged
    | TurnEnded
    | Stopped,
    Field(discriminator="event"),
]


def event_schema() -> dict[str, Any]:
    """The JSON schema of one event, as `--json` prints it (docs/events.md)."""
    return TypeAdapter[Event](Event).json_schema(mode="serialization")
