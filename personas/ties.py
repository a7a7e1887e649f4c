"""The parts of a scenario that name participants: relationships, goals, models. First names become full names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from pydantic import ValidationError

from persimchat.personas.names import full_name
from persimchat.state.document import Document, Location
from persimchat.state.errors import InputError
from persimchat.state.relationship import ONE_SIDED, Relationship
from persimchat.state.validation_errors import input_error


def by_full_name(document: Document, at: Location, names: list[str]) -> dict[str, Any]:
    """A mapping from participants, with their full names as keys; empty if there is none.

    Args:
        document: the scenario.
        at: where in it the mapping stands.
        names: the participants' full names.

    Raises:
        InputError: it is not a mapping, or has an unknown name, or one participant twice.
    """
    given: Any = document.data
    for part in at:
        given = given.get(part) if isinstance(given, Mapping) else None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        remedy = f"Write lines 'name: …' under it; participants are {', '.join(names)}."
        raise InputError(f"{at[-1]} is not a mapping", where=document.where(at), remedy=remedy)
    found: dict[str, Any] = {}
    for key, value in given.items():
        where = document.where((*at, key))
        name = full_name(str(key), names, what="participant", where=where)
        if name in found:
            raise InputError(f"{name!r} is named twice", where=where, remedy="Put both under one name.")
        found[name] = value
    return found


def relationships_in(document: Document, names: list[str]) -> list[Relationship]:
    """The relationships of a scenario, with full names.

    Args:
        document: the scenario.
        names: the participants' full names.

    Raises:
        InputError: one is invalid, has an unknown name, or a pair that already has a relationship.
    """
    given = document.data.get("relationships") or []
    at: Location = ("relationships",)
    if not isinstance(given, list):
        remedy = "Write a list of {from: …, to: …, type: …}."
        raise InputError("relationships are not a list", where=document.where(at), remedy=remedy)
    found: list[Relationship] = []
    for index, entry in enumerate(given):
        at = ("relationships", index)
        if not isinstance(entry, Mapping):
            remedy = "Write {from: …, to: …, type: …}."
            raise InputError("a relationship is a mapping", where=document.where(at), remedy=remedy)
        try:
            relationship = Relationship.model_validate({"from" if k == "from_" else k: v for k, v in entry.items()})
        except ValidationError as error:
            raise input_error(error, Relationship, document, at) from None
        sides = {
            side: full_name(name, names, what="participant", where=document.where((*at, side)))
            for side, name in (("from", relationship.from_), ("to", relationship.to))
        }
        relationship = relationship.model_copy(update={"from_": sides["from"], "to": sides["to"]})
        _check_pair(relationship, found, document.where(at))
        found.append(relationship)
    return found


def _check_pair(one: Relationship, others: list[Relationship], where: str) -> None:
    if one.from_ == one.to:
        raise InputError(f"{one.to!r} has a relationship with themselves", where=where, remedy="Name two participants.")
    if _pair(one) in map(_pair, others):
        raise InputError(
            f"a second relationship between {one.from_!r} and {one.to!r}",
            where=where,
            remedy="Keep one, and say more in its note.",
        )


def _pair(one: Relationship) -> Hashable:
    """The pair of a relationship; for a one-sided one, its direction counts."""
    return (one.from_, one.to) if one.type in ONE_SIDED else frozenset((one.from_, one.to))
