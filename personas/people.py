"""Participants: names, paths and written-out personas become personas, and people who take part get theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from persimchat.personas.catalogue import find_persona, shipped
from persimchat.personas.files import persona_in
from persimchat.personas.names import full_name, refuse_second
from persimchat.state.document import Document, Location
from persimchat.state.errors import InputError
from persimchat.state.names import matching
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import quoted
from persimchat.state.scenario import Scenario
from persimchat.state.validation_errors import input_error, refuse_unknown

_WHERE = "option --human"
_SHOWN = 60


def with_people(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario with people in it.

    Args:
        scenario: with all its participants.
        names: a name that means one of the participants (in full or in part, in any case, with or without diacritics)
            makes that participant a person, who keeps persona and relationships; any other name joins at the end of the
            list.

    Raises:
        InputError: a name means several participants, is given twice, or is invalid; or no agent would be left.
    """
    if not names:
        return scenario
    known = [persona.name for persona in scenario.participants]
    taken: list[str] = []
    joining: list[Persona] = []
    for wanted in (" ".join(name.split()) for name in names):
        if matching(wanted, known):
            name = full_name(wanted, known, what="participant", where=_WHERE)
        elif scenario.story is not None:
            what = f"{quoted(wanted, _SHOWN)} has no part in the story"
            raise InputError(what, where=_WHERE, remedy=f"Take a character's part: {', '.join(known)}.")
        else:
            joining.append(_newcomer(wanted))
            name = joining[-1].name
        if any(name == other or folded(name) == folded(other) != "" for other in taken):
            raise InputError(f"{quoted(name, _SHOWN)} is named twice", where=_WHERE, remedy="Name each person once.")
        taken.append(name)
    participants = [p.model_copy(update={"human": True}) if p.name in taken else p for p in scenario.participants]
    participants += joining
    refuse_nobody_but_people(participants, where=_WHERE)
    data = {**dict(scenario), "participants": participants, "settings": _without_models(scenario.settings, taken)}
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise input_error(error, Scenario, Document(data), where=_WHERE) from None


def refuse_nobody_but_people(participants: Sequence[Persona], *, where: str) -> None:
    """Refuse a conversation without agents.

    Raises:
        InputError: all participants are people.
    """
    if all(persona.human for persona in participants):
        raise InputError(
            "all participants are people",
            where=where,
            remedy="Leave at least one of them to a model, or add an agent.",
        )


def _newcomer(name: str) -> Persona:
    given = {"name": name, "human": True}
    try:
        return Persona.model_validate(given)
    except ValidationError as error:
        raise input_error(error, Persona, Document(given), where=_WHERE) from None


def _without_models(settings: dict[str, Any], people: Sequence[str]) -> dict[str, Any]:
    """A scenario's settings without models for people."""
    models = settings.get("agent_models")
    if not models:
        return settings
    kept = {name: model for name, model in models.items() if name not in people}
    rest = {key: value for key, value in settings.items() if key != "agent_models"}
    return {**rest, "agent_models": kept} if kept else rest


_ENTRY = ("persona", "model", "social_goals", "memories", "human")
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
    own = {key: entry[key] for key in ("social_goals", "memories", "human") if key in entry}
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
