"""Mappings: which field of a persona comes from which fields of a foreign description; ready ones, and files."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from persimchat.personas.conversion.mapping_paths import place_of, text_of, value_at
from persimchat.personas.conversion.mapping_rules import Rule, holes
from persimchat.personas.files import is_path
from persimchat.state.document import Document, Location, read_document
from persimchat.state.errors import InputError, suggestion
from persimchat.state.persona import Persona
from persimchat.state.validation_errors import refuse_unknown, valid_fields

KINDS: Final = ("field", "text", "each", "value", "first", "all")
_OPTIONS: Final = ("split", "join", "missing")
_REMEDY: Final = "Write a field's name, a list of such, or one of the forms in docs/personas.md."


def read_rule(document: Document, at: Location) -> Rule:
    """The rule at a place of a mapping file.

    Raises:
        InputError: there is no valid rule; naming file, line, field and remedy.
    """
    given = value_at(document.data, at)
    where = document.where(at)
    if isinstance(given, str) and given.strip():
        return Rule("field", path=given.strip())
    if isinstance(given, list) and given:
        return Rule("all", parts=tuple(read_rule(document, (*at, n)) for n in range(len(given))))
    if not isinstance(given, Fields):
        raise InputError("this rule does not say where the value comes from", where=where, remedy=_REMEDY)
    refuse_unknown(document, at, given, (*KINDS, *_OPTIONS))
    kinds = [kind for kind in KINDS if kind in given]
    if kinds != ["text", "each"] and len(kinds) != 1:
        what = f"a rule needs exactly one of {', '.join(KINDS)}; this one has {' and '.join(kinds) or 'none'}"
        raise InputError(what, where=where, remedy=_REMEDY)
    kind = kinds[-1]
    parts: tuple[Rule, ...] = ()
    if kind in ("first", "all"):
        if not isinstance(given[kind], list) or not given[kind]:
            raise InputError(f"{kind} is not a list", where=document.where((*at, kind)), remedy="List rules under it.")
        parts = tuple(read_rule(document, (*at, kind, n)) for n in range(len(given[kind])))
    words = {"each": "text", "text": "text", "value": "value"}.get(kind, "")
    rule = Rule(
        kind,
        path=_written(document, (*at, kind)) if kind in ("field", "each") else "",
        words=_written(document, (*at, words)) if words else "",
        parts=parts,
        split=_written(document, (*at, "split"), blank=True) if "split" in given else "",
        join=_written(document, (*at, "join"), blank=True) if "join" in given else "",
        missing=_missing(document, (*at, "missing")) if "missing" in given else (),
    )
    if words == "text" and not holes(rule.words):
        remedy = "Put a field's name in braces, or write the words as a value."
        raise InputError("the text has no field in it", where=document.where((*at, "text")), remedy=remedy)
    return rule


def _written(document: Document, at: Location, *, blank: bool = False) -> str:
    """A text of a mapping file; `blank` says whether spaces alone are allowed."""
    if at[-1] not in value_at(document.data, at[:-1]):
        raise InputError(f"{at[-1]} is missing", where=document.where(at[:-1]), remedy=_REMEDY)
    value = value_at(document.data, at)
    if not isinstance(value, str | int | float) or not str(value) or not (blank or str(value).strip()):
        raise InputError(f"{at[-1]} is not text", where=document.where(at), remedy="Write text, in quotes.")
    return str(value)


def _missing(document: Document, at: Location) -> tuple[str, ...]:
    value = value_at(document.data, at)
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(item, str | int | float) for item in values):
        raise InputError("missing is not a list of values", where=document.where(at), remedy="Write missing: [n/a, 0].")
    return tuple(text_of(item) for item in values)


READY: Final = Path(__file__).parents[1] / "mappings"
"""The folder of the mappings that come with the package."""

ORDER: Final = (
    *("character_card", "generative_agents", "tinytroupe", "tinytroupe_old", "sotopia", "agentgroupchat"),
    "plain",
)
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
    # no record says who will be a human participant, or what happened before a conversation
    targets = [field for field in valid_fields(Persona) if field not in ("human", "memories")]
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
