"""Mappings: from which fields of a foreign record the fields of a persona come, and how.

A rule is one of these, as docs/personas.md shows:

- `path`: the value of a field; `a|b` is the first of several that has a value.
- `[rule, rule]`, or `{all: [rule, rule]}`: all of them, one after another.
- `{first: [rule, rule]}`: the first that gives a value.
- `{field: path}`: as the path alone, with options.
- `{text: "{first} {last}"}`: words with fields in them; nothing if one of the fields is missing.
- `{each: path, text: "{name}, {age}"}`: such words for every entry of a list.
- `{value: words}`: the same words for all records.

A column of a table, which the user chose by its name, is a rule of the kind `column`: its name is no path, and `words`
have `{}` in place of the value. `beside` puts the columns of a name one beside another.

Options: `split` (split a text into entries at these characters), `join` (join entries into a text with these characters
between them), `missing` (values that mean that there is none). A record is never read as a rule, path or template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Fields
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...state.document import Document, Location, read_document
from ...state.errors import InputError, suggestion
from ...state.persona import Persona
from ...state.plain_text import folded, one_line
from ...state.validation_errors import refuse_unknown, valid_fields
from ..catalogue import is_path
from ..names import wrong

READY: Final = Path(__file__).parents[1] / "mappings"
"""The folder of the mappings that come with the package."""
ORDER: Final = (
    *("character_card", "generative_agents", "tinytroupe", "tinytroupe_old", "sotopia", "agentgroupchat"),
    "plain",
)
"""The ready mappings, in the order in which a record's shape is compared with them."""
KINDS: Final = ("field", "text", "each", "value", "first", "all")
_OPTIONS: Final = ("split", "join", "missing")
_OWN: Final = ("about", "recognise", "records", "technical", "ids")
_REMEDY: Final = "Write a field's name, a list of such, or one of the forms in docs/personas.md."
_HOLE: Final = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")


# Where in a record a field is, and its value as text


def find(data: Fields[str, Any], path: str) -> tuple[Location, Any] | None:
    """The first field with a value that a path means, with its place; None if there is none.

    Args:
        data: the record.
        path: a field's name; or names joined by dots, from the outer to the inner; or several such, joined by bars. A
            field whose own name has a dot or bar is found by its whole name. Case, diacritics, hyphens and underscores
            make no difference.
    """
    for way in (path, *path.split("|")):
        location = place_of(data, way.strip())
        if location is not None and not is_empty(value := value_at(data, location)):
            return location, value
    return None


def place_of(data: Any, path: str) -> Location | None:
    """The place of a field, with or without a value; None if there is none of this name."""
    key = _key(data, path)
    if key is not None:
        return (key,)
    for at in (n for n, letter in enumerate(path) if letter == "."):
        key = _key(data, path[:at])
        inner = None if key is None else place_of(data[key], path[at + 1 :])
        if key is not None and inner is not None:
            return (key, *inner)
    return None


def _key(data: Any, name: str) -> str | int | None:
    """The key that a name means in a mapping, or the index in a list."""
    if isinstance(data, list) and name.isdecimal() and int(name) < len(data):
        return int(name)
    if not isinstance(data, Fields):
        return None
    if name in data:
        return name
    alike = [str(key) for key in data if folded(str(key)) == folded(name)] if folded(name) else []
    return alike[0] if len(alike) == 1 else None


def value_at(data: Any, location: Location) -> Any:
    """The value at a place."""
    for part in location:
        data = data[part]
    return data


def is_empty(value: Any) -> bool:
    """Whether a value is empty: none, blank text, or a list or mapping of empty values."""
    if isinstance(value, Fields | list):
        return all(is_empty(item) for item in (value.values() if isinstance(value, Fields) else value))
    return value is None or (isinstance(value, str) and not one_line(value))


def items_of(value: Any, split: str = "") -> list[str]:
    """A value as texts: a list's entries, a mapping's as "name: value", a text's parts between `split`."""
    if isinstance(value, list):
        return [text for item in value if (text := text_of(item))]
    if isinstance(value, Fields):
        return [f"{one_line(str(k))}: {text}" for k, item in value.items() if (text := text_of(item))]
    text = text_of(value)
    return [part for piece in (text.split(split) if split else [text]) if (part := piece.strip())]


def text_of(value: Any, join: str = "") -> str:
    """A value as one line of text; entries stand with `join` between them, else a comma, or a space after sentences."""
    if isinstance(value, list | Fields):
        items = items_of(value)
        sentences = all(item.endswith((".", "!", "?")) for item in items)
        return (join or (" " if sentences else "; " if isinstance(value, Fields) else ", ")).join(items)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else one_line(str(value))


def unused(data: Any, used: set[Location], at: Location = ()) -> Iterator[tuple[Location, Any]]:
    """The unused fields of a record that have a value; of nested ones, the outermost that is wholly unused."""
    if at in used or is_empty(data):
        return
    if at and not any(location[: len(at)] == at for location in used):
        yield at, data
        return
    inside = data.items() if isinstance(data, Fields) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield from unused(value, used, (*at, key))


# Rules


class Taken(NamedTuple):
    """The result of a rule: texts, and the places of their fields in the record."""

    items: tuple[str, ...] = ()
    used: frozenset[Location] = frozenset()


NOTHING: Final = Taken()


def _together(found: Iterable[Taken]) -> Taken:
    found = list(found)
    items = tuple(item for taken in found for item in taken.items)
    return Taken(items, frozenset[Location]().union(*(taken.used for taken in found))) if items else NOTHING


@dataclass(frozen=True)
class Rule:
    """One rule; see the head of this file.

    Attributes:
        kind: which of the forms it has.
        path: of `field` and `each`; of `column`, its name.
        words: of `text`, `each`, `value` and `column`.
        parts: of `first` and `all`.
        split, join, missing: the options; empty where they were not given.
    """

    kind: str
    path: str = ""
    words: str = ""
    parts: tuple[Rule, ...] = ()
    split: str = ""
    join: str = ""
    missing: tuple[str, ...] = ()

    def text(self, data: Fields[str, Any]) -> Taken:
        """The record's value as one text; `NOTHING` if it has none."""
        otherwise = " "
        if self.kind == "first":
            return next((taken for part in self.parts if (taken := part.text(data)).items), NOTHING)
        if self.kind in ("all", "beside"):
            found = _together(part.text(data) for part in self.parts)
            items = dict.fromkeys(found.items)
            # Two fields often say the same, one of them at greater length; of a name, only whole words count.
            end = " " if self.kind == "beside" else ""
            kept = [i for i in items if not any(end + i + end in end + o + end for o in items if o != i)]
            found = Taken(tuple(kept), found.used)
        elif self.kind in ("field", "column"):
            at, otherwise = self._found(data), ", "
            if at is not None and not self.split:
                return self._kept((self._worded(text_of(at[1], self.join)),), at[0])
            found = self.items(data)
        else:
            found = self.items(data)
        return Taken(((self.join or otherwise).join(found.items),), found.used) if found.items else NOTHING

    def items(self, data: Fields[str, Any]) -> Taken:
        """The record's value as entries of a list; `NOTHING` if it has none."""
        match self.kind:
            case "all":
                return _together(part.items(data) for part in self.parts)
            case "first":
                return next((taken for part in self.parts if (taken := part.items(data)).items), NOTHING)
            case "value":
                return Taken((self.words,))
            case "text":
                return self._filled(data, ())
            case "each":
                at, entries = find(data, self.path) or ((), None)
                listed = entries if isinstance(entries, list) else []
                return _together(self._filled(entry, (*at, n)) for n, entry in enumerate(listed))
        found = self._found(data)
        return NOTHING if found is None else self._kept(tuple(items_of(found[1], self.split)), found[0])

    def _found(self, data: Fields[str, Any]) -> tuple[Location, Any] | None:
        """The field that the path means, with its place; a column by its name alone."""
        if self.kind != "column":
            return find(data, self.path)
        value = data.get(self.path)
        return None if is_empty(value) else ((self.path,), value)

    def _worded(self, text: str) -> str:
        return self.words.replace("{}", text) if self.kind == "column" and self.words else text

    def paths(self) -> set[str]:
        """Every path that the rule names."""
        own = {self.path} if self.kind in ("field", "column", "each") else set[str]()
        holes = _holes(self.words) if self.kind == "text" else ()
        return own.union(holes, *(part.paths() for part in self.parts))

    def _kept(self, items: tuple[str, ...], at: Location) -> Taken:
        kept = tuple(item for item in items if item and item not in self.missing)
        return Taken(kept, frozenset({at})) if kept else NOTHING

    def _filled(self, data: Any, at: Location) -> Taken:
        """The words with fields filled in from the record at this place of the whole."""
        used: set[Location] = set()
        values: dict[str, str] = {}
        for path in _holes(self.words):
            found = find(data, path) if isinstance(data, Fields) else None
            text = text_of(found[1], self.join) if found else ""
            if found is None or not text or text in self.missing:
                return NOTHING
            used.add((*at, *found[0]))
            values[path] = text
        words = _HOLE.sub(lambda hole: hole[0][0] if hole[1] is None else values[hole[1]], self.words)
        return Taken((words.strip(),), frozenset(used))


def _holes(words: str) -> list[str]:
    """The paths in the braces of a text."""
    return [path for path in _HOLE.findall(words) if path]


# Mapping files


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
            raise wrong(document, (), f"{key} is missing", remedy)
    rules: dict[Location, Rule] = {}
    for key in (target for target in targets if target in data):
        if key != "characteristics":
            rules[(key,)] = read_rule(document, (key,))
            continue
        if not isinstance(data[key], Fields) or not data[key]:
            remedy = "Write lines such as 'age: years' under it: our name, then the field."
            raise wrong(document, (key,), "characteristics are not a mapping", remedy)
        rules |= {(key, name): read_rule(document, (key, name)) for name in data[key]}
    own: dict[str, Any] = {}
    for key in (key for key in _OWN if key in data):
        listed, value = key in ("recognise", "technical"), data[key]
        texts = value if isinstance(value, list) else [value]
        usable = all(isinstance(one, str) and (one.strip() or not listed) for one in texts)
        if listed != isinstance(value, list) or not usable:
            what = f"{key} is not a list of fields" if listed else f"{key} is not text"
            remedy = f"Write {key}: [one, another]." if listed else "Write one line of text."
            raise wrong(document, (key,), what, remedy)
        own[key] = tuple(texts) if listed else value.strip()
    return Mapping(path.stem if path.parent == READY else path.name, rules, **own)


def read_rule(document: Document, at: Location) -> Rule:
    """The rule at a place of a mapping file.

    Raises:
        InputError: there is no valid rule; naming file, line, field and remedy.
    """
    given = value_at(document.data, at)
    if isinstance(given, str) and given.strip():
        return Rule("field", path=given.strip())
    if isinstance(given, list) and given:
        return Rule("all", parts=tuple(read_rule(document, (*at, n)) for n in range(len(given))))
    if not isinstance(given, Fields):
        raise wrong(document, at, "this rule does not say where the value comes from", _REMEDY)
    refuse_unknown(document, at, given, (*KINDS, *_OPTIONS))
    kinds = [kind for kind in KINDS if kind in given]
    if kinds != ["text", "each"] and len(kinds) != 1:
        what = f"a rule needs exactly one of {', '.join(KINDS)}; this one has {' and '.join(kinds) or 'none'}"
        raise wrong(document, at, what, _REMEDY)
    kind = kinds[-1]
    part = _checked(document, at, kind) if kind in ("first", "all") else []
    parts = tuple(read_rule(document, (*at, kind, n)) for n in range(len(part)))
    words = {"each": "text", "text": "text", "value": "value"}.get(kind, "")
    rule = Rule(
        kind,
        path=_checked(document, at, kind) if kind in ("field", "each") else "",
        words=_checked(document, at, words) if words else "",
        parts=parts,
        **{option: _checked(document, at, option) for option in _OPTIONS if option in given},
    )
    if words == "text" and not _holes(rule.words):
        remedy = "Put a field's name in braces, or write the words as a value."
        raise wrong(document, (*at, "text"), "the text has no field in it", remedy)
    return rule


def _checked(document: Document, at: Location, key: str) -> Any:
    """What a rule says under a key: a list of rules, values that mean that there is none, or text."""
    given = value_at(document.data, at)
    if key not in given:
        raise wrong(document, at, f"{key} is missing", _REMEDY)
    value, place = given[key], (*at, key)
    if key in ("first", "all"):
        if not isinstance(value, list) or not value:
            raise wrong(document, place, f"{key} is not a list", "List rules under it.")
        return value
    if key == "missing":
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(item, str | int | float) for item in values):
            raise wrong(document, place, "missing is not a list of values", "Write missing: [n/a, 0].")
        return tuple(text_of(item) for item in values)
    blank = key in ("split", "join")  # spaces alone are allowed
    if not isinstance(value, str | int | float) or not str(value) or not (blank or str(value).strip()):
        raise wrong(document, place, f"{key} is not text", "Write text, in quotes.")
    return str(value)
