"""The events of a world: those of a talk, which every client gets, and those that the world's log keeps."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...models.recording import Row
from ...state.companion import Label
from ..log import Kind, Kinds


class CompanionEvent(BaseModel):
    """Base of all events."""

    model_config = ConfigDict(frozen=True)


class Speaking(CompanionEvent):
    """The agent begins to speak; emotion and trust are as they are before."""

    type: Literal["speaking"] = "speaking"
    id: str = Field(description="of the exchange")
    agent: str
    emotion: Label
    trust: int


class Token(CompanionEvent):
    """Some more of the agent's words, as the model gives them."""

    type: Literal["token"] = "token"
    id: str
    text: str


class Sentence(CompanionEvent):
    """A sentence of the agent's words is complete; what speech synthesis takes."""

    type: Literal["sentence"] = "sentence"
    id: str
    n: int = Field(description="its number in the answer, from 1")
    text: str
    last: bool


class Answered(CompanionEvent):
    """The answer is complete; comes again with `appraised` once emotion and trust are known."""

    type: Literal["answer"] = "answer"
    id: str
    talk: str
    said: str = Field(description="the person's words; empty for words that nobody asked for")
    utterance: str = Field(description="the agent's words, whole and corrected; what tokens streamed may differ")
    emotion: Label
    trust: int = Field(description="after this exchange; before it while `appraised` is false")
    end: bool = Field(description="whether these are the agent's last words of the talk")
    appraised: bool


class Acted(CompanionEvent):
    """What the agent does unasked."""

    type: Literal["acts"] = "acts"
    kind: Literal["none", "comment", "start_talk", "interrupt"]
    about: str = ""


class TalkOver(CompanionEvent):
    """A talk is over and consolidated."""

    type: Literal["talk_over"] = "talk_over"
    talk: str
    summary: str
    trust: int
    facts: list[str] = Field(default_factory=list, description="statements that are new")


Event = Annotated[Speaking | Token | Sentence | Answered | Acted | TalkOver, Field(discriminator="type")]
"""Any event of a talk."""


class Opened(CompanionEvent):
    """The world was opened, or written anew; the last one says what counts."""

    world: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="its id; a copied folder keeps it")
    at: str = Field(description="ISO local time")
    embedding: str = Field(description="of all memories")
    memories: str = Field(default="memory", description="the folder of memories in the world's")
    settings: dict[str, Any] = Field(default_factory=dict, description="those given")
    prompt_hash: str = ""
    versions: dict[str, str] = {}


class Exchanged(CompanionEvent):
    """An exchange that is over: appraised, or given up (`Exchange`)."""

    agent: str
    person: str = Field(description="id of the person")
    id: str
    talk: str
    turn: int
    at: str
    said: str
    utterance: str
    emotion: Label
    trust: int
    end: bool
    appraised: bool
    tried: int = 0
    events: list[str] = []


class Retracted(CompanionEvent):
    """An exchange was taken back, as if it had not been."""

    agent: str
    person: str
    id: str


class Asked(Row):
    """A request to a model, with when it was made and for whom."""

    at: str = Field(default="", description="ISO local time")
    person: str = Field(default="", description="id of the person; empty: for nobody")


def _given(event: BaseModel) -> dict[str, Any]:
    return event.model_dump(mode="json", exclude_unset=True)


def _request(asked: Asked) -> dict[str, Any]:
    return asked.line()


KINDS: Final[Kinds] = {
    "opened": Kind(Opened, "openings"),
    "exchange": Kind(Exchanged, "exchanges", body=_given),
    "retracted": Kind(Retracted, "retractions"),
    "asked_model": Kind(Asked, "requests", body=_request),
}
"""The kinds of a world's log, by name."""
