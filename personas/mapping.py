"""Mappings: which field of a persona comes from which fields of a foreign description; ready ones, and files."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from persimchat.personas.files import is_path
from persimchat.personas.mapping_paths import place_of
from persimchat.personas.mapping_reading import read_rule
from persimchat.personas.mapping_rules import Rule
from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError, suggestion
from persimchat.state.persona import Persona
from persimchat.state.validation_errors import refuse_unknown, valid_fields

READY: Final = Path(__file__).parent / "mappings"
"""The folder of the mappings that come with the package."""

ORDER: Final = ("generative_agents", "tinytroupe", "tinytroupe_old", "sotopia", "agentgroupchat", "plain")
"""The ready mappings, in the order in which a record's shape is compared with them."""

_OWN: Final = ("about", "recognise", "records", "technical", "ids")


@dataclass(frozen=True)
class Mapping:
    """A mapping.

    Attributes:
        name: the ready mapping's name, else the file's.
        rules: the rule of each field of a persona, by its place in a persona.
        about: its purpose, in one line.
        recognise: fields that a record of this shape has; by default, those that give name and description.
        records: the field of the file that lists the records; "" if the file's shape shows it.
        technical: fields that say nothing about a person; they are left out without their values being shown.
        ids: the field with an id by which other records of the same folder name this person; "" for none.
    """

    name: str
    rules: dict[Location, Rule] = field(default_factory=dict)
    about: str = ""
    recognise: tuple[str, ...] = ()
    records: str = ""
    technical: tuple[str, ...] = ()
    ids: str = ""

    def recognises(self, data: Fields[str, Any]) -> bool:
        """Whether a record has the shape of this mapping."""
        if self.recognise:
            return all(place_of(data, path) is not None for path in self.recognise)
        return all(self.rules[(key,)].text(data).items for key in ("name", "description"))

    def paths(self) -> list[str]:
        """Every path that its rules name, in order of their names."""
        return sorted(set().union(*(rule.paths() for rule in self.rules.values())))


@cache
def ready() -> dict[str, Mapping]:
    """The ready mappings by name, in the order in which shapes are compared."""
    return {name: load_mapping(READY / f"{name}.yaml") for name in ORDER}


def find_mapping(name_or_path: str) -> Mapping:
    """A ready mapping by name, or one from a file.

    Raises:
        InputError: there is none of this name, or the file is not right.
    """
    wanted = name_or_path.strip()
    if is_path(wanted):
        return load_mapping(Path(wanted))
    found = ready().get(wanted.casefold().replace("-", "_"))
    if found is None:
        remedy = f"{suggestion(wanted, ORDER)} Or give the path of a mapping file (YAML)."
        raise InputError(f"there is no ready mapping {wanted!r}", where="--mapping", remedy=remedy)
    return found


def load_mapping(path: Path) -> Mapping:
    """Read a mapping file.

    Raises:
        InputError: it is not right; naming file, line, field and remedy.
    """
    document = read_document(path)
    data = document.data
    targets = [
        field for field in valid_fields(Persona) if field != "human"
    ]  # no record says who will be a human participant
    refuse_unknown(document, (), data, [*targets, *_OWN])
    for key in ("name", "description"):
        if key not in data:
            remedy = f"Say from which field a persona's {key} comes, for example {key}: {key}."
            raise InputError(f"{key} is missing", where=document.where(()), remedy=remedy)
    rules: dict[Location, Rule] = {}
    for key in (target for target in targets if target in data):
        if key != "characteristics":
            rules[(key,)] = read_rule(document, (key,))
            continue
        if not isinstance(data[key], Fields) or not data[key]:
            remedy = "Write lines such as 'age: years' under it: our name, then the field."
            raise InputError("characteristics are not a mapping", where=document.where((key,)), remedy=remedy)
        rules |= {(key, name): read_rule(document, (key, name)) for name in data[key]}
    return Mapping(
        path.stem if path.parent == READY else path.name,
        rules,
        about=_text(document, "about"),
        recognise=_listed(document, "recognise"),
        records=_text(document, "records"),
        technical=_listed(document, "technical"),
        ids=_text(document, "ids"),
    )


def _text(document: Document, key: str) -> str:
    value = document.data.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{key} is not text", where=document.where((key,)), remedy="Write one line of text.")
    return value.strip()


def _listed(document: Document, key: str) -> tuple[str, ...]:
    value = document.data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        where = document.where((key,))
        raise InputError(f"{key} is not a list of fields", where=where, remedy=f"Write {key}: [one, another].")
    return tuple(value)
