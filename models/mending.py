"""Making an answer usable that nearly is: numbers to their range, lists to their length. Pure; nothing is made up.

For a mind's own judgements only. Who decides something for others (judges, selectors, votes) is asked again.
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

from persimchat.state.judgement import PARTS, Judgement
from persimchat.state.outcomes import Outcome

T = TypeVar("T", bound=BaseModel)

_NUMBER: Final = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{0,15})?)\s*(?:/\s*10)?\s*")
"""A number in words' clothing: "7", "7.4", "7/10"."""
_ROUNDS: Final = 6
"""A value may need several repairs: "12/10" is a number, then one that is too great; a list is sorted out, then cut."""

_NOT_WHOLE: Final = frozenset({"int_parsing", "int_from_float", "float_parsing"})
_BOUNDS: Final = {"less_than_equal": "le", "greater_than_equal": "ge"}


def mended(answer: Mapping[str, Any], schema: type[T]) -> T | None:
    """The answer as far as it is usable; None where it is not.

    A number outside its range is moved to its end; "7/10" and 7.4 are 7. A list that is too long is cut; items of a
    list that are of no use are left out, and of one that is to have several, one is enough.

    Args:
        answer: the object that the model gave.
        schema: what it was asked for.
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


def usable_parts(answer: Mapping[str, Any], parts: Sequence[str]) -> dict[str, tuple[Judgement, Outcome]]:
    """The parts of an answer that are usable: "valid" as they are, or "corrected".

    Args:
        answer: the object that the model gave.
        parts: the modules whose judgements it was asked for, of `state.judgement.PARTS`.
    """
    usable: dict[str, tuple[Judgement, Outcome]] = {}
    for part in parts:
        given = answer.get(part)
        try:
            usable[part] = PARTS[part].model_validate(given), "valid"
        except ValidationError:
            if isinstance(given, dict) and (value := mended(given, PARTS[part])) is not None:
                usable[part] = value, "corrected"
    return usable


def _mend(found: dict[str, Any], problems: Sequence[Any]) -> bool:
    """Repair what has a repair, in place; whether all of it has."""
    # What is of no use goes before a list is cut to the first of its items.
    first = [problem for problem in problems if problem["type"] != "too_long"] or problems
    useless: set[tuple[Any, ...]] = set()
    for problem in first:
        path = tuple(problem["loc"])
        repaired = _repaired(problem["type"], problem["input"], problem.get("ctx") or {})
        item = next((path[: depth + 1] for depth in reversed(range(len(path))) if isinstance(path[depth], int)), None)
        if repaired is not None and path != item:  # a number that is itself an item names something, and is no level
            _holder(found, path)[path[-1]] = repaired
        elif item is not None:
            useless.add(item)
        else:
            return False
    for item in sorted(useless, key=lambda path: (len(path), path[-1]), reverse=True):
        del _holder(found, item)[item[-1]]
    return True


def _repaired(kind: str, value: Any, context: Mapping[str, Any]) -> Any:
    """What stands for a value with a fault of this kind; None where nothing does."""
    if kind in _BOUNDS:
        return context[_BOUNDS[kind]]
    if kind == "too_long" and isinstance(value, list):
        return value[: context["max_length"]]
    if kind in _NOT_WHOLE:
        return _whole(value)
    return None


def _whole(value: Any) -> int | None:
    """The whole number nearest to what a model gave as one, halves up; None where it gave none."""
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
    """The schema with one item enough in lists that are to have several."""
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
