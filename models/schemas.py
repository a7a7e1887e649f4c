"""An answer's JSON schema, in the dialect of a server and in the form for prompts."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel

from ..state.minds.judgement import without_keywords
from .profiles import ALL_BOUNDS, KEYWORDS, Bounds

LONGEST: Final = 2000
"""The default of the greatest `maxLength` that is sent."""

_KIND: Final = {"integer": Bounds.NUMBERS, "number": Bounds.NUMBERS, "array": Bounds.ARRAYS, "string": Bounds.STRINGS}
_UNSENT: Final = frozenset({"title", "default", *(word for words in KEYWORDS.values() for word in words)})
"""Keywords that are not copied; bounds are added again in the server's dialect."""
_UNIT: Final = {Bounds.NUMBERS: "", Bounds.ARRAYS: " entries", Bounds.STRINGS: " characters"}


@cache
def wire_schema(
    schema: type[BaseModel], bounds: frozenset[Bounds] = ALL_BOUNDS, longest: int = LONGEST
) -> dict[str, Any]:
    """The schema for a server: no references, every property required and no others, no keyword that it would refuse.

    The title stays at the top, where LangChain reads the name of the tool or format. The description states in words
    the bounds that are not sent; answers are validated against all bounds.

    Args:
        schema: the answer's schema.
        bounds: kinds of limits that the server accepts.
        longest: the greatest `maxLength` that it accepts.
    """
    whole = _resolved(schema)
    sent: dict[str, Any] = _sent(whole, bounds, longest)
    return {"title": schema.__name__, "description": whole.get("description", schema.__name__), **sent}


@cache
def prompt_schema(schema: type[BaseModel]) -> str:
    """The schema as one line of JSON for a prompt, with all its limits."""
    return json.dumps(without_keywords(_resolved(schema), ("title",)), ensure_ascii=False)


def _resolved(schema: type[BaseModel]) -> dict[str, Any]:
    whole = schema.model_json_schema()
    resolved: dict[str, Any] = dereference_refs(whole)
    resolved.pop("$defs", None)
    return resolved


def _sent(node: Any, bounds: frozenset[Bounds], longest: int, *, names: bool = False) -> Any:
    if isinstance(node, list):
        return [_sent(item, bounds, longest) for item in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {k: _sent(v, bounds, longest) for k, v in node.items()}
    result = {k: _sent(v, bounds, longest, names=k == "properties") for k, v in node.items() if k not in _UNSENT}
    if "properties" in result:
        result |= {"required": list(result["properties"]), "additionalProperties": False}
    kind = _KIND.get(str(node.get("type")))
    given = {word: node[word] for word in KEYWORDS[kind] if word in node} if kind else {}
    if kind is None or not given:
        return result
    if kind in bounds and given.get("maxLength", 0) <= longest:
        return result | given
    return result | {"description": " ".join(filter(None, [result.get("description"), f"({_in_words(kind, given)})"]))}


def _in_words(kind: Bounds, given: dict[str, Any]) -> str:
    """Limits as a model reads them: "0 to 10", "at most 200 characters"."""
    least, most = (given.get(word) for word in KEYWORDS[kind])
    if kind is Bounds.STRINGS and least == 1:
        least = None if most is not None else 1
    if least is None:
        return f"at most {most}{_UNIT[kind]}"
    if most is None:
        return f"at least {least}{_UNIT[kind]}"
    return f"exactly {least}{_UNIT[kind]}" if least == most else f"{least} to {most}{_UNIT[kind]}"
