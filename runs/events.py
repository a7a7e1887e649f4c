"""The event stream of a run, typed and versioned: the only source of the terminal, JSON output and other programs.

Events come in this order: `started`; then for every utterance `speaking`, `token`…, `utterance`, `analysis` (if it is
on), `verdict` (in debates, if the judge was asked), `mind` (one per agent), `judge_mind` (of a persona judge),
`turn_ended`; and at last `stopped`. docs/events.md has the whole order, with people, silences and interventions. The
minds at their awakening (turn 0) come before the first `speaking`. Baselines have no `mind`. Except for group_chat,
they have no `speaking` and `token`, and several of their utterances may come at a time; so do those of a story's group.
In a story, `happening` tells what happens between utterances; `mind` comes after an update, or as usual if minds hear.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from ..state import person_answer
from .folder.parts import UNKNOWN, Count, Counts, Levels, Points, Seconds, Share, Spoken, Stored, Turn, left_out
from .folder.parts import Concluded as Concluded
from .folder.parts import GuideTold as GuideTold
from .folder.parts import MindRecord as MindRecord
from .folder.parts import Position as Position
from .folder.parts import RecalledMemory as RecalledMemory
from .folder.parts import Standing as Standing
from .folder.parts import StoryOutcome as StoryOutcome
from .folder.parts import Totals as Totals

EVENTS_VERSION: Final = 1

StopReason = Literal[
    "message_limit", "consensus", "closed", "guide", "settled", "finished", "budget", "stopped", "error"
]
OWN_ENDS: Final = frozenset({"message_limit", "consensus", "closed", "guide", "settled", "finished"})
"""Reasons to stop with which a conversation came to its end by its own rules."""


class _Event(Stored):
    version: int = EVENTS_VERSION


class Started(_Event):
    """A run begins."""

    event: Literal["started"] = "started"
    run: str = Field(description="the run's id")
    mode: str = Field(default="discussion", description="discussion, debate, story, or what a package adds")
    baseline: str | None = Field(
        default=None, description="the baseline that holds the conversation; null if none does"
    )
    topic: str
    participants: list[str]
    models: dict[str, str] = Field(description="by agent: the model that words its utterances")
    max_messages: int
    people: list[str] = Field(default=[], description="the participants who are people")
    turn: int = Field(
        default=0, description="resumed runs and branches: the number of utterances in the past, which come first"
    )
    notice: str = Field(default="", description="something the user should know, for example that no model was chosen")
    guide: GuideTold | None = left_out(
        "a focus group: its moderator, the questions, what is shown; left out without a guide"
    )


class Speaking(_Event):
    """A participant was chosen and begins to speak. A second one for the same turn: the model is asked again."""

    event: Literal["speaking"] = "speaking"
    turn: int = Field(description="number of the utterance in progress")
    speaker: str
    need_to_talk: dict[str, int]


class Token(_Event):
    """A piece of the utterance in progress, as the model writes it; the `utterance` event has the final text."""

    event: Literal["token"] = "token"
    turn: int
    speaker: str
    text: str


class Uttered(_Event):
    """An utterance is complete: a row of the table utterances."""

    event: Literal["utterance"] = "utterance"
    turn: Spoken
    speaker: str
    text: str
    addressees: list[str] = Field(default=[], description="participants addressed by name; empty for the whole group")
    heard_by: list[str] | None = Field(
        default=None, description="a whisper: who hears it besides the speaker; null if all hear it"
    )
    edited_by: str | None = left_out(
        "what replaced the speaker's own words: branch or moderator; left out if nothing did"
    )
    question: Spoken | None = left_out(
        "the number of the guide's question that it puts, from 1; left out on all other utterances"
    )
    emotion: Levels = Field(default={}, description="the speaker's emotions; empty for people and baselines")
    need_to_talk: Levels = Field(default={}, description="of all participants, when the speaker was chosen")
    response_time_s: Seconds = Field(default=0.0, description="seconds until the utterance was complete; 0 for people")
    tokens: Counts = Field(default={}, description="of the call that worded the utterance: input, output")
    corrections: list[str] = Field(default=[], description="faults of the first wording, and what was done about them")
    answer: str | None = Field(default=None, description="debate baselines: the speaker's answer")
    conditional: str | None = left_out(
        "debate baselines: the conditions of the speaker's answer; left out if there are none"
    )
    confidence: Share | None = Field(
        default=None, description="debate baselines: how sure the speaker is of the answer, 0–1"
    )

    @property
    def is_given(self) -> bool:
        """Whether a person wrote the words: a participant, the moderator, or the user in a participant's name."""
        made = self.tokens.get("input", 0), self.tokens.get("output"), self.response_time_s
        return made == (0, 0, 0)

    @property
    def took_s(self) -> float | None:
        """Seconds until the utterance was complete; None if a person wrote the words, or if the time is not known."""
        return self.response_time_s or None


class Judged(_Event):
    """The judge of a debate has given a verdict: a row of the table verdicts."""

    event: Literal["verdict"] = "verdict"
    turn: Turn
    reasoning: str = ""
    consensus: bool
    answer: str = Field(default="", description="the answer agreed on; empty without consensus")
    conditional: str | None = left_out("the conditions under which they agree; left out if there are none")
    positions: list[Position] = []
    progress: str = Field(default="", description="progressing or circling")
    overruled: str = Field(
        default="",
        description="why a verdict of consensus was not accepted; empty if it was, or if there was no consensus",
    )


class Analysed(_Event):
    """An utterance was scored: a row of the table scores. Scores are 0–10 with one decimal."""

    event: Literal["analysis"] = "analysis"
    turn: Spoken
    speaker: str
    reasoning: str | None = None
    coherence: Points | None = None
    sentiment: Points | None = None
    engagement: Points | None = None
    failed: str = Field(default="", description="why the utterance could not be scored; empty if it was")

    @property
    def is_scored(self) -> bool:
        """Whether it has scores."""
        return not self.failed and None not in (self.coherence, self.sentiment, self.engagement)


class Happened(_Event):
    """Something happened in a story beside words: a row of the table happenings.

    As for an utterance, `heard_by` says who knows of it besides `speaker`.
    """

    event: Literal["happening"] = "happening"
    turn: Turn = Field(description="utterances so far")
    round: Count = Field(description="0 before the first round; in the vote, one more than there are rounds")
    stage: str = Field(default="", description="its kind: private, group, rooms …; empty outside the stages")
    do: str = Field(
        description="what: stage (begins), met (two meet, or a room opens), stock, choice, summary, review, standing "
        "(where a character stands after an update), guess, ballot, closed_ballot, outcome"
    )
    speaker: str = Field(default="", description="whose doing it is; empty for the story's own")
    heard_by: list[str] | None = Field(
        default=None, description="who knows of it besides the speaker, until the run is over; null if all do"
    )
    room: str = left_out("round, place of the stage, number: 2.1.3", "")
    others: list[str] = left_out("with whom", [])
    text: str = left_out("in words, or the reason", "")
    lines: list[str] = left_out("next steps of a stock, plan of a choice, keywords of a summary", [])
    choice: str = left_out("who or what was chosen", "")
    chosen_by: str | None = left_out('a choice: "branch" if a branch made it; left out elsewhere')
    closeness: dict[str, int] = left_out("of a review, the answered changes by name; of a standing, 0–100", {})
    beliefs: list[int] = left_out("the same of beliefs, in the file's order", [])
    supports: str | None = left_out("of a standing; empty for nobody")
    influence: Count | None = left_out("of a standing")


class Silenced(_Event):
    """A participant is silent for a turn: the agent's model failed, or the person passed. A row of silences."""

    event: Literal["silenced"] = "silenced"
    turn: Turn = Field(description="number of the utterance that the participant did not hear or did not make")
    agent: str
    step: Literal["awaken", "hear", "think", "speak", "stocktake", "choose", "address", "summarise", "review", "ballot"]
    why: str = Field(default="", description='the model\'s error; "passed" for a person who passed')


class Shortened(_Event):
    """A prompt did not fit its model's context, or a text its embedding; sent once in a run for each of the two."""

    event: Literal["shortened"] = "shortened"
    turn: int = Field(description="utterances so far")
    agent: str = Field(description="whose prompt")
    module: str
    model: str
    context_tokens: int = Field(default=0, description="tokens of the model's context, for prompt and answer together")
    memories: int = Field(default=0, description="number of memories left out: those with the lowest scores")
    utterances: int = Field(default=0, description="number of utterances left out: the oldest ones")
    characters: Count | None = left_out("of an embedding: so many characters of a text are compared")


class Asked(_Event):
    """A person is asked, and the conversation waits for them."""

    event: Literal["asked"] = "asked"
    turn: int = Field(description="utterances so far")
    agent: str = Field(description="who is asked")
    what: person_answer.Asked
    problem: str = Field(default="", description="what was wrong with the previous answer; empty at first")
    story: person_answer.StoryQuestion | None = left_out(
        "in a story: who may be named, and all that the character knows"
    )
    puts: person_answer.Put | None = left_out("for a focus group's moderator: the question that is due")
    position: person_answer.PositionQuestion | None = left_out(
        "of `position`: the question, the form of its answer, and when"
    )


class HandRaised(_Event):
    """A person has raised or lowered a hand."""

    event: Literal["hand"] = "hand"
    turn: int
    agent: str
    raised: bool


class TopicChanged(_Event):
    """The moderator has changed the topic."""

    event: Literal["topic"] = "topic"
    turn: int
    topic: str


class Paused(_Event):
    """A person has paused the conversation; `continued` follows when the pause ends."""

    event: Literal["paused"] = "paused"
    turn: int


class Continued(_Event):
    """The conversation continues after a pause."""

    event: Literal["continued"] = "continued"
    turn: int


class Waiting(_Event):
    """A model's server refused a request and asked for a pause; requests to it wait."""

    event: Literal["waiting"] = "waiting"
    model: str
    asked_s: float = Field(description="the pause in seconds that the server asked for")
    wait_s: float = Field(description="the pause in seconds that the run makes")


class MindChanged(_Event):
    """An agent has heard an utterance; turn 0 is its awakening."""

    event: Literal["mind"] = "mind"
    record: MindRecord


class JudgeMindChanged(_Event):
    """The persona judge of a debate has heard an utterance; the judge is not a participant."""

    event: Literal["judge_mind"] = "judge_mind"
    record: MindRecord


class TurnEnded(_Event):
    """All participants have heard the utterance."""

    event: Literal["turn_ended"] = "turn_ended"
    turn: int
    max_messages: int
    totals: Totals = UNKNOWN
    judgements: dict[str, dict[str, int]] = left_out(
        "by module: how many judgements of minds it was asked for so far, and with what results; left out "
        "if there were none",
        {},
    )


class Stopped(_Event):
    """The run is over."""

    event: Literal["stopped"] = "stopped"
    run: str
    reason: StopReason
    source: str = Field(
        default="",
        description="which rule ended the run: message_limit, closing, guide, judge, story, the name of a baseline or "
        "budget; or answers (several unusable ones in a row), user, moderator, person, record, error",
    )
    detail: str = Field(default="", description="the rule's explanation, or the error; one line")
    conclusion: Concluded | None = Field(default=None, description="the result of a debate; null in discussions")
    outcome: StoryOutcome | None = left_out("the result of a story's vote; left out without one")
    turn: int
    totals: Totals
    usage: list[dict[str, Any]] = Field(description="calls, tokens and cost per module, agent and model")
    folder: str | None = Field(default=None, description="the run's folder; null if the run is not kept")


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
    | Happened
    | MindChanged
    | JudgeMindChanged
    | TurnEnded
    | Stopped,
    Field(discriminator="event"),
]


def event_schema() -> dict[str, Any]:
    """The JSON schema of one event, as `--json` prints it (docs/events.md)."""
    return TypeAdapter[Event](Event).json_schema(mode="serialization")
