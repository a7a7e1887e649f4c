"""What a program gives to the functions that put a conversation into its graphs and agents: refused where it cannot be.

Type checkers see the same before, but not everybody has one, and a text in place of a list would be a list of letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from persimchat.graph.context import checked
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


def settings_of(given: object) -> Settings:
    """What a program gave as the argument `settings`: settings, or a mapping of them.

    Raises:
        InputError: it is neither, or holds what cannot be.
    """
    if isinstance(given, Settings):
        return given
    if isinstance(given, Mapping):
        return checked(given, "argument settings")
    raise wrong_type("settings", given, "Give Settings(max_messages=8), for example.")


def listed(name: str, given: object) -> list[Any]:
    """An argument that is to hold several things, as a list of them.

    Args:
        name: the argument's.
        given: what a program gave as this argument.

    Raises:
        InputError: it is a text, which would be a list of its letters, a mapping, or nothing that can be listed.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise wrong_type(name, given, "Give a list.")
    return list(given)


def mapped(name: str, given: object) -> dict[str, Any]:
    """An argument that is to be a mapping.

    Args:
        name: the argument's.
        given: what a program gave as this argument.

    Raises:
        InputError: it is none.
    """
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, "Give a mapping, {…: …}.")
    return dict(given)


def wrong_type(name: str, given: object, remedy: str) -> InputError:
    """The error that an argument of this type cannot be.

    Args:
        name: the argument's.
        given: what a program gave as this argument.
        remedy: what to give in its place, a sentence.
    """
    return InputError(f"this cannot be of type {type(given).__name__}", where=f"argument {name}", remedy=remedy)
