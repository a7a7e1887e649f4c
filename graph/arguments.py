"""Validates the arguments of `conversation_node` and `as_tool`.

Type checkers find the same errors earlier, but not every caller uses one. Unchecked, a text in place of a list would
become a list of letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from persimchat.graph.context import checked
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


def settings_of(given: object) -> Settings:
    """The settings of an argument `settings`, which may be `Settings` or a mapping.

    Raises:
        InputError: the argument is neither, or its settings are invalid.
    """
    if isinstance(given, Settings):
        return given
    if isinstance(given, Mapping):
        return checked(given, "argument settings")
    raise wrong_type("settings", given, "Give Settings(max_messages=8), for example.")


def listed(name: str, given: object) -> list[Any]:
    """The items of an argument as a list.

    Args:
        name: the argument's name.
        given: its value.

    Raises:
        InputError: the value is a text, a mapping, or not iterable.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise wrong_type(name, given, "Give a list.")
    return list(given)


def mapped(name: str, given: object) -> dict[str, Any]:
    """The argument as a dict.

    Args:
        name: the argument's name.
        given: its value.

    Raises:
        InputError: the value is not a mapping.
    """
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, "Give a mapping, {…: …}.")
    return dict(given)


def wrong_type(name: str, given: object, remedy: str) -> InputError:
    """The error for an argument of a wrong type.

    Args:
        name: the argument's name.
        given: its value.
        remedy: what to give instead, a sentence.
    """
    return InputError(f"this cannot be of type {type(given).__name__}", where=f"argument {name}", remedy=remedy)
