"""Turns pydantic's validation errors into an `InputError`: what is wrong, where, which value, and what would be valid.

What would be valid comes from the model's JSON schema, so that only the field states its bounds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .document import Document, Location, dotted
from .errors import InputError, suggestion
from .plain_text import quoted

_MAX_SHOWN = 60
_SUBJECT = re.compile(r"^(?:Input|String|List|Dictionary|Value|Tuple|Set|Number|Data) should\b")


def input_error(
    error: ValidationError, model: type[BaseModel], document: Document, at: Location = (), *, where: str = ""
) -> InputError:
    """The error that says what a validator refused; of several problems, the most telling.

    Args:
        error: what pydantic raised.
        model: the model that refused.
        document: the data, for the place.
        at: where in the document the refused data begin.
        where: the place in words, if the document does not know it.
    """
    # A default that depends on a wrong field is not an error of its own.
    found_wrong = error.errors(include_url=False, include_context=False)
    details = [e for e in found_wrong if e["type"] != "default_factory_not_called"] or found_wrong
    data = _value_at(document.data, at)
    places = [(_location(e["loc"], data, missing=e["type"] == "missing"), e) for e in details]
    place, first = max(places, key=lambda pair: _telling(pair[0], pair[1], places[0][0]))
    what, remedy = _worded(place, first, model)
    if not place and (found := re.match(r"Value error, (\w+)=", first["msg"])) and found[1] in data:
        place = (found[1],)  # a model's own check says which field it is about
    more = len({p[:1] for p, _ in places}) - 1
    what += f", and {more} more field{'s are' if more > 1 else ' is'} wrong" if more else ""
    return InputError(what, where=where or document.where((*at, *place)), remedy=remedy)


def refuse_unknown(document: Document, at: Location, given: Mapping[Any, Any], known: Sequence[str]) -> None:
    """Refuse a mapping's first unknown key.

    Args:
        document: the data, for the place.
        at: where in it the mapping stands.
        given: the mapping.
        known: the keys that it may have.

    Raises:
        InputError: there is another key; the nearest known one is suggested.
    """
    for key in given:
        if key not in known:
            raise InputError(
                f"unknown field {key!r}", where=document.where((*at, key)), remedy=suggestion(str(key), known)
            )


def expected(model: type[BaseModel], location: Location) -> str:
    """What a field takes, in words: "a whole number from 1 to 100000"."""
    return _phrase(_schema_at(model, location), _schema(model).get("$defs", {}))


def valid_fields(model: type[BaseModel], location: Location = ()) -> list[str]:
    """The names of the fields that a mapping inside a model takes; empty if it takes any key."""
    schema = _schema_at(model, location)
    return list(schema.get("properties") or schema.get("propertyNames", {}).get("enum", []))


def _telling(place: Location, error: ErrorDetails, first: Location) -> tuple[bool, int]:
    """Sort key: first unknown keys (a misspelt field is also a missing one), then the innermost error of a field."""
    return error["type"] == "extra_forbidden", len(place) if place[:1] == first[:1] else -1


def _worded(place: Location, error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """What is wrong, and the remedy."""
    name = dotted(place) or "the data"
    if error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",):
        return f"unknown field {str(place[-1])!r}", suggestion(str(place[-1]), valid_fields(model, place[:-1]))
    schema = _schema_at(model, place)
    phrase = _phrase(schema, _schema(model).get("$defs", {}))
    hint = f" ({schema['description']})" if schema.get("description") else ""
    if error["type"] == "missing":
        return f"{name} is missing", f"Give {phrase}{hint}."
    if error["type"] == "value_error":
        what, _, remedy = re.sub(r"; (\w)", lambda m: f". {m[1].upper()}", error["msg"][13:]).partition(". ")
        given = remedy if remedy.endswith("?") else f"{remedy.rstrip('.')}."
        return what, given if remedy else f"Give {phrase}{hint}."
    message = _SUBJECT.sub(f"{name} should", error["msg"])
    if not message.startswith(name):
        message = f"{name}: {message}"
    return f"{message}, not {quoted(error['input'], _MAX_SHOWN)}", f"Give {phrase}{hint}."


def _value_at(data: Any, location: Location) -> Any:
    for part in location:
        data = data[part]
    return data


def _location(loc: tuple[str | int, ...], data: Any, *, missing: bool) -> Location:
    """Pydantic's location without the names of a union's branches, which are not part of the data."""
    found: list[str | int] = []
    for n, part in enumerate(loc):
        is_key = isinstance(data, Mapping) and part in data
        is_index = isinstance(data, list | tuple) and isinstance(part, int) and part < len(data)
        if is_key or is_index:
            data = data[part]
        elif not (missing and n == len(loc) - 1):
            continue
        found.append(part)
    return tuple(found)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _schema_at(model: type[BaseModel], location: Location) -> dict[str, Any]:
    """The part of a model's JSON schema that describes a location; empty if there is none."""
    root = _schema(model)
    found = _descend(root, location, root.get("$defs", {}))
    return found or {}


def _descend(schema: dict[str, Any], location: Location, definitions: dict[str, Any]) -> dict[str, Any] | None:
    schema = _resolved(schema, definitions)
    if not location:
        return schema
    part, rest = location[0], location[1:]
    options = schema.get("anyOf", [schema])
    for option in (_resolved(o, definitions) for o in options):
        inside: Any = None
        if isinstance(part, int) and option.get("type") == "array":
            listed = option.get("prefixItems", [])
            inside = listed[part] if part < len(listed) else option.get("items")
        elif option.get("type") == "object":
            inside = option.get("properties", {}).get(part, option.get("additionalProperties"))
        if isinstance(inside, dict):
            return _descend(inside, rest, definitions)
    return None


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if not reference:
        return schema
    return {**definitions[reference.rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k != "$ref"}}


def _phrase(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    schema = _resolved(schema, definitions)
    if "anyOf" in schema:
        options = [_phrase(o, definitions) for o in schema["anyOf"] if o.get("type") != "null"]
        return " or ".join(dict.fromkeys(options))
    if "enum" in schema:
        return f"one of {', '.join(str(value) for value in schema['enum'])}"
    if "const" in schema:
        return str(schema["const"])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return ("a whole number" if kind == "integer" else "a number") + _bounds(schema)
    if kind == "boolean":
        return "true or false"
    if kind == "string":
        longest = schema.get("maxLength")
        return f"text of 1 to {longest} characters" if longest and schema.get("minLength") else "text"
    if kind == "array" and "prefixItems" in schema:
        return f"a list of {len(schema['prefixItems'])} items"
    if kind == "array":
        bounds = [f"at least {schema['minItems']}"] if schema.get("minItems") else []
        bounds += [f"at most {schema['maxItems']}"] if schema.get("maxItems") else []
        items = _resolved(schema.get("items", {}), definitions)
        title = items.get("title", "") if "properties" in items else ""
        return " ".join(f"a list of {' and '.join(bounds)} {title} items".split())
    if kind == "object" and "properties" in schema:
        return f"a mapping with the fields {', '.join(schema['properties'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"a mapping of names, each to {_phrase(schema['additionalProperties'], definitions)}"
    return "something else"


def _bounds(schema: dict[str, Any]) -> str:
    """The range in words; empty if there is none."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        above = f" above {schema['exclusiveMinimum']}"
        return above if high is None else f"{above} and up to {high}"
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of at least {low}" if low is not None else "" if high is None else f" of at most {high}"
