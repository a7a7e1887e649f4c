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

from persimchat.runs.folder.mind_record import MindRecord as MindRecord
from persimchat.runs.folder.mind_record import RecalledMemory as RecalledMemory
from persimchat.runs.folder.stored import (
    Counts,
    Levels,
    Points,
    Seconds,
    Share,
    Spoken,
    Stored,
    Turn,
    is_empty,
    is_none,
)
from persimchat.runs.folder.totals import Totals as Totals

EVENTS_VERSION: Final = 1

StopReason = Literal["message_limit", "consensus", "closed", "budget", "stopped", "error"]


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


class Uttered(Stored, _Event):
    """An utterance is complete: the fields of one line of transcript.jsonl."""

    event: Literal["utterance"] = "utterance"
    turn: Spoken
    speaker: str
    text: str
    addressees: list[str] = Field(default=[], description="whom it addresses by name; empty for nobody in particular")
    heard_by: list[str] | None = Field(
        default=None, description="a whisper: who hears it beside its speaker; null for everybody"
    )
    edited_by: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="who put the words into the speaker's mouth: branch or moderator; left out where nobody did",
    )
    emotion: Levels = Field(default={}, description="the speaker's; empty for people and baselines")
    need_to_talk: Levels = Field(default={}, description="everybody's when the speaker was chosen")
    response_time_s: Seconds = Field(default=0.0, description="seconds until it was worded; 0 for people")
    tokens: Counts = Field(default={}, description="of the call that worded it: input, output")
    corrections: list[str] = Field(
        default=[], description="what was wrong with the first wording, and what became of it"
    )
    answer: str | None = Field(default=None, description="debate baselines: the answer that it gives")
    conditional: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="debate baselines: the conditions under which it gives that answer; left out where it names none",
    )
    confidence: Share | None = Field(default=None, description="debate baselines: how sure the speaker is of it, 0–1")

    @property
    def is_given(self) -> bool:
        """Whether a person gave the words: a moderator, a participant who is a person, or somebody in one's name."""
        made = self.tokens.get("input", 0), self.tokens.get("output"), self.response_time_s
        return made == (0, 0, 0)

    @property
    def took_s(self) -> float | None:
        """Seconds until it was worded; None where a person gave the words, and where that is not known."""
        return self.response_time_s or None


class Position(Stored):
    """What a participant of a debate holds, as the judge sees it."""

    agent: str
    position: str = ""
    agrees: bool = Field(description="with the answer, or without consensus with what most hold")


class Judged(Stored, _Event):
    """The judge of a debate has looked at an utterance: the fields of one line of verdicts.jsonl."""

    event: Literal["verdict"] = "verdict"
    turn: Turn
    reasoning: str = ""
    consensus: bool
    answer: str = Field(default="", description="the answer agreed on; empty without consensus")
    conditional: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="the conditions under which they agree; left out where there are none",
    )
    positions: list[Position] = []
    progress: str = Field(default="", description="progressing or circling")
    overruled: str = Field(
        default="", description="why a verdict of consensus was not accepted; empty where none was turned down"
    )


class Analysed(Stored, _Event):
    """An utterance was scored: the fields of one line of analysis.jsonl. Scores are 0–10 with one decimal."""

    event: Literal["analysis"] = "analysis"
    turn: Spoken
    speaker: str
    reasoning: str | None = None
    coherence: Points | None = None
    sentiment: Points | None = None
    engagement: Points | None = None
    failed: str = Field(default="", description="why it could not be scored; empty where it was")

    @property
    def is_scored(self) -> bool:
        """Whether it has scores."""
        return not self.failed and None not in (self.coherence, self.sentiment, self.engagement)


class Standing(Stored):
    """Where a participant stood when a debate came to a conclusion that holds under conditions."""

    agent: str
    position: str = Field(
        default="", description="as the judge sees it, or as it was answered; empty where nobody said"
    )
    words: str = Field(default="", description="the last thing that they said to everybody")


class Concluded(Stored):
    """What a debate came to."""

    answer: str = Field(description="the common answer, or the position of the majority")
    consensus: bool
    reasoning: str = ""
    supporters: list[str] = Field(default=[], description="agents who hold it, in order of listing")
    by: str = Field(default="", description="who says so: the judge, or the baseline's name")
    conditional: str | None = Field(
        default=None,
        exclude_if=is_none,
        description="the conditions under which the answer holds; left out where there are none",
    )
    positions: list[Standing] = Field(
        default=[],
        exclude_if=is_empty,
        description="where everybody stands; left out where there are no conditions",
    )


class Silenced(Stored, _Event):
    """An agent's model has failed for good, and it is silent for a turn: one line of silences.jsonl."""

    event: Literal["silenced"] = "silenced"
    turn: Turn = Field(description="number of the utterance that it did not hear or did not make")
    agent: str
    step: Literal["awaken", "hear", "think", "speak"]
    why: str = Field(default="", description='what the model\'s error says; "passed" for a person who passed')


class Shortened(_Event):
    """A prompt did not fit the model's context, and something was left out of it; told once in a run."""

    event: Literal["shortened"] = "shortened"
    turn: int = Field(description="utterances so far")
    agent: str = Field(description="whose prompt")
    module: str
    model: str
    context_tokens: int = Field(description="tokens of the model's context, for prompt and answer together")
    memories: int = Field(description="memories left out, those with the lowest scores")
    utterances: int = Field(description="utterances left out, the oldest ones")


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


class Waiting(_Event):
    """A model's server refused a request and asked to be left alone; what needs it waits."""

    event: Literal["waiting"] = "waiting"
    model: str
    asked_s: float = Field(description="seconds that the server asked for")
    wait_s: float = Field(description="seconds after which it is asked again, whatever it asked for")


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
        "or answers (of no use to anybody), user, moderator, person, record, error",
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
    | Shortened
    | Asked
    | HandRaised
    | TopicChanged
    | Paused
    | Continued
    | Waiting
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
