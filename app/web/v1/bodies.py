"""The bodies of requests: what of OpenAI's chat completions is taken, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from persimchat.app.web.v1.problems import Unsupported
from persimchat.graph.companion.attending import LONGEST_MESSAGE
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean

LONGEST_INSTRUCTIONS: Final = 4_000
"""The most characters of a client's system messages that an agent gets."""
MOST_MESSAGES: Final = 5_000
_MOST_STOPS: Final = 16

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
_INSTRUCTING: Final = ("system", "developer")


class Part(BaseModel):
    """A part of a message's content."""

    type: Annotated[str, Field(max_length=100)]
    text: str = ""


class Message(BaseModel):
    """A message of the client's history."""

    role: Role
    content: str | list[Part] | None = None
    name: str | None = None

    @property
    def words(self) -> str:
        """Its text without control characters."""
        if isinstance(self.content, list):
            return clean("\n".join(part.text for part in self.content if part.type == "text")).strip()
        return clean(self.content or "").strip()


class StreamOptions(BaseModel):
    """How an answer is streamed."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A request for an answer; fields that it does not name are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, Field(min_length=1, max_length=300)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: str | list[str] | None = None
    user: str | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    modalities: list[str] | None = None

    @field_validator("stop")
    @classmethod
    def _few(cls, stop: str | list[str] | None) -> list[str] | None:
        found = [stop] if isinstance(stop, str) else stop
        if found is not None and len(found) > _MOST_STOPS:
            raise ValueError(f"at most {_MOST_STOPS} texts")
        return [text for text in found if text] if found is not None else None

    @property
    def stops(self) -> list[str]:
        """The texts before which an answer ends."""
        return self.stop if isinstance(self.stop, list) else []

    @property
    def cut(self) -> int | None:
        """The most tokens of an answer; None: no limit."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def said(self) -> list[Message]:
        """What person and agent have said, in order; messages without words are left out."""
        return [message for message in self.messages if message.role in ("user", "assistant") and message.words]

    @property
    def instructions(self) -> str:
        """The system messages."""
        return "\n\n".join(m.words for m in self.messages if m.role in _INSTRUCTING and m.words)

    def check(self) -> None:
        """Refuse what is not supported.

        Raises:
            Unsupported: the request asks for it.
        """
        if self.n is not None and self.n != 1:
            raise Unsupported("only one answer is given", "n", "Leave n out.")
        if (form := (self.response_format or {}).get("type", "text")) != "text":
            raise Unsupported(f"answers are text, not {str(form)[:40]!r}", "response_format", "Leave it out.")
        if self.tool_choice not in (None, "auto", "none"):
            raise Unsupported("tools are never called", "tool_choice", 'Leave it out, or give "none".')
        if self.modalities is not None and self.modalities != ["text"]:
            raise Unsupported("answers are text", "modalities", "Leave it out.")
        for place, kind in self._kinds():
            if kind not in ("text", "refusal"):
                raise Unsupported(f"{kind[:40]!r} is not understood", f"messages.{place}.content", "Send text.")

    def _kinds(self) -> Iterator[tuple[int, str]]:
        for place, message in enumerate(self.messages):
            if isinstance(message.content, list):
                for part in message.content:
                    yield place, part.type

    def words(self) -> str:
        """What is new: the last message of the person.

        Raises:
            InputError: the person has said nothing new, or too much.
        """
        place = next((i for i in reversed(range(len(self.messages))) if self.messages[i].role == "user"), None)
        if place is None:
            raise InputError("nobody has said anything", where="messages", remedy="Send a message of role user.")
        where, text = f"messages.{place}.content", self.messages[place].words
        if not text:
            raise InputError("the message is empty", where=where, remedy="Send 1 to 8,000 characters.")
        if len(text) > LONGEST_MESSAGE:
            raise InputError(
                f"the message has {len(text):,} characters", where=where, remedy=f"Send at most {LONGEST_MESSAGE:,}."
            )
        if self.said[-1].role == "assistant":
            raise InputError(
                "the last message is the agent's own",
                where="messages",
                remedy="Send a message of role user last: an agent does not continue its own words.",
            )
        return text
