"""Scenarios: from a file, or from a topic and participants given in code; both are checked alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from persimchat.personas.catalogue import shipped
from persimchat.personas.names import full_name
from persimchat.personas.people import participants_in
from persimchat.personas.story import story_in
from persimchat.personas.ties import by_full_name, relationships_in
from persimchat.state.configuration import current_names
from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError
from persimchat.state.guide import Guide
from persimchat.state.normalise import is_visible
from persimchat.state.persona import Persona
from persimchat.state.relationship import Relationship
from persimchat.state.scenario import Scenario
from persimchat.state.settings import PART, Settings
from persimchat.state.story import Story
from persimchat.state.validation_errors import input_error, refuse_unknown, valid_fields

DEFAULT_NUMBER: Final = 4
"""The default number of shipped personas that talk."""


def load_scenario(path: Path | str, *, topic: str | None = None) -> Scenario:
    """Read a scenario file.

    Args:
        path: a YAML or JSON file with the fields of `Scenario`. A participant is the name of a shipped persona, the
            path of a persona file (from the scenario's folder), a persona written out, or
            `{persona: <name or path>, model: …, social_goals: […]}`, goals in place of the persona's own. With
            `human: true` a person takes the part; `{name: Petr, human: true}` is enough for one.
            Relationships, social goals and agent_models may use first names.
        topic: what the conversation is about, in place of what the file says.

    Raises:
        InputError: naming file, line, field and remedy.
    """
    path = Path(path)
    document = read_document(path)
    if topic is not None:
        document = Document({**document.data, "topic": topic}, document.source, document.lines)
    return _scenario(document, path.parent)


def make_scenario(
    topic: str,
    participants: Iterable[str | Mapping[str, Any] | Persona],
    *,
    relationships: Iterable[Mapping[str, Any] | Relationship] = (),
    social_goals: Mapping[str, Sequence[str]] | None = None,
    rules: Iterable[str] = (),
    settings: Mapping[str, Any] | None = None,
    story: Mapping[str, Any] | Story | None = None,
    guide: Mapping[str, Any] | Guide | None = None,
    base: Path | None = None,
) -> Scenario:
    """Make a scenario from the arguments of code, a command line or a form.

    Args:
        topic: what the conversation is about.
        participants: as in a scenario file; also `Persona` objects.
        relationships: as in a scenario file; also `Relationship` objects.
        social_goals: participant's name: goals.
        rules: rules that all participants know.
        settings: settings that the scenario asks for.
        story: as in a scenario file; also a `Story`.
        guide: as in a scenario file; also a `Guide`.
        base: the folder from which paths count; the current one where it is None.

    Raises:
        InputError: naming field and remedy.
    """
    data: dict[str, Any] = {
        "topic": topic,
        "participants": participants if isinstance(participants, str | Mapping) else list(participants),
        "relationships": [r.model_dump(by_alias=True) if isinstance(r, Relationship) else r for r in relationships],
        "social_goals": dict(social_goals or {}),
        "rules": rules if isinstance(rules, str) else list(rules),
        "settings": dict(settings or {}),
        **({"story": story.model_dump(by_alias=True) if isinstance(story, Story) else story} if story else {}),
        **({"guide": guide.model_dump() if isinstance(guide, Guide) else guide} if guide else {}),
    }
    return _scenario(Document(data), base or Path())


@cache
def load_story() -> Scenario:
    """The small story that comes with the package. Blocks at first."""
    with as_file(files("persimchat.personas") / "stories" / "tiny.yaml") as path:
        return load_scenario(path)


def default_participants(number: int = DEFAULT_NUMBER) -> list[Persona]:
    """The first shipped personas: the default participants.

    Raises:
        InputError: the number is below one, or above the number of shipped personas.
    """
    everybody = shipped()
    if not 1 <= number <= len(everybody):
        raise InputError(
            f"{number} participants were requested, but {len(everybody)} personas are shipped",
            where="field participants",
            remedy=f"Ask for 2 to {len(everybody)}, or name personas of your own.",
        )
    return everybody[:number]


def _scenario(document: Document, base: Path) -> Scenario:
    data = document.data
    refuse_unknown(document, (), data, valid_fields(Scenario))
    topic = data.get("topic")
    if topic is None or (isinstance(topic, str) and not is_visible(topic)):
        what = "topic is empty" if "topic" in data else "topic is missing"
        raise InputError(what, where=document.where(("topic",)), remedy="Say what the conversation is about.")
    personas, models = participants_in(document, base)
    names = [persona.name for persona in personas]
    settings = _settings(document, personas, models)
    goals = by_full_name(document, ("social_goals",), names)
    story = story_in(document, personas)
    if story is not None:
        settings = _of_story(document, settings, Story.model_validate(story))
    resolved = {
        **{key: value for key, value in data.items() if value is not None},
        "participants": personas,
        "relationships": relationships_in(document, names),
        "social_goals": goals,
        "settings": settings,
        **({"story": story} if story is not None else {}),
        **_guide(document, names),
    }
    try:
        return Scenario.model_validate(resolved)
    except ValidationError as error:
        renamed: dict[Location, Location] = {
            ("social_goals", key): ("social_goals", name)
            for key, name in zip(data.get("social_goals") or {}, goals, strict=True)
        }
        lines = {(*renamed.get(at[:2], at[:2]), *at[2:]): line for at, line in document.lines.items()}
        raise input_error(error, Scenario, Document(resolved, document.source, lines)) from None


def _guide(document: Document, names: Sequence[str]) -> dict[str, Any]:
    """The section `guide` with its moderator's full name; the whole scenario's check finds what else is wrong."""
    given = document.data.get("guide")
    if not isinstance(given, Mapping) or not isinstance(given.get("moderator"), str):
        return {}
    where = document.where(("guide", "moderator"))
    return {"guide": {**given, "moderator": full_name(given["moderator"], names, what="participant", where=where)}}


def _of_story(document: Document, settings: dict[str, Any], story: Story) -> dict[str, Any]:
    """The settings of a scenario with a story; without main characters, minds hear and think unless it says more."""
    minds = {} if story.mains else {"cognition": "full"}
    try:
        Settings.model_validate(found := {"mode": "story", **minds, **settings})
    except ValidationError as error:
        raise input_error(error, Settings, document, ("settings",)) from None
    if found["mode"] != "story":
        where = document.where(("settings", "mode"))
        raise InputError("a scenario with a story is held as one", where=where, remedy="Leave mode or story out.")
    return found


def _settings(document: Document, personas: Sequence[Persona], models: dict[str, str]) -> dict[str, Any]:
    """The scenario's settings, checked, with the participants' own models among them."""
    names = [persona.name for persona in personas]
    given = document.data.get("settings")
    if given is not None and not isinstance(given, Mapping):
        where = document.where(("settings",))
        raise InputError("settings are not a mapping", where=where, remedy="Write lines 'name: value' under it.")
    if given:
        document = current_names(document, "settings")
    settings = dict(document.data.get("settings") or {})
    if settings:
        try:
            Settings.model_validate(settings, context=PART)
        except ValidationError as error:
            raise input_error(error, Settings, document, ("settings",)) from None
    named = by_full_name(document, ("settings", "agent_models"), names)
    people = {persona.name for persona in personas if persona.human}
    for key, name in zip(settings.get("agent_models") or {}, named, strict=True):
        if name in people:
            where = document.where(("settings", "agent_models", key))
            raise InputError(f"{name} is a person, and people have no model", where=where, remedy="Remove it.")
    agent_models = {**named, **models}
    return {**settings, "agent_models": agent_models} if agent_models else settings
