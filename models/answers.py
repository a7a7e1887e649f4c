"""Reads a model's answer: its text, why it stopped, the JSON object in it, and the validated object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from reprlib import Repr
from typing import Any, Final, TypeVar

from json_repair import repair_json
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel, ValidationError

from .redaction import SHORT, short
from .spoken import shows_thinking, without_thinking

T = TypeVar("T", bound=BaseModel)

SHOWN_PROBLEMS: Final = 6
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_length"})
THINKING: Final = "reasoning_content"
"""Where a message has the thinking that its server sent apart from its words, in `additional_kwargs`."""
EMPTY: Final = "the answer was empty"
ALL_THINKING: Final = "the answer held thinking, and nothing else"
TOO_LONG: Final = "persimchat_too_long"
TOO_DEEP: Final = "persimchat_too_deep"
"""PerSimChat's own reasons why an answer ended: `models/stream_filter.py` cuts such answers off."""
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
        found: the object that did not fit the schema, or what is whole of one that was cut off; None if there was none.
        cut: whether the answer was cut off.
        refused: whether the model, or its server's filter, refused to answer.
        remedy: what its user can do about it, where that is known.
    """

    def __init__(
        self,
        problem: str,
        *,
        prose: bool = False,
        found: dict[str, Any] | None = None,
        cut: bool = False,
        refused: bool = False,
        remedy: str = "",
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.prose = prose
        self.found = found
        self.cut = cut
        self.refused = refused
        self.remedy = remedy


def thinking_of(message: BaseMessage) -> str:
    """The thinking that came apart from the words of an answer, or was taken from them."""
    thought = message.additional_kwargs.get(THINKING)
    return thought if isinstance(thought, str) else ""


def shown_thinking(message: AIMessage) -> bool:
    """Whether an answer shows that its model thinks."""
    return bool(thinking_of(message)) or shows_thinking(str(message.text))


def remedy_of(message: AIMessage) -> str:
    """What the user can do where thinking left no room for the answer, or was taken for all of it; else empty."""
    if not shown_thinking(message):
        return ""
    if was_cut(message):
        return "The model's thinking took the room: raise answer_tokens, or choose a model that thinks less."
    return "Start the model's server with the reasoning parser of this model, or without one."


def stop_problem(message: AIMessage) -> str | None:
    """Why an answer is unusable although the request succeeded: refused, filtered or cut; None if it is usable."""
    refused = message.additional_kwargs.get("refusal") or _refusal_block(message)
    if refused:
        return f"{_REFUSED}: {short(str(refused))}"
    reason = _stop_reason(message)
    if reason in _OURS:
        return _OURS[reason]
    if reason in _CUT:
        where = ", in the model's thinking" if shown_thinking(message) and not answer_text(message) else ""
        return f"the answer was cut off at the length limit{where}; it must be shorter"
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


def read(message: AIMessage, schema: type[T], *, alone: bool = False) -> T:
    """The validated answer in a message.

    Args:
        message: the model's.
        schema: of the answer.
        alone: whether two answers that differ in more than their reasoning are none; else the last one counts.

    Raises:
        WrongAnswer: the answer was refused, cut, empty, without JSON, or does not fit the schema.
    """
    stopped = stop_problem(message)
    if stopped:
        cut, refused = was_cut(message), _is_refused(message)
        found = whole_fields(answer_text(message)) if cut else None
        raise WrongAnswer(stopped, found=found, cut=cut, refused=refused, remedy=remedy_of(message))
    text = answer_text(message)
    if not text.strip() and (thought := thinking_of(message)):
        if find_object(thought, schema.model_fields) is None:
            raise WrongAnswer(ALL_THINKING, remedy=remedy_of(message))
        text = thought  # its server takes everything for thinking
    if not text.strip():
        raise WrongAnswer(EMPTY)
    found = find_object(text, schema.model_fields)
    if found is None and "{" not in text and _DECLINES.search(text[:_OPENING]):
        raise WrongAnswer(f"{_REFUSED}: {short(text.strip())}", prose=True, refused=True)
    if found is not None and alone and len(_answers_in(text, schema)) > 1:
        raise WrongAnswer("there were several answers, which contradict each other; give one")
    if found is None:
        raise WrongAnswer("there was no JSON object with the fields asked for", prose="{" not in text)
    try:
        return schema.model_validate(found)
    except ValidationError as error:
        raise WrongAnswer(_words(error), found=found) from error


def _answers_in(text: str, schema: type[BaseModel]) -> set[str]:
    """The different valid answers in a text, without their reasoning."""
    found = set()
    for one in _objects(without_thinking(text)):
        with suppress(ValidationError):
            found.add(schema.model_validate(one).model_dump_json(exclude={"reasoning"}))
    return found


_OPENING: Final = 300
"""Characters of an answer in which a refusal is looked for."""
_DECLINES: Final = re.compile(
    r"\b(?:can(?:no|['’])t|can not|won['’]t|will not|unable to|not able to|must decline|decline to|refuse to"
    r"|not comfortable|nemohu|nem[ůu][žz]u|odm[íi]t[áa]m)\s+(?:\w+\s+){0,4}?"
    r"(?:help|assist|answer|respond|judg|rat(?:e|ing)|evaluat|scor(?:e|ing)|compar|provid|comply|fulfil|continu|engag"
    r"|discuss|participat|tak(?:e|ing) part|pom[ůo]|odpov|hodnot|posou|splnit|vyhov)",
    re.IGNORECASE,
)
"""Words of a model that refuses, in English or Czech."""


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


_BEGIN: Final = re.compile(r"\{(?=\s*[\"}])")
_MEMBER: Final = re.compile(r'[\s,]*"(?P<name>\w+)"\s*:\s*')
_AFTER_NUMBER: Final = re.compile(r"[\s,}]")
_DECODER: Final = json.JSONDecoder()
_PAGE: Final = 4_096
_WRAPPED: Final = 3
"""The most objects around the object that is looked for."""

DEEPEST: Final = 24
"""The most levels of nesting of an answer; schemas here have four. Deeper ones are invalid, and could not be stored."""
REPAIRED: Final = 6_000
"""The most characters of broken JSON that are repaired: the repair takes quadratic time."""
_WORK: Final = 20
"""Characters read again per character of the text, if objects begin that never end."""


def find_object(text: str, fields: Iterable[str]) -> dict[str, Any] | None:
    """The JSON object in a text that looks most like the answer, or None.

    It accepts code fences, words around the object, trailing commas, single quotes, comments, and an object wrapped in
    another. An object without its last brace counts as a cut-off answer and is not repaired; one that is nested deeper
    than `DEEPEST` is ignored.

    Args:
        text: what the model wrote.
        fields: names of the answer's fields; the object with most of them is chosen, among equals the last.
    """
    wanted = frozenset(fields)
    clean = without_thinking(text)
    found = _best(_objects(clean), wanted)
    if found is not None:
        return found
    start, end = clean.find("{"), clean.rfind("}")
    if start < 0 or end < start:
        return None
    return _best(_repaired(clean[start : end + 1]), wanted)


def whole_fields(text: str) -> dict[str, Any] | None:
    """The fields of the first JSON object in a text that breaks off in the middle of it; None if none is whole."""
    found: dict[str, Any] = {}
    begin = _BEGIN.search(text)
    member = _MEMBER.match(text, begin.end()) if begin else None
    while member is not None:
        try:
            value, end = _DECODER.raw_decode(text, member.end())
        except (ValueError, RecursionError):
            break
        # Of a number, the rest may be missing.
        if is_deep(value) or (isinstance(value, int | float) and not _AFTER_NUMBER.match(text, end)):
            break
        found[member["name"]] = value
        member = _MEMBER.match(text, end)
    return found or None


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether a value holds mappings and lists nested deeper than `most` levels."""
    level = [value]
    for _ in range(most + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every complete JSON object in a text that is not inside another one, in order."""
    left = _WORK * len(text)
    begin = _BEGIN.search(text)
    while begin is not None and left > 0:
        position = begin.start()
        if position > _PAGE:  # the decoder counts the lines before each error
            text, position = text[position:], 0
        try:
            value, end = _DECODER.raw_decode(text, position)
        except RecursionError:
            return
        except json.JSONDecodeError as error:
            left -= error.pos - position
            end = position + 1
        except ValueError:  # a number with more digits than Python reads
            left -= len(text)
            end = position + 1
        else:
            if isinstance(value, dict) and not is_deep(value):
                yield value
        begin = _BEGIN.search(text, end)


def _repaired(text: str) -> list[dict[str, Any]]:
    """The objects in broken JSON; none if it is too long or too deep to repair."""
    if len(text) > REPAIRED or _depth(text) > DEEPEST:
        return []
    try:
        repaired = repair_json(text, return_objects=True)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):  # it fails on some garbage
        return []
    candidates = repaired if isinstance(repaired, list) else [repaired]
    return [value for value in candidates if isinstance(value, dict) and not is_deep(value)]


def _depth(text: str) -> int:
    """The depth of nested brackets in a text, those in strings included."""
    depth = deepest = 0
    for sign in text:
        if sign in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "}]":
            depth = max(0, depth - 1)
    return deepest


def _best(objects: Iterable[dict[str, Any]], wanted: frozenset[str]) -> dict[str, Any] | None:
    best: dict[str, Any] | None = None
    most = 0
    for outer in objects:
        for candidate in _nested(outer, _WRAPPED):
            count = len(wanted & candidate.keys())
            if count > most or (count == most and count and candidate is outer):
                best, most = candidate, count
    return best


def _nested(value: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """An object and those it wraps ({"answer": {…}}, {"name": …, "arguments": {…}}), outermost first."""
    yield value
    if depth:
        for inner in value.values():
            if isinstance(inner, dict):
                yield from _nested(inner, depth - 1)
