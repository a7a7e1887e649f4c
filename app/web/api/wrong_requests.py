"""Words for what is wrong with a request: the field, what it should be, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from persimchat.state.plain_text import quoted

_SHOWN: Final = 60
"""The most characters of a wrong value that are shown."""

_KINDS: Final[Mapping[str, str]] = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object with fields",
    "model": "an object with fields",
}
"""What is expected, by the beginning of the type of pydantic's error."""

_WORDED: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "greater_than_equal": lambda limits: f"{limits['ge']:g} or more",
    "greater_than": lambda limits: f"more than {limits['gt']:g}",
    "less_than_equal": lambda limits: f"{limits['le']:g} or less",
    "less_than": lambda limits: f"less than {limits['lt']:g}",
    "finite_number": lambda _: "a finite number",
    "literal_error": lambda limits: str(limits["expected"]),
    "union_tag_invalid": lambda limits: f"one of {limits['expected_tags']}",
}
"""What is expected of a value, by the type of pydantic's error."""


@dataclass(frozen=True)
class Wrong:
    """What is wrong with a request.

    Attributes:
        part: of the request: "body", "query" or "path".
        field: in it, as a path; empty for all of it.
        what: is wrong, with the name of the field.
    """

    part: str
    field: str
    what: str

    @property
    def where(self) -> str:
        """The place."""
        return f"{self.part}.{self.field}" if self.field else self.part


def wrong_in(errors: Sequence[Any], body: Any) -> Wrong:
    """The most telling of pydantic's errors in words.

    Args:
        errors: at least one.
        body: of the request; None if it has none.
    """
    errors = [_of_member(one) for one in errors]
    first = max(errors, key=lambda one: len(one["loc"]))  # the member of a union that came furthest
    part, field = str(first["loc"][0]), _field(first, body)
    here = [one for one in errors if _field(one, body) == field]  # of a union, each member has an error
    return Wrong(part, field, _what(field or ("the body" if part == "body" else part), first, here))


def _of_member(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error; that of a union which a field selects from is one of that field."""
    given = dict(error)
    if error["type"] in ("union_tag_not_found", "union_tag_invalid"):
        given["loc"] = (*error["loc"], error["ctx"]["discriminator"].strip("'"))
        given["input"] = error["ctx"].get("tag")
        given["type"] = "missing" if error["type"] == "union_tag_not_found" else error["type"]
    return given


def _what(name: str, error: Mapping[str, Any], here: Iterable[Mapping[str, Any]]) -> str:
    kind, limits = str(error["type"]), error.get("ctx", {})
    things = "characters" if kind.startswith("string") else "items"
    match kind:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            return f"there is no field {name}"
        case "value_error":
            return str(error["msg"]).removeprefix("Value error, ").rstrip(".")
        case "string_too_short" | "too_short" if limits["min_length"] == 1:
            return f"{name} is empty"
        case "string_too_short" | "too_short":
            return f"{name} has fewer than {limits['min_length']} {things}"
        case "string_too_long" | "too_long":
            return f"{name} has more than {limits['max_length']:,} {things}"
    wanted = " or ".join(dict.fromkeys(filter(None, map(_expected, (error, *here)))))
    return f"{name} should be {wanted}, not {_shown(error['input'])}" if wanted else f"{name}: {error['msg']}"


def _expected(error: Mapping[str, Any]) -> str:
    """What a value should be; empty if there are no words for it."""
    kind = str(error["type"])
    worded = _WORDED.get(kind)
    return worded(error.get("ctx", {})) if worded is not None else _KINDS.get(kind.split("_", 1)[0], "")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return quoted(value, _SHOWN)


def _field(error: Mapping[str, Any], body: Any) -> str:
    """The field that is wrong or missing, without the names of a union's members."""
    part, *location = error["loc"]
    if part != "body":
        return ".".join(map(str, location))
    found, inside = [], body
    for place, key in enumerate(location, start=1):
        listed = isinstance(inside, list) and isinstance(key, int) and key < len(inside)
        if listed or (isinstance(inside, Mapping) and key in inside):
            inside = inside[key]
        elif not (error["type"] == "missing" and place == len(location)):
            continue
        found.append(str(key))
    return ".".join(found)
