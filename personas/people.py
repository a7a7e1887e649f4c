"""People among a scenario's participants: some take over a persona's part, others join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from persimchat.personas.names import full_name
from persimchat.state.document import Document
from persimchat.state.errors import InputError
from persimchat.state.names import matching
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import quoted
from persimchat.state.scenario import Scenario
from persimchat.state.validation_errors import input_error

_WHERE = "option --human"
_SHOWN = 60


def with_people(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """The scenario with people in it.

    Args:
        scenario: with all its participants.
        names: a name that means one of the participants (in full or in part, whatever its case and diacritics) makes
            that one a person, who keeps persona and relationships; any other name joins, at the end of the list.

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
