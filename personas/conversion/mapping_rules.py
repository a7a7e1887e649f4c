"""The rules of a mapping: from which fields of a foreign record the value of a persona's field comes, and how.

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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from persimchat.personas.conversion.mapping_paths import find, is_empty, items_of, text_of
from persimchat.state.document import Location

_HOLE: Final = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")


@dataclass(frozen=True)
class Taken:
    """The result of a rule: texts, and the places of their fields in the record."""

    items: tuple[str, ...] = ()
    used: frozenset[Location] = frozenset()


NOTHING: Final = Taken()


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

    def text(self, data: Mapping[str, Any]) -> Taken:
        """The record's value as one text; `NOTHING` if it has none."""
        match self.kind:
            case "all" | "beside":
                found = [part.text(data) for part in self.parts]
                items = list(dict.fromkeys(item for taken in found for item in taken.items))
                # Two fields often say the same, one of them at greater length; of a name, only whole words count.
                end = " " if self.kind == "beside" else ""
                said = [i for i in items if not any(end + i + end in end + o + end for o in items if o != i)]
                return self._joined(said, found, " ")
            case "first":
                return next((taken for part in self.parts if (taken := part.text(data)).items), NOTHING)
            case "field" | "column" if not self.split:
                at = self._found(data)
                return NOTHING if at is None else self._kept((self._worded(text_of(at[1], self.join)),), at[0])
            case _:
                found = [self.items(data)]
                return self._joined(list(found[0].items), found, ", " if self.kind in ("field", "column") else " ")

    def items(self, data: Mapping[str, Any]) -> Taken:
        """The record's value as entries of a list; `NOTHING` if it has none."""
        match self.kind:
            case "all":
                found = [part.items(data) for part in self.parts]
                return Taken(
                    tuple(i for t in found for i in t.items), frozenset[Location]().union(*(t.used for t in found))
                )
            case "first":
                return next((taken for part in self.parts if (taken := part.items(data)).items), NOTHING)
            case "value":
                return Taken((self.words,))
            case "text":
                return self._filled(data, ())
            case "each":
                return self._each(data)
            case _:
                at = self._found(data)
                return NOTHING if at is None else self._kept(tuple(items_of(at[1], self.split)), at[0])

    def _found(self, data: Mapping[str, Any]) -> tuple[Location, Any] | None:
        """The field that the path means, with its place; a column by its name alone."""
        if self.kind != "column":
            return find(data, self.path)
        value = data.get(self.path)
        return None if is_empty(value) else ((self.path,), value)

    def _worded(self, text: str) -> str:
        return self.words.replace("{}", text) if self.kind == "column" and self.words else text

    def paths(self) -> set[str]:
        """Every path that the rule names."""
        named = (
            {self.path}
            if self.kind in ("field", "column")
            else set(holes(self.words))
            if self.kind == "text"
            else set()
        )
        return named.union({self.path} if self.kind == "each" else (), *(part.paths() for part in self.parts))

    def _kept(self, items: tuple[str, ...], at: Location) -> Taken:
        kept = tuple(item for item in items if item and item not in self.missing)
        return Taken(kept, frozenset({at})) if kept else NOTHING

    def _joined(self, items: list[str], found: list[Taken], otherwise: str) -> Taken:
        used = frozenset[Location]().union(*(taken.used for taken in found))
        return Taken(((self.join or otherwise).join(items),), used) if items else NOTHING

    def _filled(self, data: Any, at: Location) -> Taken:
        """The words with fields filled in from the record at this place of the whole."""
        used: set[Location] = set()
        values: dict[str, str] = {}
        for path in holes(self.words):
            found = find(data, path) if isinstance(data, Mapping) else None
            text = text_of(found[1], self.join) if found else ""
            if found is None or not text or text in self.missing:
                return NOTHING
            used.add((*at, *found[0]))
            values[path] = text
        words = _HOLE.sub(lambda hole: hole[0][0] if hole[1] is None else values[hole[1]], self.words)
        return Taken((words.strip(),), frozenset(used))

    def _each(self, data: Mapping[str, Any]) -> Taken:
        found = find(data, self.path)
        entries = found[1] if found else None
        if found is None or not isinstance(entries, list):
            return NOTHING
        taken = [self._filled(entry, (*found[0], n)) for n, entry in enumerate(entries)]
        items = tuple(item for one in taken for item in one.items)
        return Taken(items, frozenset[Location]().union(*(one.used for one in taken))) if items else NOTHING


def holes(words: str) -> list[str]:
    """The paths in the braces of a text."""
    return [path for path in _HOLE.findall(words) if path]
