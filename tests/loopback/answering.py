"""What the loopback server says: completions, streams, faults, and answers that fit PerSimChat's own tasks."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import struct
from dataclasses import dataclass, field
from typing import Any

TASK = re.compile(r'<task name="([a-z_]+)">')
SCHEMAS = {
    "perception": "Percept",
    "focal_points": "FocalPoints",
    "memory_filtering": "Consolidation",
    "need_to_talk": "NeedToTalk",
    "openness": "Openness",
    "action": "Action",
    "emotion": "Feeling",
    "reflection": "Reflection",
    "planning": "Plan",
    "analysis": "Score",
    "inconsistency": "Inconsistency",
    "dimension": "DimensionScore",
    "pair": "PairScores",
}
"""Which judgement answers which task; those of the other tasks are made for the people of one conversation."""
EVALUATED = ("dimension", "pair", "solving")
"""Tasks whose schemas are in `state/assessment.py`."""
WORDS = ("utterance", "group_chat", "story_utterance")
"""Tasks that are answered in words and not in a schema."""
DIMENSIONS = 64

GREETING = "Say hello."
"""What a server is asked before a run if it does not list the model."""


@dataclass
class Fault:
    """Something that goes wrong.

    Attributes:
        status: HTTP status.
        body: JSON, or a string that is sent as it stands.
        headers: further headers.
        hang_up: close the connection without an answer.
        partial: begin an answer with this text, then cut the connection.
        delay_s: seconds before anything is answered.
        silent: with `partial`, end the stream politely but without saying why the answer stopped.
    """

    status: int = 500
    body: Any = field(default_factory=lambda: {"error": {"message": "something broke"}})
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    partial: str = ""
    silent: bool = False
    delay_s: float = 0.0


@dataclass
class Raw:
    """Bytes that are sent as they stand, in place of an answer; the connection is closed behind them.

    Attributes:
        body: what is sent behind the headers.
        content_type: what it says to be.
        headers: further headers.
        status: HTTP status.
    """

    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200

    @classmethod
    def events(cls, *events: Any, end: bytes = b"") -> Raw:
        """A stream of these events, JSON or bytes as they stand, and at last `end`."""
        said = (event if isinstance(event, bytes) else json.dumps(event).encode() for event in events)
        return cls(b"".join(b"data: " + event + b"\n\n" for event in said) + end, "text/event-stream")


@dataclass
class Reply:
    """A completion.

    Attributes:
        content: the message's text; None is sent as null.
        tool_calls: the message's tool calls, as the protocol has them.
        finish_reason: why it stopped.
        refusal: the message's refusal.
        thinking: what the model thinks, sent apart from its words.
        thinks_in: the field with the thinking; "content" for parts of a message.
    """

    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    thinking: str = ""
    thinks_in: str = "reasoning_content"

    @classmethod
    def of(cls, answer: dict[str, Any] | str | None, body: dict[str, Any]) -> Reply:
        """An answer in the form that the request asks for."""
        if isinstance(answer, str) or answer is None:
            return cls(answer)
        if not body.get("tools"):
            return cls(json.dumps(answer, ensure_ascii=False))
        function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps(answer)}
        return cls(None, [{"id": "call_1", "type": "function", "function": function}], "tool_calls")

    def completion(self, body: dict[str, Any], *, usage: bool) -> dict[str, Any]:
        """The body of an answer that is not streamed."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        message |= self._thought(self.thinking, self.content)
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        whole = _head("chat.completion", body) | {"choices": [choice]}
        return whole | ({"usage": self._usage(body)} if usage else {})

    def chunks(self, body: dict[str, Any], *, usage: bool) -> list[dict[str, Any]]:
        """The events of a streamed answer, without the closing [DONE]."""
        head = _head("chat.completion.chunk", body)
        pieces = re.findall(r"\s*\S+\s*?", self.content or "") if self.content else []
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [self._thought(p) for p in re.findall(r"\s*\S+\s*?", self.thinking)]
        deltas += [{"content": p} for p in pieces]
        deltas += [{"refusal": self.refusal}] if self.refusal else []
        result = [head | {"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        result.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": self.finish_reason}]})
        if usage and (body.get("stream_options") or {}).get("include_usage"):
            result.append(head | {"choices": [], "usage": self._usage(body)})
        return result

    def _thought(self, thinking: str, content: str | None = None) -> dict[str, Any]:
        if not thinking or self.thinks_in != "content":
            return {self.thinks_in: thinking} if thinking else {}
        said = [] if content is None else [{"type": "text", "text": content}]
        return {"content": [{"type": "thinking", "text": thinking}, *said]}

    def _usage(self, body: dict[str, Any]) -> dict[str, int]:
        given = sum(len(str(m.get("content")).split()) for m in body.get("messages", []))
        made = len((self.content or json.dumps(self.tool_calls)).split())
        return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def natural_answer(body: dict[str, Any]) -> dict[str, Any] | str:
    """An answer that fits the task named in the last user message, so that whole conversations can be carried.

    Judgements are drawn from the schema by a digest of the question; words are new each time; who answers for a group
    is scripted, because its answer must name the people whom the prompt lists.
    """
    from langchain_core.messages import convert_to_messages

    from loopback.scripted import FOR_GROUPS

    messages = convert_to_messages(body.get("messages", []))
    name = next((m for message in reversed(messages) for m in TASK.findall(str(message.text))), None)
    if name is None and messages[-1].text == GREETING:
        return "Hello."
    if name in FOR_GROUPS:
        return FOR_GROUPS[name](body)
    asked = _digest([body.get("messages", []), body.get("seed")])  # the form of a request changes no answer
    if name in WORDS:
        return " ".join(f"w{asked}x{number}" for number in range(9))
    return fitting(schema_of(body), random.Random(asked))


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    """The schema that a request asks for: its response format, its tool, its task, or the one in its text."""
    if "schema" in ((body.get("response_format") or {}).get("json_schema") or {}):
        return body["response_format"]["json_schema"]["schema"]
    if body.get("tools"):
        return body["tools"][0]["function"]["parameters"]
    text = str(body["messages"][-1].get("content"))
    task = TASK.search(text)
    if task and task.group(1) in SCHEMAS:
        from langchain_core.utils.json_schema import dereference_refs

        from persimchat.state import assessment
        from persimchat.state.minds import judgement

        room = assessment if task.group(1) in EVALUATED else judgement
        return dereference_refs(getattr(room, SCHEMAS[task.group(1)]).model_json_schema())
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]


def fitting(schema: dict[str, Any], rng: random.Random) -> Any:
    """A value that fits a JSON schema of the kinds that PerSimChat uses."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return fitting(rng.choice(schema["anyOf"]), rng)
    match schema.get("type"):
        case "object":
            return {name: fitting(part, rng) for name, part in schema["properties"].items()}
        case "array":
            least = schema.get("minItems", 1)
            return [fitting(schema["items"], rng) for _ in range(least)]
        case "integer":
            return rng.randint(schema.get("minimum", 0), schema.get("maximum", 10))
        case "number":
            return round(rng.uniform(schema.get("minimum", 0), schema.get("maximum", 10)), 1)
        case "null":
            return None
        case "boolean":
            return rng.random() < 0.5
        case _:
            return " ".join(rng.choices(["water", "bread", "river", "winter", "music", "letter"], k=4))


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Embeddings that depend on nothing but the text: the same text, the same vector."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = []
    for index, text in enumerate(texts):
        rng = random.Random(_digest(text))
        vector: Any = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "model": body.get("model", ""), "data": data, "usage": usage}


def _head(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"chatcmpl-{_digest(body):x}", "object": kind, "created": 0, "model": body.get("model", "test-model")}


def _digest(value: Any) -> int:
    return int.from_bytes(hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=8).digest(), "big")
