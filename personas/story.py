"""Reads the section `story` of a scenario, in which first names are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from persimchat.personas.names import full_name
from persimchat.personas.ties import by_full_name
from persimchat.state.document import Document, Location
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.story import NOBODY, Character, Story
from persimchat.state.validation_errors import input_error, refuse_unknown, valid_fields

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
        raise _error(document, _AT, "story is not a mapping", "Write characters, resources and stages under it.")
    refuse_unknown(document, _AT, given, valid_fields(Story))
    if isinstance(given.get("stages"), list) and not given["stages"]:
        raise _error(document, (*_AT, "stages"), "the story has no stages", "List one, or leave stages out.")
    names = [persona.name for persona in personas]
    read = _Reading(document, names)
    section = {key: value for key, value in given.items() if value is not None}
    section["characters"] = read.characters()
    if isinstance(section.get("resources"), list):
        section["resources"] = [
            read.named(resource, (*_AT, "resources", number), "owner")
            for number, resource in enumerate(section["resources"])
        ]
    if isinstance(section.get("stages"), list):
        section["stages"] = [read.stage(stage, (*_AT, "stages", n)) for n, stage in enumerate(section["stages"])]
    if isinstance(section.get("settlement"), Mapping):
        section["settlement"] = read.settlement(section["settlement"])
    lines = {read.renamed(at): line for at, line in document.lines.items()}
    resolved = Document({**document.data, "story": section}, document.source, lines)
    try:
        story = Story.model_validate(section)
    except ValidationError as error:
        raise input_error(error, Story, resolved, _AT) from None
    for at, what, remedy in story.problems(names):
        raise _error(resolved, (*_AT, *at), what, remedy)
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
        for key, name in zip(written, given, strict=True):
            self._keys[(*at, key)] = (*at, name)
        parts = {
            name: self._character(value, (*at, key)) for key, (name, value) in zip(written, given.items(), strict=True)
        }
        return {name: parts.get(name, {}) for name in self._names}

    def _character(self, given: Any, at: Location) -> Any:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise _error(
                self._document, at, "a character is not a mapping", "Write main, known_as, beliefs … under it."
            )
        refuse_unknown(self._document, at, given, valid_fields(Character))
        found = self.named(given, at, "supports")
        if isinstance(found.get("beliefs"), list):
            found["beliefs"] = [
                self.named(belief, (*at, "beliefs", number), "for") for number, belief in enumerate(found["beliefs"])
            ]
        if isinstance(found.get("closeness"), Mapping):
            found["closeness"] = by_full_name(self._document, (*at, "closeness"), self._names)
        return found

    def stage(self, given: Any, at: Location) -> Any:
        """A stage whose groups have full names. Anything else stays unchanged."""
        split = given.get("split") if isinstance(given, Mapping) else None
        if not isinstance(given, Mapping) or not isinstance(split, Mapping):
            return given
        groups = split.get("groups")
        if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
            return given
        at = (*at, "split", "groups")
        named = [
            [self.name(name, (*at, n, place)) for place, name in enumerate(group)] for n, group in enumerate(groups)
        ]
        return {**given, "split": {**split, "groups": named}}

    def settlement(self, given: Mapping[str, Any]) -> Any:
        """The section on the vote."""
        at: Location = (*_AT, "settlement")
        found = self.named(given, at, "decider")
        if isinstance(found.get("voters"), list):
            found["voters"] = [
                self.name(voter, (*at, "voters", number)) for number, voter in enumerate(found["voters"])
            ]
        return found

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


def _error(document: Document, at: Location, what: str, remedy: str) -> InputError:
    return InputError(what, where=document.where(at), remedy=remedy)
