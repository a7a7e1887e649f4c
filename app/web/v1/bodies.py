"""The bodies of `/v1` as OpenAI's chat completions have them: errors, what is taken of requests, and answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator
from starlette.exceptions import HTTPException

from ....graph.companion.attending import LONGEST_MESSAGE
from ....state.errors import BudgetExhausted, DayBudgetExhausted, InputError, MachineError, ModelError, PerSimChatError
from ....state.plain_text import clean
from ..api.bodies import wrong_in

_WRONG: Final = "invalid_request_error"


class Unsupported(InputError):
    """The request asks for something that a companion does not do.

    Args:
        what: what is not supported.
        param: the request's field.
        remedy: what to do about it.
    """

    def __init__(self, what: str, param: str, remedy: str) -> None:
        super().__init__(what, where=param, remedy=remedy)


class NoSuchModel(InputError):
    """There is no agent of that name."""


class NoKey(InputError):
    """The request has no key, or a wrong one."""


class TooFast(InputError):
    """One client sends too many messages.

    Args:
        wait_s: seconds after which the next one is taken.
    """

    def __init__(self, wait_s: int) -> None:
        super().__init__("too many messages in a short time", remedy=f"Wait {wait_s} s.")
        self.wait_s = wait_s


def problem(message: str, kind: str = _WRONG, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """An error's body.

    Args:
        message: what went wrong, and what to do.
        kind: OpenAI's type of the error.
        param: the request's field; None for none.
        code: a word for programs.
    """
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def told(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Status, body and headers that answer an error."""
    match error:
        case NoKey():
            return 401, problem(str(error), code="invalid_api_key"), {"www-authenticate": "Bearer"}
        case NoSuchModel():
            return 404, problem(str(error), param="model", code="model_not_found"), {}
        case TooFast():
            body = problem(str(error), "rate_limit_error", code="rate_limit_exceeded")
            return 429, body, {"retry-after": str(error.wait_s)}
        case DayBudgetExhausted():
            wait = datetime.fromisoformat(error.until) - datetime.now()
            body = problem(str(error), "insufficient_quota", code="insufficient_quota")
            return 429, body, {"retry-after": str(max(1, int(wait.total_seconds()) + 1))}
        case BudgetExhausted():
            return 429, problem(str(error), "insufficient_quota", code="insufficient_quota"), {}
        case InputError():
            return 400, problem(str(error), param=error.where or None), {}
        case ModelError() | MachineError():
            return 503, problem(str(error), "server_error", code="model_down"), {"retry-after": "5"}
        case PerSimChatError():
            return 500, problem(str(error), "server_error"), {}
        case _:
            return 500, problem("The server failed; its log says more.", "server_error"), {}


def answer(error: Exception) -> JSONResponse:
    """The response that answers an error."""
    status, body, headers = told(error)
    return JSONResponse(body, status_code=status, headers=headers)


def add_problems(api: FastAPI) -> None:
    """Make an application answer errors in this form."""

    async def known(_: Request, error: Exception) -> JSONResponse:
        return answer(error)

    api.add_exception_handler(PerSimChatError, known)
    api.add_exception_handler(Exception, known)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    wrong = wrong_in(error.errors(), error.body)
    return JSONResponse(problem(f"{wrong.what} ({wrong.where}).", param=wrong.field or None), status_code=400)


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse(problem(str(error.detail)), status_code=error.status_code, headers=error.headers)


# The bodies of requests: what of OpenAI's chat completions is taken, and what is refused


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

    include_usage: StrictBool = False


class ChatRequest(BaseModel):
    """A request for an answer; fields that it does not name are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, Field(min_length=1, max_length=300)]
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: str | list[str] | None = None
    user: str | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    tool_choice: str | dict[str, Any] | None = None
    modalities: list[str] | None = None

    @field_validator("max_tokens", "max_completion_tokens")
    @classmethod
    def _no_limit(cls, tokens: int | None) -> int | None:
        """None for -1 and the like, by which programs say that there is no limit."""
        return tokens if tokens is not None and tokens > 0 else None

    @field_validator("temperature")
    @classmethod
    def _warm(cls, temperature: float | None) -> float | None:
        """At most 2, which is OpenAI's greatest; some programs go farther."""
        return None if temperature is None else min(temperature, 2.0)

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
        """The parts of what is new: the person's last message, and what follows it.

        A picture among the old ones was refused when it was new.
        """
        new = max((i for i, message in enumerate(self.messages) if message.role == "user"), default=0)
        for place, message in enumerate(self.messages[new:], new):
            for part in message.content if isinstance(message.content, list) else ():
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


# Answers, with a companion's own part beside `choices`


OWNER: Final = "persimchat"
"""Who owns the models of the list; also the name of the part beside `choices`."""
LAST: Final = "data: [DONE]\n\n"
"""The end of a stream."""


@dataclass(frozen=True)
class Done:
    """The end of an answer.

    Attributes:
        text: all of it, as the client may see it.
        reason: why it ended: "stop" or "length".
        given: estimated tokens of the request.
        made: estimated tokens of the answer.
        about: emotion, trust, end and talk; empty for the bare model.
    """

    text: str
    reason: str
    given: int
    made: int
    about: dict[str, Any]

    @property
    def usage(self) -> dict[str, int]:
        """The use of tokens, estimated: what the companion's own prompts take is in the world's calls."""
        return {
            "prompt_tokens": self.given,
            "completion_tokens": self.made,
            "total_tokens": self.given + self.made,
        }


@dataclass(frozen=True)
class Completion:
    """The form of one answer.

    Attributes:
        id: of the answer.
        model: as the client wrote it.
        with_usage: whether a stream ends with the use of tokens.
    """

    id: str
    model: str
    with_usage: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, done: Done) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        message = {"role": "assistant", "content": done.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": done.reason}
        body = {**self._head("chat.completion"), "choices": [choice], "usage": done.usage}
        return body | ({OWNER: done.about} if done.about else {})

    def first(self) -> str:
        """The first chunk of a stream: who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def words(self, text: str) -> str:
        """A chunk with some more words."""
        return self._chunk({"content": text})

    def end(self, done: Done) -> str:
        """The chunks at the end of a stream; the first has the reason and the companion's part."""
        last = self._chunk({}, reason=done.reason, more={OWNER: done.about} if done.about else {})
        if self.with_usage:
            last += event({**self._head("chat.completion.chunk"), "choices": [], "usage": done.usage})
        return last + LAST

    def _chunk(self, delta: dict[str, str], *, reason: str | None = None, more: dict[str, Any] | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        body = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return event(body | ({"usage": None} if self.with_usage else {}) | (more or {}))

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def event(data: dict[str, Any]) -> str:
    """An event of a stream."""
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"


def model(id_: str, created: int) -> dict[str, Any]:
    """A model of the list."""
    return {"id": id_, "object": "model", "created": created, "owned_by": OWNER}
