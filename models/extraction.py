"""Finding the answer's JSON object in what a model wrote around it, in time linear in its length."""

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
"""An object is looked for inside so many others."""

DEEPEST: Final = 24
"""Levels of nesting that an answer may have: ours have four. Deeper ones are no answers, and could not be kept."""
REPAIRED: Final = 6_000
"""Characters of broken JSON that are repaired: what repairs it takes quadratic time."""
_WORK: Final = 20
"""Characters read again per character of the text, where objects begin that never end."""


def without_thinking(text: str) -> str:
    """What a reasoning model wrote after its thinking.

    Some chat templates write only the closing tag; thinking that is not closed was cut off and holds no answer.
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

    Forgives code fences, words around the object, trailing commas, single quotes, comments, and an object wrapped in
    another. An object whose last brace is missing altogether is taken for a cut-off answer and not repaired, and one
    that is nested deeper than `DEEPEST` for no answer.

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
    """The objects in broken JSON; none where it is too long or too deep to be worth it."""
    if len(text) > REPAIRED or _depth(text) > DEEPEST:
        return []
    try:
        repaired = repair_json(text, return_objects=True)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):  # it fails on some garbage
        return []
    candidates = repaired if isinstance(repaired, list) else [repaired]
    return [value for value in candidates if isinstance(value, dict) and not is_deep(value)]


def _depth(text: str) -> int:
    """How deep brackets are nested in a text, those in strings included."""
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
