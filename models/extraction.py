"""Finding the answer's JSON object in what a model wrote around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from json_repair import repair_json

_THINKING: Final = r"(?:think|thinking|reasoning|thought|scratchpad)"
_THOUGHT: Final = re.compile(rf"<({_THINKING})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAIL: Final = re.compile(rf"\A.*</{_THINKING}\s*>", re.DOTALL | re.IGNORECASE)
_OPEN: Final = re.compile(rf"<{_THINKING}\b[^>]*>.*\Z", re.DOTALL | re.IGNORECASE)
_DECODER: Final = json.JSONDecoder()
_DEPTH: Final = 3


def without_thinking(text: str) -> str:
    """What a reasoning model wrote after its thinking.

    Some chat templates write only the closing tag; thinking that is not closed was cut off and holds no answer.
    """
    return _OPEN.sub("", _TAIL.sub("", _THOUGHT.sub("", text))).strip()


def find_object(text: str, fields: Iterable[str]) -> dict[str, Any] | None:
    """The JSON object in a text that looks most like the answer, or None.

    Forgives code fences, words around the object, trailing commas, single quotes, comments, and an object wrapped in
    another. An object whose last brace is missing altogether is taken for a cut-off answer and not repaired.

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
    repaired = repair_json(clean[start : end + 1], return_objects=True)
    candidates = repaired if isinstance(repaired, list) else [repaired]
    return _best((c for c in candidates if isinstance(c, dict)), wanted)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Every complete JSON object in a text that is not inside another one, in order."""
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict):
            yield value
        position = text.find("{", end)


def _best(objects: Iterable[dict[str, Any]], wanted: frozenset[str]) -> dict[str, Any] | None:
    best: dict[str, Any] | None = None
    most = 0
    for outer in objects:
        for candidate in _nested(outer, _DEPTH):
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
