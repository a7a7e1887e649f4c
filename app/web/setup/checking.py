"""Finds the errors of a draft, by the field that is marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.specs import Spec
from persimchat.memory.embeddings import LEXICAL, MINILM, remote_name
from persimchat.models.naming import parse_model_name
from persimchat.state.document import Document
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.settings import PART, Settings
from persimchat.state.validation_errors import input_error

TOPIC: Final = "topic"
PEOPLE: Final = "participants"
RULES: Final = "rules"
_SOME_TOPIC: Final = "?"
GUIDE: Final = "guide"
_SCENARIO: Final = (TOPIC, PEOPLE, RULES, GUIDE, "relationships")


def problems(draft: Draft) -> dict[str, str]:
    """All errors, in words, by the name of a setting or of a field of the scenario.

    Only the first error of a field is reported. Rules between fields are checked once each field is valid by itself.
    """
    settings = draft.settings_asked()
    found = {} if draft.topic.strip() else {TOPIC: "empty"}
    wrong = {name: told for name, value in settings.items() if (told := _wrong(name, value))}
    if not wrong and (together := _contradiction(settings)):
        wrong[together[0]] = together[1]
    kind = Settings.model_validate({"mode": "story", **({} if wrong else settings)}, context=PART).cognition
    if not wrong and (unfit := minds_refused(draft, kind)) is not None:
        wrong["cognition"] = unfit.sentence
    for seat in draft.seats:
        if seat.model and not seat.persona.human and (told := _refused(seat.model)):
            found[PEOPLE] = f"{seat.name}: {told}"
    if draft.guide is not None and (fault := draft.guide.fault(draft.names)) is not None:
        found[GUIDE] = fault.sentence
    if PEOPLE not in found:
        try:
            replace(draft, topic=draft.topic.strip() or _SOME_TOPIC, settings={}, guide=None).scenario()
        except InputError as error:
            found[_field(error)] = error.sentence
    return {**found, **wrong}


def minds_refused(draft: Draft, cognition: str, people: Sequence[Persona] | None = None) -> InputError | None:
    """Why the minds of a story cannot be of a kind; None if they can, and in conversations that are no story.

    Args:
        draft: the draft.
        cognition: the kind, a valid value of the setting.
        people: who takes part; the participants of the draft if None.
    """
    if draft.story is None:
        return None
    from persimchat.nodes.assembling import refuse_unfit_minds

    participants = [seat.persona for seat in draft.seats] if people is None else people
    settings = Settings.model_validate({"mode": "story", "cognition": cognition}, context=PART)
    try:
        refuse_unfit_minds(draft.story, participants, settings)
    except InputError as error:
        return error
    return None


def offered(draft: Draft, spec: Spec) -> list[str]:
    """The options of a setting that the draft can have."""
    if spec.name != "cognition":
        return list(spec.options)
    if draft.story is None:
        return [kind for kind in spec.options if kind != "strategist"]
    return [kind for kind in spec.options if kind != "fixed" and minds_refused(draft, kind) is None]


def field_of(error: InputError) -> str | None:
    """The field that an error of starting is about; None if it names none."""
    named = re.search(r"\bfield (\w+)|\b(?:setting|argument) (\w+)", error.where)
    name = next((part for part in named.groups() if part), None) if named else None
    if name in Settings.model_fields or name in _SCENARIO:
        return name
    words = re.findall(r"\w+", error.what)
    if re.search(r"\bmodel\b", error.what) and not words[0].startswith("budget"):
        return "embedding" if "embedding" in words else "model"
    return next((word for word in words if word in Settings.model_fields and "_" in word or word == "embedding"), None)


def _wrong(name: str, value: Any) -> str:
    given = {name: value}
    try:
        Settings.model_validate(given, context=PART)
    except ValidationError as error:
        return input_error(error, Settings, Document(given)).sentence
    if name == "embedding" and str(value).strip() in (LEXICAL, MINILM):
        return ""
    if name == "embedding":
        return _refused(str(value), embedding=True)
    if name == "module_models":
        told = {module: _refused(model) for module, model in value.items()}
        return next((f"{name}.{module} {wrong}" for module, wrong in told.items() if wrong), "")
    return _refused(value) if name == "model" and value is not None else ""


def _refused(model: str, *, embedding: bool = False) -> str:
    try:
        (remote_name if embedding else parse_model_name)(model)
    except InputError as error:
        return error.sentence
    return ""


def _contradiction(settings: dict[str, Any]) -> tuple[str, str] | None:
    """For settings that contradict each other: the field that is marked, and the error."""
    if settings.get("answer_format") == "choice" and not settings.get("choices"):
        return "choices", "none"
    try:
        Settings.model_validate(settings)
    except ValidationError as error:
        complaint = input_error(error, Settings, Document(settings))
        names = [word for word in re.findall(r"\w+", complaint.what) if word in Settings.model_fields]
        name = names[0] if names else ""
        return "choices" if name == "answer_format" else name, complaint.sentence
    return None


def _field(error: InputError) -> str:
    named = re.search(r"field (\w+)", error.where)
    if named and named[1] in (TOPIC, RULES):
        return named[1]
    return PEOPLE
