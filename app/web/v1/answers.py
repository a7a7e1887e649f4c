"""The bodies of answers, as OpenAI's chat completions have them, with a companion's own part beside `choices`."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any, Final

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
