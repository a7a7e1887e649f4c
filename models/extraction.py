"""Finds the JSON object of an answer in the text around it, in time linear in its length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from json_repair import repair_json

_THINKING: Final = r"(?:think|thinking|reasoning|thought|scratchpad)"
_TAG: Final = re.compile(rf"<(/?)({_THINKING})\b[^<>]*>", re.IGNORECASE)
_BEGIN: Final = re.compile(r"\{(?=\s*[\"}])")
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


def without_thinking(text: str) -> str:
    """The text of a reasoning model without its thinking.

    Some chat templates write only the closing tag. Thinking without a closing tag was cut off and contains no answer.
    """
    tags = list(_TAG.finditer(text))
    closings = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    parts: list[str] = []
    end, inside, opened = 0, "", False
    for tag in tags:
        name = tag[2].lower()
        if inside:
            if tag[1] and name == inside:
                inside, end = "", tag.end()
        elif tag[1]:  # closed without having been opened: all before it was thinking
            parts, end, opened = [], tag.end(), False
        elif not opened:
            parts.append(text[end : tag.start()])
            if closings.get(name, -1) > tag.start():
                inside = name
            else:
                opened = True
        elif closings.get(name, -1) > tag.start():
            inside = name
    return "".join(parts if opened else [*parts, text[end:]]).strip()


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
