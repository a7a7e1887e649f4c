"""Where in a foreign record a field is, and its value as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from persimchat.state.document import Location
from persimchat.state.normalise import folded
from persimchat.state.plain_text import one_line


def find(data: Mapping[str, Any], path: str) -> tuple[Location, Any] | None:
    """The first field with a value that a path means, with its place; None if there is none.

    Args:
        data: the record.
        path: a field's name; or names joined by dots, from the outer to the inner; or several such, joined by bars. A
            field whose own name has a dot or bar is found by its whole name. Case, diacritics, hyphens and underscores
            make no difference.
    """
    for way in (path, *path.split("|")):
        location = place_of(data, way.strip())
        if location is not None:
            value = value_at(data, location)
            if not is_empty(value):
                return location, value
    return None


def place_of(data: Any, path: str) -> Location | None:
    """The place of a field, with or without a value; None if there is none of this name."""
    key = _key(data, path)
    if key is not None:
        return (key,)
    for at in (n for n, letter in enumerate(path) if letter == "."):
        key = _key(data, path[:at])
        inner = None if key is None else place_of(data[key], path[at + 1 :])
        if key is not None and inner is not None:
            return (key, *inner)
    return None


def _key(data: Any, name: str) -> str | int | None:
    """The key that a name means in a mapping, or the index in a list."""
    if isinstance(data, list) and name.isdecimal() and int(name) < len(data):
        return int(name)
    if not isinstance(data, Mapping):
        return None
    if name in data:
        return name
    alike = [str(key) for key in data if folded(str(key)) == folded(name)] if folded(name) else []
    return alike[0] if len(alike) == 1 else None


def value_at(data: Any, location: Location) -> Any:
    """The value at a place."""
    for part in location:
        data = data[part]
    return data


def is_empty(value: Any) -> bool:
    """Whether a value is empty: none, blank text, or a list or mapping of empty values."""
    if isinstance(value, Mapping):
        return all(is_empty(item) for item in value.values())
    if isinstance(value, list):
        return all(is_empty(item) for item in value)
    return value is None or (isinstance(value, str) and not one_line(value))


def items_of(value: Any, split: str = "") -> list[str]:
    """A value as texts: a list's entries, a mapping's as "name: value", a text's parts between `split`."""
    if isinstance(value, list):
        return [text for item in value if (text := text_of(item))]
    if isinstance(value, Mapping):
        return [f"{one_line(str(k))}: {text}" for k, item in value.items() if (text := text_of(item))]
    text = text_of(value)
    return [part for piece in (text.split(split) if split else [text]) if (part := piece.strip())]


def text_of(value: Any, join: str = "") -> str:
    """A value as one line of text; entries stand with `join` between them, else a comma, or a space after sentences."""
    if isinstance(value, list | Mapping):
        items = items_of(value)
        sentences = all(item.endswith((".", "!", "?")) for item in items)
        return (join or (" " if sentences else "; " if isinstance(value, Mapping) else ", ")).join(items)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else one_line(str(value))


def unused(data: Any, used: set[Location], at: Location = ()) -> Iterator[tuple[Location, Any]]:
    """The unused fields of a record that have a value; of nested ones, the outermost that is wholly unused."""
    if at in used or is_empty(data):
        return
    if at and not any(location[: len(at)] == at for location in used):
        yield at, data
        return
    inside = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield from unused(value, used, (*at, key))
