"""A scenario's participants: names, paths and written-out personas become personas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from persimchat.personas.catalogue import find_persona, shipped
from persimchat.personas.files import persona_in
from persimchat.personas.names import refuse_second
from persimchat.personas.people import refuse_nobody_but_people
from persimchat.state.document import Document, Location
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.validation_errors import input_error, refuse_unknown

_ENTRY = ("persona", "model", "social_goals", "human")
"""Keys of a participant who is named, not written out."""


def participants_in(document: Document, base: Path) -> tuple[list[Persona], dict[str, str]]:
    """The participants of a scenario, and the models of those that have one of their own, by full name.

    Args:
        document: the scenario.
        base: the folder from which paths count.

    Raises:
        InputError: there are fewer than two, two share a name, one is not right, or all are people.
    """
    entries = document.data.get("participants")
    where = document.where(("participants",))
    if not isinstance(entries, list):
        what = "participants are missing" if entries is None else "participants are not a list"
        raise InputError(what, where=where, remedy="List at least two names of personas, files, or personas.")
    if len(entries) < 2:
        remedy = f"List at least two, for example {' and '.join(p.name for p in shipped()[:2])}."
        raise InputError(f"a conversation needs two participants, not {len(entries)}", where=where, remedy=remedy)
    personas: list[Persona] = []
    models: dict[str, str] = {}
    for index, entry in enumerate(entries):
        at: Location = ("participants", index)
        persona, model = _participant(document, at, entry, base)
        refuse_second(persona.name, [other.name for other in personas], where=document.where(at))
        personas.append(persona)
        if model is not None:
            models[persona.name] = model
    refuse_nobody_but_people(personas, where=where)
    return personas, models


def _participant(document: Document, at: Location, entry: Any, base: Path) -> tuple[Persona, str | None]:
    where = document.where(at)
    if isinstance(entry, Persona):
        return entry, None
    if isinstance(entry, str):
        return find_persona(entry, base, where=where), None
    if not isinstance(entry, Mapping):
        what = f"a participant is a name, a path or a persona, not {type(entry).__name__}"
        raise InputError(what, where=where, remedy="Write a name, or lines 'name: …' and 'description: …'.")
    if "persona" not in entry:
        if "model" in entry and entry.get("human") is True:
            raise _model_of_person(document, at, str(entry.get("name", "this participant")))
        return persona_in(document, at, base), None
    refuse_unknown(document, at, entry, _ENTRY)
    for key in ("persona", "model"):
        if key in entry and not isinstance(entry[key], str):
            raise InputError(f"{key} is not text", where=document.where((*at, key)), remedy="Write a name.")
    persona = find_persona(entry["persona"], base, where=document.where((*at, "persona")))
    own = {key: entry[key] for key in ("social_goals", "human") if key in entry}
    if own:
        try:
            persona = Persona.model_validate({**persona.model_dump(), **own})
        except ValidationError as error:
            raise input_error(error, Persona, document, at) from None
    if persona.human and "model" in entry:
        raise _model_of_person(document, at, persona.name)
    return persona, entry.get("model")


def _model_of_person(document: Document, at: Location, name: str) -> InputError:
    return InputError(
        f"{name} is a person, and people have no model",
        where=document.where((*at, "model")),
        remedy="Remove either model or human.",
    )
