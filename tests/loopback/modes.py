"""What real servers and models do to a good answer, as a table: each mode changes what the loopback server says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from loopback.answering import TASK, WORDS, Fault, Raw, Reply, natural_answer

THOUGHT: Final = "Qxthought: they like harbours, so be kind."
"""What the model thinks; no part of it may be seen anywhere."""
MARKS: Final = (
    *("Qxthought", "<|", "|>", "think>", "[/INST]", "</s>", "Word count", "```", "### ", "User:", "assistantfinal"),
)
"""What may stand in no words."""

Change = Callable[[str, bool, dict[str, Any]], Reply | Fault | Raw]


@dataclass(frozen=True)
class Mode:
    """A way in which a server answers.

    Attributes:
        change: makes an answer of a good one: its text, whether it is words, and the request.
        ends: the words of the error with which a run ends; empty where it is held.
        corrects: whether something around the words is removed.
    """

    change: Change
    ends: str = ""
    corrects: bool = False


def _around(before: str, after: str = "", *, words_only: bool = True) -> Mode:
    def change(text: str, words: bool, body: dict[str, Any]) -> Reply:
        return Reply(f"{before}{text}{after}" if words or not words_only else text)

    return Mode(change, corrects=True)


def _thinks_in(field: str) -> Mode:
    return Mode(lambda text, words, body: Reply(text, thinking=THOUGHT, thinks_in=field))


def _only_thinks(text: str, words: bool, body: dict[str, Any]) -> Reply:
    return Reply(None, thinking=text)


def _does_not_stream(text: str, words: bool, body: dict[str, Any]) -> Reply | Raw:
    reply = Reply(text)
    return Raw(json.dumps(reply.completion(body, usage=True), indent=1).encode()) if body.get("stream") else reply


def _streams_one_event(text: str, words: bool, body: dict[str, Any]) -> Reply | Raw:
    reply = Reply(text)
    return Raw.events(reply.completion(body, usage=True), b"[DONE]") if body.get("stream") else reply


def _filtered(text: str, words: bool, body: dict[str, Any]) -> Reply | Fault | Raw:
    choice = {"index": 0, "message": None, "delta": None, "finish_reason": "content_filter"}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Reply(text) if not words else Raw.events(whole, b"[DONE]") if body.get("stream") else Fault(200, whole)


def _as_json(text: str, words: bool, body: dict[str, Any]) -> Reply:
    return Reply(json.dumps({"utterance": text}) if words else text)


def _refuses(text: str, words: bool, body: dict[str, Any]) -> Reply:
    return Reply(None, refusal="I cannot speak about harbours.") if words else Reply(text)


def _error(text: str, words: bool, body: dict[str, Any]) -> Reply | Fault:
    return Fault(200, {"error": {"message": "the engine ran out of memory"}}) if words else Reply(text)


def _null_choices(text: str, words: bool, body: dict[str, Any]) -> Reply | Fault:
    return Fault(200, {"choices": None, "message": "the engine ran out of memory"}) if words else Reply(text)


MODES: Final[dict[str, Mode]] = {
    "a tag": _around(f"<think>{THOUGHT}</think>\n\n", words_only=False),
    "a closing tag alone": _around(f"{THOUGHT}\n</think>\n\n", words_only=False),
    "reasoning_content": _thinks_in("reasoning_content"),
    "reasoning": _thinks_in("reasoning"),
    "parts of thinking": _thinks_in("content"),
    "harmony": _around(
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>",
        words_only=False,
    ),
    "harmony without marks": _around(f"analysis{THOUGHT}assistantfinal", words_only=False),
    "START_THINKING": _around(f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "[THINK]": _around(f"[THINK]{THOUGHT}[/THINK]", words_only=False),
    "the end of a turn": _around("", "</s>"),
    "an instruction's end": _around("[/INST] "),
    "the next turn": _around("", "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQxthought: go on"),
    "a JSON object": Mode(_as_json, corrects=True),
    "an element": _around("<response>", "</response>"),
    "a code fence": _around("```\n", "\n```"),
    "a count of words": _around("", " (Word count: 9)"),
    "a note": _around("", "\n\n*Note: Qxthought, I stayed in character.*"),
    "a heading": _around("### Response:\n"),
    "roles": _around("", "\nUser: Qxthought?\nAssistant: Qxthought!"),
    "no stream": Mode(_does_not_stream),
    "a stream of one event": Mode(_streams_one_event),
    "only thinking": Mode(_only_thinks, ends="the answer held thinking, and nothing else"),
    "a filter": Mode(_filtered, ends="content filter"),
    "a refusal": Mode(_refuses, ends="the model refused to answer: I cannot speak about harbours."),
    "an error with status 200": Mode(_error, ends="the engine ran out of memory"),
    "an error in place of choices": Mode(_null_choices, ends="the engine ran out of memory"),
}  # fmt: skip
"""By what is done."""


def answering(mode: str, answer: Callable[[dict[str, Any]], Any] = natural_answer) -> Callable[[dict[str, Any]], Any]:
    """The answers of a server in this mode."""

    def changed(body: dict[str, Any]) -> Any:
        given = answer(body)
        reply = Reply.of(given, body)
        if reply.tool_calls or not isinstance(reply.content, str):
            return reply
        task = TASK.search(str(body["messages"]))
        return MODES[mode].change(reply.content, task is None or task[1] in (*WORDS, "companion"), body)

    return changed
