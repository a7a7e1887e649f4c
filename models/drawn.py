"""Answers to the modules of installed packages: drawn by chance from the answer's JSON schema."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from ..state.errors import InputError
from ..state.minds.judgement import own_module
from .fitted import longest

WORDS: Final = "Drawn by chance, as the offline model does not understand this question."
_LOWEST, _HIGHEST = 0, 10


def drawn(schema: Mapping[str, Any], chance: random.Random, whole: Mapping[str, Any] | None = None) -> Any:
    """A value that fits a schema; patterns and formats of texts, and multiples of numbers, are not heeded.

    Args:
        schema: a JSON schema.
        chance: where the numbers and choices come from.
        whole: the schema that this one is a part of, which has the definitions.
    """
    whole = schema if whole is None else whole
    if "$ref" in schema:
        return drawn(whole["$defs"][schema["$ref"].rpartition("/")[2]], chance, whole)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:  # what refers to something else may refer to itself
        return drawn(min(schema["anyOf"], key=lambda one: "$ref" in one), chance, whole)
    match schema.get("type"):
        case "object":
            return {name: drawn(of, chance, whole) for name, of in schema.get("properties", {}).items()}
        case "array":
            first = schema.get("prefixItems", ())
            more = [schema.get("items", {})] * (schema.get("minItems", 1) - len(first))
            return [drawn(of, chance, whole) for of in (*first, *more)]
        case "integer" | "number" as kind:
            return _number(schema, chance, whole=kind == "integer")
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
        case _:
            least, most = schema.get("minLength", 0), schema.get("maxLength", len(WORDS))
            return (WORDS * (1 + least // len(WORDS)))[: max(least, most)]


def _number(schema: Mapping[str, Any], chance: random.Random, *, whole: bool) -> int | float:
    """A number within its bounds; where there is only one of them, at most ten away from it."""
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    low = low if low is not None else min(_LOWEST, high - _HIGHEST if high is not None else _LOWEST)
    high = high if high is not None else max(low, _LOWEST) + _HIGHEST
    if not whole:
        return low + (high - low) * (0.05 + 0.9 * chance.random())
    return chance.randint(int(low) + ("exclusiveMinimum" in schema), int(high) - ("exclusiveMaximum" in schema))


def answer_to(module: str, chance: random.Random) -> dict[str, Any]:
    """An answer to a module of an installed package, drawn by chance."""
    return dict(drawn(own_module(module).model_json_schema(), chance))


def askable(name: str) -> None:
    """Make sure that models can be asked what a module of an installed package asks.

    Raises:
        InputError: it cannot be loaded, or its fields are none that a model can be asked for.
    """
    module = own_module(name)
    try:
        longest(module)
        answer_to(name, random.Random(name))
    except Exception as error:  # of what others have declared, anything may be wrong
        raise InputError(
            f"the fields of {module.__name__} cannot be asked for: {type(error).__name__}: {error}",
            where=f"entry point persimchat.module {name}",
            remedy="Let the fields be numbers, texts, choices, or lists of these.",
        ) from error
