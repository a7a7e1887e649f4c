"""Reads a model's answer: its text, why it stopped, and the validated object."""

from __future__ import annotations

import json
from reprlib import Repr
from typing import Any, Final, TypeVar

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ValidationError

from persimchat.models.extraction import find_object, without_thinking
from persimchat.models.redaction import SHORT, short

T = TypeVar("T", bound=BaseModel)

SHOWN_PROBLEMS: Final = 6
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_length"})
TOO_LONG: Final = "persimchat_too_long"
TOO_DEEP: Final = "persimchat_too_deep"
"""PerSimChat's own reasons why an answer ended: `models/receiving.py` cuts such answers off."""
_OURS: Final = {
    TOO_LONG: "the answer is too long; it must be much shorter",
    TOO_DEEP: "the answer is nested too deeply",
}
_GIVEN: Final = 80
"""The most characters of a wrong value that are quoted."""
_FILTERED: Final = frozenset({"content_filter", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "guardrail_intervened"})


_REFUSED: Final = "the model refused to answer"
_STOPPED: Final = "the answer was stopped by the server's content filter"
REFUSALS: Final = (_REFUSED, _STOPPED)
"""What a `WrongAnswer` that was refused says first."""


class WrongAnswer(ValueError):
    """An unusable answer.

    Args:
        problem: why it is unusable, in words for the model, which reads them when it is asked again.
        prose: whether it has no JSON at all, so that the model has ignored the form of answer.
        found: the object that did not fit the schema; None if there was none.
        refused: whether the model, or its server's filter, refused to answer.
    """

    def __init__(
        self, problem: str, *, prose: bool = False, found: dict[str, Any] | None = None, refused: bool = False
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.prose = prose
        self.found = found
        self.refused = refused


def stop_problem(message: AIMessage) -> str | None:
    """Why an answer is unusable although the request succeeded: refused, filtered or cut; None if it is usable."""
    refused = message.additional_kwargs.get("refusal") or _refusal_block(message)
    if refused:
        return f"{_REFUSED}: {short(str(refused))}"
    reason = _stop_reason(message)
    if reason in _OURS:
        return _OURS[reason]
    if reason in _CUT:
        return "the answer was cut off at the length limit; it must be shorter"
    if reason in _FILTERED:
        return _STOPPED
    return _REFUSED if reason == "refusal" else None


def _is_refused(message: AIMessage) -> bool:
    """Whether there is no answer because the model, or its server's filter, refused to give one."""
    told = message.additional_kwargs.get("refusal") or _refusal_block(message)
    return bool(told) or _stop_reason(message) in (*_FILTERED, "refusal")


def was_cut(message: AIMessage) -> bool:
    """Whether an answer stopped because it reached its limit of tokens."""
    return _stop_reason(message) in _CUT


def _stop_reason(message: AIMessage) -> str:
    data = message.response_metadata
    reason = str(data.get("finish_reason") or data.get("stop_reason") or data.get("done_reason") or "")
    details = data.get("incomplete_details")
    if not reason and isinstance(details, dict):
        reason = str(details.get("reason") or "")
    return reason


def answer_text(message: AIMessage) -> str:
    """The text of a message without thinking; the arguments of its first tool call, if it has one."""
    if message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    if message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return without_thinking(str(message.text))


def read(message: AIMessage, schema: type[T]) -> T:
    """The validated answer in a message.

    Raises:
        WrongAnswer: the answer was refused, cut, empty, without JSON, or does not fit the schema.
    """
    stopped = stop_problem(message)
    if stopped:
        raise WrongAnswer(stopped, refused=_is_refused(message))
    text = answer_text(message)
    if not text.strip():
        raise WrongAnswer("the answer was empty")
    found = find_object(text, schema.model_fields)
    if found is None:
        raise WrongAnswer("there was no JSON object with the fields asked for", prose="{" not in text)
    try:
        return schema.model_validate(found)
    except ValidationError as error:
        raise WrongAnswer(_words(error), found=found) from error


def _words(error: ValidationError) -> str:
    """The validator's messages, field by field, on one line."""
    problems = error.errors(include_url=False, include_context=False)
    lines = []
    for problem in problems[:SHOWN_PROBLEMS]:
        where = ".".join(str(part) for part in problem["loc"]) or "the object"
        given = "" if problem["type"] == "missing" else f" (given: {_given(problem['input'])})"
        lines.append(f"{where}: {problem['msg']}{given}")
    more = len(problems) - SHOWN_PROBLEMS
    return "; ".join(lines) + (f"; and {more} more" if more > 0 else "")


def _given(value: Any) -> str:
    """The quotation of a wrong value: only the beginning of a long or deep one is read."""
    shown = repr(value[:SHORT]) if isinstance(value, str) else _SHOWN.repr(value)
    return short(shown)[:_GIVEN]


_SHOWN: Final = Repr()
_SHOWN.maxlevel, _SHOWN.maxstring, _SHOWN.maxother = 3, _GIVEN, _GIVEN


def _refusal_block(message: AIMessage) -> str | None:
    blocks = message.content if isinstance(message.content, list) else []
    return next((str(b["refusal"]) for b in blocks if isinstance(b, dict) and b.get("refusal")), None)
