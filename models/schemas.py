"""An answer's JSON schema, as servers take it and as prompts show it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel

_UNSENT: Final = frozenset({"default", "minLength", "maxLength"})
"""Keywords that OpenAI's strict mode does not take; the answer is validated here all the same."""


@cache
def wire_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The schema for a server: no references, every property required and no others, no keyword it would refuse.

    The title stays at the top, where LangChain takes the name of the tool or format from it.
    """
    whole = _resolved(schema)
    return {"title": schema.__name__, "description": whole.get("description", schema.__name__), **_strict(whole)}


@cache
def prompt_schema(schema: type[BaseModel]) -> str:
    """The schema as one line of JSON for a prompt, with all its limits."""
    return json.dumps(_untitled(_resolved(schema)), ensure_ascii=False)


def _resolved(schema: type[BaseModel]) -> dict[str, Any]:
    whole = schema.model_json_schema()
    resolved: dict[str, Any] = dereference_refs(whole)
    resolved.pop("$defs", None)
    return resolved


def _untitled(node: Any, *, names: bool = False) -> Any:
    """Without titles; `names` says that the keys are the names of properties, one of which may be "title"."""
    if isinstance(node, dict):
        return {k: _untitled(v, names=k == "properties") for k, v in node.items() if names or k != "title"}
    return [_untitled(item) for item in node] if isinstance(node, list) else node


def _strict(node: Any, *, names: bool = False) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {k: _strict(v) for k, v in node.items()}
    result = {k: _strict(v, names=k == "properties") for k, v in node.items() if k != "title" and k not in _UNSENT}
    if "properties" in result:
        result |= {"required": list(result["properties"]), "additionalProperties": False}
    return result
