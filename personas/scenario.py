"""Scenarios: participants, relationships, settings and the section `story`, in which first names are enough."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final

from ..state.document import Document, Location, read_document
from ..state.errors import InputError
from ..state.persona import ONE_SIDED, Persona, Relationship
from ..state.plain_text import folded, is_visible, matching, quoted
from ..state.poll import Guide
from ..state.scenario import Scenario
from ..state.settings import PART, Settings
from ..state.stories.story import NOBODY, Character, Story
from ..state.validation_errors import refuse_unknown, valid_fields
from .catalogue import find_persona, persona_in, shipped
from .names import by_full_name, full_name, refuse_second, validated, wrong

_AT: Final[Location] = ("story",)


def story_in(document: Document, personas: Sequence[Persona]) -> dict[str, Any] | None:
    """The section of a scenario with full names, checked; None if there is none.

    Participants that it does not name are other characters without beliefs.

    Args:
        document: the scenario.
        personas: the participants.

    Raises:
        InputError: naming file, line, field and remedy.
    """
    if "story" not in document.data:
        return None
    given = document.data["story"]
    if not isinstance(given, Mapping):
        raise wrong(document, _AT, "story is not a mapping", "Write characters, resources and stages under it.")
    refuse_unknown(document, _AT, given, valid_fields(Story))
    if isinstance(given.get("stages"), list) and not given["stages"]:
        raise wrong(document, (*_AT, "stages"), "the story has no stages", "List one, or leave stages out.")
    names = [persona.name for persona in personas]
    read = _Reading(document, names)
    section = {key: value for key, value in given.items() if value is not None}
    section["characters"] = read.characters()
    section |= read.listed(section, _AT, "resources", lambda resource, at: read.named(resource, at, "owner"))
    section |= read.listed(section, _AT, "stages", read.stage)
    if isinstance(section.get("settlement"), Mapping):
        section["settlement"] = read.settlement(section["settlement"])
    lines = {read.renamed(at): line for at, line in document.lines.items()}
    resolved = Document({**document.data, "story": section}, document.source, lines)
    story = validated(Story, section, resolved, _AT)
    for at, what, remedy in story.problems(names):
        raise wrong(resolved, (*_AT, *at), what, remedy)
    return section


class _Reading:
    """Turns first names into full names, and remembers the keys that changed."""

    def __init__(self, document: Document, names: Sequence[str]) -> None:
        self._document, self._names = document, list(names)
        self._keys: dict[Location, Location] = {}

    def characters(self) -> dict[str, Any]:
        """All participants' parts, in order of listing."""
        at: Location = (*_AT, "characters")
        given = by_full_name(self._document, at, self._names)
        written = self._document.data["story"].get("characters") or {}
        self._keys = {(*at, key): (*at, name) for key, name in zip(written, given, strict=True)}
        found = zip(written, given.items(), strict=True)
        parts = {name: self._character(value, (*at, key)) for key, (name, value) in found}
        return {name: parts.get(name, {}) for name in self._names}

    def _character(self, given: Any, at: Location) -> Any:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise wrong(self._document, at, "a character is not a mapping", "Write main, known_as … under it.")
        refuse_unknown(self._document, at, given, valid_fields(Character))
        found = self.named(given, at, "supports")
        found |= self.listed(found, at, "beliefs", lambda belief, place: self.named(belief, place, "for"))
        if isinstance(found.get("closeness"), Mapping):
            found["closeness"] = by_full_name(self._document, (*at, "closeness"), self._names)
        return found

    def stage(self, given: Any, at: Location) -> Any:
        """A stage whose groups have full names. Anything else stays unchanged."""
        split = given.get("split") if isinstance(given, Mapping) else None
        groups = split.get("groups") if isinstance(split, Mapping) else None
        if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
            return given
        at = (*at, "split", "groups")
        named = [[self.name(one, (*at, n, m)) for m, one in enumerate(group)] for n, group in enumerate(groups)]
        return {**given, "split": {**(split or {}), "groups": named}}

    def settlement(self, given: Mapping[str, Any]) -> Any:
        """The section on the vote."""
        at: Location = (*_AT, "settlement")
        found = self.named(given, at, "decider")
        return found | self.listed(found, at, "voters", self.name)

    def listed(self, given: Any, at: Location, key: str, read: Callable[[Any, Location], Any]) -> dict[str, Any]:
        """The entries of a list under `key`, each read; nothing if it is no list."""
        entries = given.get(key)
        listed = isinstance(entries, list)
        return {key: [read(entry, (*at, key, n)) for n, entry in enumerate(entries)]} if listed else {}

    def named(self, given: Any, at: Location, key: str) -> Any:
        """A mapping whose value under `key` is a full name; without empty values. Anything else stays unchanged."""
        if not isinstance(given, Mapping):
            return given
        found = {name: value for name, value in given.items() if value is not None}
        return {**found, key: self.name(found[key], (*at, key))} if key in found else found

    def name(self, given: Any, at: Location) -> Any:
        """A participant's full name; "nobody", an empty text and what is no text stay unchanged."""
        if not isinstance(given, str) or not given.strip() or given.strip().casefold() == NOBODY:
            return given
        return full_name(given, self._names, what="participant", where=self._document.where(at))

    def renamed(self, at: Location) -> Location:
        """Where a value stands once characters have their full names."""
        return (*self._keys.get(at[:3], at[:3]), *at[3:])


# Scenarios: from a file, or from a topic and participants given in code; both are checked alike


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
        what = f"{number} participants were requested, but {len(everybody)} personas are shipped"
        remedy = f"Ask for 2 to {len(everybody)}, or name personas of your own."
        raise InputError(what, where="field participants", remedy=remedy)
    return everybody[:number]


def _scenario(document: Document, base: Path) -> Scenario:
    data = document.data
    refuse_unknown(document, (), data, valid_fields(Scenario))
    topic = data.get("topic")
    if topic is None or (isinstance(topic, str) and not is_visible(topic)):
        what = "topic is empty" if "topic" in data else "topic is missing"
        raise wrong(document, ("topic",), what, "Say what the conversation is about.")
    personas, models = _participants(document, base)
    names = [persona.name for persona in personas]
    settings = _settings(document, personas, models)
    goals = by_full_name(document, ("social_goals",), names)
    story = story_in(document, personas)
    if story is not None:
        settings = _of_story(document, settings, Story.model_validate(story))
    resolved = {
        **{key: value for key, value in data.items() if value is not None},
        "participants": personas,
        "relationships": _relationships(document, names),
        "social_goals": goals,
        "settings": settings,
        **({"story": story} if story is not None else {}),
        **_guide(document, names),
    }
    written = zip(data.get("social_goals") or {}, goals, strict=True)
    renamed: dict[Location, Location] = {("social_goals", key): ("social_goals", name) for key, name in written}
    lines = {(*renamed.get(at[:2], at[:2]), *at[2:]): line for at, line in document.lines.items()}
    return validated(Scenario, resolved, Document(resolved, document.source, lines))


def _relationships(document: Document, names: list[str]) -> list[Relationship]:
    """The relationships of a scenario, with full names.

    Args:
        document: the scenario.
        names: the participants' full names.

    Raises:
        InputError: one is invalid, has an unknown name, or a pair that already has a relationship.
    """
    entries = document.data.get("relationships") or []
    at: Location = ("relationships",)
    if not isinstance(entries, list):
        raise wrong(document, at, "relationships are not a list", "Write a list of {from: …, to: …, type: …}.")
    found: list[Relationship] = []
    for index, entry in enumerate(entries):
        at = ("relationships", index)
        if not isinstance(entry, Mapping):
            raise wrong(document, at, "a relationship is a mapping", "Write {from: …, to: …, type: …}.")
        given = {"from" if key == "from_" else key: value for key, value in entry.items()}
        relationship = validated(Relationship, given, document, at)
        sides = {
            side: full_name(name, names, what="participant", where=document.where((*at, side)))
            for side, name in (("from", relationship.from_), ("to", relationship.to))
        }
        relationship = relationship.model_copy(update={"from_": sides["from"], "to": sides["to"]})
        if relationship.from_ == relationship.to:
            what = f"{relationship.to!r} has a relationship with themselves"
            raise wrong(document, at, what, "Name two participants.")
        if _pair(relationship) in map(_pair, found):
            what = f"a second relationship between {relationship.from_!r} and {relationship.to!r}"
            raise wrong(document, at, what, "Keep one, and say more in its note.")
        found.append(relationship)
    return found


def _pair(one: Relationship) -> Hashable:
    """The pair of a relationship; for a one-sided one, its direction counts."""
    return (one.from_, one.to) if one.type in ONE_SIDED else frozenset((one.from_, one.to))


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
    validated(Settings, found := {"mode": "story", **minds, **settings}, document, ("settings",))
    if found["mode"] != "story":
        what = "a scenario with a story is held as one"
        raise wrong(document, ("settings", "mode"), what, "Leave mode or story out.")
    return found


def _settings(document: Document, personas: Sequence[Persona], models: dict[str, str]) -> dict[str, Any]:
    """The scenario's settings, checked, with the participants' own models among them."""
    names = [persona.name for persona in personas]
    given = document.data.get("settings")
    if given is not None and not isinstance(given, Mapping):
        raise wrong(document, ("settings",), "settings are not a mapping", "Write lines 'name: value' under it.")
    settings = dict(document.data.get("settings") or {})
    if settings:
        validated(Settings, settings, document, ("settings",), context=PART)
    named = by_full_name(document, ("settings", "agent_models"), names)
    people = {persona.name for persona in personas if persona.human}
    for key, name in zip(settings.get("agent_models") or {}, named, strict=True):
        if name in people:
            what = f"{name} is a person, and people have no model"
            raise wrong(document, ("settings", "agent_models", key), what, "Remove it.")
    agent_models = {**named, **models}
    return {**settings, "agent_models": agent_models} if agent_models else settings


# Participants: names, paths and written-out personas become personas, and people who take part get theirs

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
            joining.append(validated(Persona, {"name": wanted, "human": True}, where=_WHERE))
            name = joining[-1].name
        if any(name == other or folded(name) == folded(other) != "" for other in taken):
            raise InputError(f"{quoted(name, _SHOWN)} is named twice", where=_WHERE, remedy="Name each person once.")
        taken.append(name)
    participants = [p.model_copy(update={"human": True}) if p.name in taken else p for p in scenario.participants]
    participants += joining
    refuse_nobody_but_people(participants, where=_WHERE)
    models = {name: one for name, one in scenario.settings.get("agent_models", {}).items() if name not in taken}
    rest = {key: value for key, value in scenario.settings.items() if key != "agent_models"}
    settings = {**rest, "agent_models": models} if models else rest
    data = {**dict(scenario), "participants": participants, "settings": settings}
    return validated(Scenario, data, where=_WHERE)


def refuse_nobody_but_people(participants: Sequence[Persona], *, where: str) -> None:
    """Refuse a conversation without agents.

    Raises:
        InputError: all participants are people.
    """
    if all(persona.human for persona in participants):
        remedy = "Leave at least one of them to a model, or add an agent."
        raise InputError("all participants are people", where=where, remedy=remedy)


_ENTRY = ("persona", "model", "social_goals", "memories", "called", "human")
"""Keys of a participant who is named, not written out."""


def _participants(document: Document, base: Path) -> tuple[list[Persona], dict[str, str]]:
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
    if isinstance(entry, Persona):
        return entry, None
    if isinstance(entry, str):
        return find_persona(entry, base, where=document.where(at)), None
    if not isinstance(entry, Mapping):
        what = f"a participant is a name, a path or a persona, not {type(entry).__name__}"
        raise wrong(document, at, what, "Write a name, or lines 'name: …' and 'description: …'.")
    if "persona" not in entry:
        if "model" in entry and entry.get("human") is True:
            raise _model_of_person(document, at, str(entry.get("name", "this participant")))
        return persona_in(document, at, base), None
    refuse_unknown(document, at, entry, _ENTRY)
    for key in ("persona", "model"):
        if key in entry and not isinstance(entry[key], str):
            raise wrong(document, (*at, key), f"{key} is not text", "Write a name.")
    persona = find_persona(entry["persona"], base, where=document.where((*at, "persona")))
    own = {key: entry[key] for key in _ENTRY[2:] if key in entry}
    if own:
        persona = validated(Persona, {**persona.model_dump(), **own}, document, at)
    if persona.human and "model" in entry:
        raise _model_of_person(document, at, persona.name)
    return persona, entry.get("model")


def _model_of_person(document: Document, at: Location, name: str) -> InputError:
    what = f"{name} is a person, and people have no model"
    return wrong(document, (*at, "model"), what, "Remove either model or human.")
