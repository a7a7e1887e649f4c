"""The kinds of events in the log of a run: what each holds, and the name of its table."""

from __future__ import annotations

from base64 import b64decode
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from ..models.recording import Row
from .events import (
    Analysed,
    HandRaised,
    Happened,
    Judged,
    JudgeMindChanged,
    MindChanged,
    Silenced,
    TopicChanged,
    TurnEnded,
    Uttered,
)
from .folder.answers import InterviewAnswer, Labels, PollAnswer, RecordedJudgement, RecordedThemes
from .folder.lines import RecordedIntervention
from .folder.manifest import Begun, Ended, Resumed
from .folder.parts import Stored
from .log import Kind, Kinds

SAID_OF: Final = ("kind", "turn", "theme")
"""What an event `memory` holds of a recalled memory; the mind that recalled it has its id and its scores."""


def _vector(text: str) -> str:
    if len(b64decode(text, validate=True)) % 4:
        raise ValueError("a number is cut off")
    return text


class EmbeddedText(Stored):
    """A text that a server embedded."""

    text: str = Field(description="its digest")
    vector: Annotated[str, AfterValidator(_vector)] = Field(description="values as float32, little endian, in base64")


class MemoryTold(Stored):
    """A memory that an agent recalled, told once: events `mind` refer to it by its id."""

    agent: str
    id: str
    kind: str = Field(description="what it came from")
    turn: int = Field(description="when it was made")
    theme: str = Field(description="in words")


class TakenBack(Stored):
    """An utterance that no checkpoint had when the run was resumed, so that it was made again."""

    turn: int
    speaker: str
    text: str


def _spoken(event: Uttered) -> dict[str, Any]:
    return event.model_dump(mode="json", exclude={"event", "version"}, exclude_none=True)


def _mind(event: MindChanged | JudgeMindChanged) -> dict[str, Any]:
    whole = event.record.model_dump(mode="json")
    rows = [{name: value for name, value in row.items() if name not in SAID_OF} for row in whole["recalled"]]
    return {**whole, "recalled": rows}


KINDS: Final[Kinds] = {
    "begun": Kind(Begun, "runs"),
    "resumed": Kind(Resumed, "resumptions"),
    "ended": Kind(Ended, "endings"),
    "utterance": Kind(Uttered, "utterances", body=_spoken),
    "verdict": Kind(Judged, "verdicts"),
    "analysis": Kind(Analysed, "scores"),
    "silenced": Kind(Silenced, "silences"),
    "happening": Kind(Happened, "happenings"),
    "memory": Kind(MemoryTold, "memories"),
    "mind": Kind(MindChanged, "minds", inner="record", body=_mind),
    "judge_mind": Kind(JudgeMindChanged, "judge_minds", inner="record", body=_mind),
    "turn_ended": Kind(TurnEnded, "turns", left_out=frozenset({"totals"})),
    "topic": Kind(TopicChanged, "topics"),
    "hand": Kind(HandRaised, "hands"),
    "intervention": Kind(RecordedIntervention, "interventions"),
    "judgement": Kind(RecordedJudgement, "judgements"),
    "poll_answer": Kind(PollAnswer, "poll_answers"),
    "interview_answer": Kind(InterviewAnswer, "interview_answers"),
    "themes": Kind(RecordedThemes, "themes"),
    "labels": Kind(Labels, "labels"),
    "taken_back": Kind(TakenBack, "taken_back"),
    "asked_model": Kind(Row, "requests", body=Row.line),
    "embedded": Kind(EmbeddedText, "embedded_texts"),
}
"""The kinds of a run's log, by name."""

CONVERSATION: Final = (
    *("utterance", "verdict", "analysis", "silenced", "happening", "memory", "mind", "judge_mind", "turn_ended"),
    *("topic", "hand", "intervention"),
)
"""The kinds that follow from checkpoints; a branch shares them."""
ACCOUNTS: Final = ("asked_model", "embedded")
"""The kinds whose damaged events are left out with a note: accounts matter less than the conversation."""
