"""Answers to the modules of installed packages: drawn by chance from the answer's JSON schema, and always valid."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

WORDS: Final = "Drawn by chance, as the offline model does not understand this question."
_LOWEST, _HIGHEST = 0, 10


def drawn(schema: Mapping[str, Any], chance: random.Random, whole: Mapping[str, Any] | None = None) -> Any:
    """A value that fits a schema.

    Args:
        schema: a JSON schema; patterns and formats of texts are not heeded.
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
    if "anyOf" in schema:
        return drawn(schema["anyOf"][0], chance, whole)
    match schema.get("type"):
        case "object":
            return {name: drawn(of, chance, whole) for name, of in schema.get("properties", {}).items()}
        case "array":
            return [drawn(schema["items"], chance, whole) for _ in range(schema.get("minItems", 1))]
        case "integer" | "number":
            low = schema.get("minimum", _LOWEST)
            return chance.randint(low, max(low, schema.get("maximum", _HIGHEST)))
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
        case _:
            return WORDS[: schema.get("maxLength", len(WORDS))]
