"""Corrects an answer that is nearly usable: moves numbers into their range, shortens lists. Pure; it invents nothing.

Only a mind's own judgements are corrected. Those who decide for others (judges, selectors, voters) are asked again.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from annotated_types import MinLen
from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from ..state.minds.judgement import IF_CHANGED, Judgement, schema_of
from ..state.outcomes import Outcome

T = TypeVar("T", bound=BaseModel)

_NUMBER: Final = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{0,15})?)\s*(?:/\s*10)?\s*")
"""A number as text: "7", "7.4", "7/10"."""
_ROUNDS: Final = 6
"""A value may need several repairs: "12/10" becomes a number, then a smaller one; a list loses items, then is cut."""

_NOT_WHOLE: Final = frozenset({"int_parsing", "int_from_float", "float_parsing"})
_BOUNDS: Final = {"less_than_equal": "le", "greater_than_equal": "ge"}


def mended(answer: Mapping[str, Any], schema: type[T]) -> T | None:
    """The corrected answer; None if it is unusable.

    A number outside its range becomes the nearest valid one; "7/10" and 7.4 become 7. A list that is too long is cut;
    unusable items of a list are left out, and one item is enough in a list that should have several.

    Args:
        answer: the object that the model gave.
        schema: the schema of the answer.
    """
    usable, found = _usable(schema), copy.deepcopy(dict(answer))
    for _ in range(_ROUNDS):
        try:
            value: T = usable.model_validate(found)
            return value
        except ValidationError as error:
            problems = error.errors(include_url=False)
        if not _mend(found, problems):
            return None
    return None


def usable_parts(answer: Mapping[str, Any], parts: Sequence[str]) -> dict[str, tuple[Judgement | None, Outcome]]:
    """The usable parts of an answer, each with its outcome: "valid" or "corrected"; None is one that has not changed.

    Args:
        answer: the object that the model gave.
        parts: the modules whose judgements were asked for, as for `state.judgement.in_parts`.
    """
    usable: dict[str, tuple[Judgement | None, Outcome]] = {}
    for part in parts:
        given = answer.get(part)
        if given is None and part in IF_CHANGED:
            usable[part] = None, "valid"
            continue
        try:
            usable[part] = schema_of(part).model_validate(given), "valid"
        except ValidationError:
            if isinstance(given, dict) and (value := mended(given, schema_of(part))) is not None:
                usable[part] = value, "corrected"
    return usable


def _mend(found: dict[str, Any], problems: Sequence[Any]) -> bool:
    """Repair problems in place; return whether each of them has a repair."""
    # Unusable items are removed before a list is cut to its first items.
    first = [problem for problem in problems if problem["type"] != "too_long"] or problems
    useless: set[tuple[Any, ...]] = set()
    for problem in first:
        path = tuple(problem["loc"])
        repaired = _repaired(problem["type"], problem["input"], problem.get("ctx") or {})
        item = next((path[: depth + 1] for depth in reversed(range(len(path))) if isinstance(path[depth], int)), None)
        if repaired is not None and path != item:  # a number that is an item refers to something, and is not a level
            _holder(found, path)[path[-1]] = repaired
        elif item is not None:
            useless.add(item)
        else:
            return False
    for item in sorted(useless, key=lambda path: (len(path), path[-1]), reverse=True):
        del _holder(found, item)[item[-1]]
    return True


def _repaired(kind: str, value: Any, context: Mapping[str, Any]) -> Any:
    """The replacement of a value with this kind of fault; None if there is none."""
    if kind in _BOUNDS:
        return context[_BOUNDS[kind]]
    if kind == "too_long" and isinstance(value, list):
        return value[: context["max_length"]]
    if kind in _NOT_WHOLE:
        return _whole(value)
    return None


def _whole(value: Any) -> int | None:
    """The whole number nearest to a model's value, halves up; None if the value is not a number."""
    if isinstance(value, str):
        number = _NUMBER.fullmatch(value)
        value = float(number[1]) if number else None
    return math.floor(value + 0.5) if isinstance(value, int | float) and math.isfinite(value) else None


def _holder(found: Any, path: Sequence[Any]) -> Any:
    for part in path[:-1]:
        found = found[part]
    return found


@cache
def _usable(schema: type[T]) -> type[T]:
    """The schema, but with one item enough in lists that should have several."""
    eased: dict[str, Any] = {}
    for name, field in schema.model_fields.items():
        kind: Any = field.annotation
        inside = _usable(kind) if isinstance(kind, type) and issubclass(kind, BaseModel) else kind
        if inside is not kind or any(map(_several, field.metadata)):
            eased[name] = (inside, _eased(field))
    return create_model(schema.__name__, __base__=schema, **eased) if eased else schema


def _eased(field: FieldInfo) -> FieldInfo:
    eased = copy.copy(field)
    eased.metadata = [MinLen(1) if _several(bound) else bound for bound in field.metadata]
    return eased


def _several(bound: Any) -> bool:
    return isinstance(bound, MinLen) and bound.min_length > 1
