"""The events of a talk with a companion; terminal, page, `/v1`, UDP and Python share them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from persimchat.state.companion import Label


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
"""Any event."""
