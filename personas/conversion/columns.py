"""The columns of a table as fields of a persona: as their names suggest, or as the user says."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persimchat.personas.conversion.loading import load
from persimchat.personas.conversion.mapping import ORDER, Mapping, ready
from persimchat.personas.conversion.mapping_paths import place_of
from persimchat.personas.conversion.mapping_rules import Rule
from persimchat.personas.conversion.record import Record
from persimchat.state.document import Location
from persimchat.state.errors import InputError, suggestion
from persimchat.state.normalise import folded
from persimchat.state.plain_text import one_line, quoted

TABLES: Final = (".csv", ".tsv")
"""Endings of the files whose columns can be named."""
FIRST_NAME, LAST_NAME = "first name", "last name"
LEFT_OUT: Final = ""
"""What a column becomes that is left out."""
OWN_FIELDS: Final = (
    "name",
    FIRST_NAME,
    LAST_NAME,
    "description",
    "traits",
    "knowledge",
    "speaking style",
    "social goals",
)
"""What a column can become besides a characteristic."""
_NAME: Final = "of its columns"
_SPLIT: Final = {"traits": ",", "social goals": ";"}
_REFUSED: Final = ("human", "memories")
_SHOWN: Final = 200


@dataclass(frozen=True)
class Table:
    """A table of people.

    Attributes:
        file: where it is.
        columns: their names, in order.
        rows: its rows.
        known: whether a ready mapping other than `plain` fits.
    """

    file: Path
    columns: tuple[str, ...]
    rows: tuple[Record, ...]
    known: bool = False


def table_in(path: Path) -> Table | None:
    """The table in a file; None if it is no table.

    Raises:
        InputError: it cannot be read.
    """
    if path.suffix.lower() not in TABLES:
        return None
    rows = load(path)[0].records
    others = [ready()[name] for name in ORDER if name != "plain"]
    known = any(all(mapping.recognises(row.data) for row in rows) for mapping in others)
    return Table(path, tuple(rows[0].data), rows, known)


def characteristics() -> list[str]:
    """The characteristics that columns of usual names become."""
    return [str(target[1]) for target in ready()["plain"].rules if target[0] == "characteristics"]


def guessed(columns: Sequence[str]) -> dict[str, str]:
    """What each column becomes by its name; "" if its name says nothing, so that it is left out."""
    usual = _usual()
    found = {column: usual.get(folded(column), LEFT_OUT) for column in columns}
    if LAST_NAME in found.values():  # beside a surname, a column called "name" or "jméno" holds the given name
        found = {column: FIRST_NAME if target == "name" else target for column, target in found.items()}
    return found


def _usual() -> dict[str, str]:
    """Name of a column, folded → what it becomes, as the ready mapping `plain` has it."""
    rules = ready()["plain"].rules
    found: dict[str, str] = {}
    for rule in sorted(rules[("name",)].parts, key=lambda rule: rule.kind != "field"):
        named = sorted(rule.paths())
        for at, path in enumerate(named):
            target = "name" if rule.kind == "field" else (FIRST_NAME, LAST_NAME)[at]
            _add(found, path, target)
    for path in rules[("description",)].parts[0].paths():
        _add(found, path, "description")
    for place, rule in rules.items():
        if place[0] not in ("name", "description"):
            for path in rule.paths():
                _add(found, path, str(place[-1]).replace("_", " "))
    return found


def _add(found: dict[str, str], path: str, target: str) -> None:
    for name in path.split("|"):
        found.setdefault(folded(name), target)


def check_columns(tables: Sequence[Table], chosen: Fields[str, str]) -> dict[str, str]:
    """What was said of columns, by their names in the tables.

    Args:
        tables: whose columns are meant.
        chosen: name of a column → what it becomes; "-" leaves it out.

    Raises:
        InputError: no table has such a column, or no column can become that.
    """
    there = list(dict.fromkeys(column for table in tables for column in table.columns))
    found: dict[str, str] = {}
    for name, target in chosen.items():
        place = place_of(dict.fromkeys(there), name)
        if place is None:
            raise InputError(
                f"no table has a column {quoted(name, _SHOWN)}",
                where="--column",
                remedy=suggestion(name, there, otherwise=f"The columns are {quoted(', '.join(there), _SHOWN)[1:-1]}."),
            )
        if folded(target) in _REFUSED:
            raise InputError(
                f"no column becomes {target!r}",
                where="--column",
                remedy=f"Write {', '.join(OWN_FIELDS)}, a characteristic such as age, or - to leave the column out.",
            )
        found[str(place[0])] = LEFT_OUT if target.strip() == "-" else target
    return found


def as_mapping(columns: Fields[str, str]) -> Mapping:
    """The mapping in which each column becomes what is said.

    Without a column for the description, occupation, age and residence make it, else all characteristics together.

    Args:
        columns: name of a column → one of `OWN_FIELDS`, the name of a characteristic, or `LEFT_OUT`.

    Raises:
        InputError: no column becomes the name, or none a description or a characteristic.
    """
    given: dict[str, list[Rule]] = {}
    for column, said in columns.items():
        if (wanted := one_line(said)) != LEFT_OUT:
            target = _target(wanted)
            given.setdefault(target, []).append(Rule("column", path=column, split=_SPLIT.get(target, "")))
    name = [rule for target in (FIRST_NAME, "name", LAST_NAME) for rule in given.pop(target, [])]
    if not name:
        listed = quoted(", ".join(columns), _SHOWN)[1:-1]
        raise InputError(
            "no column is the name",
            where="--column",
            remedy=f"Say which column it is; the columns are {listed}.",
        )
    rules: dict[Location, Rule] = {("name",): Rule("beside", parts=tuple(name))}
    described = given.pop("description", [])
    facts = {target: parts for target, parts in given.items() if target not in OWN_FIELDS}
    if not described and not facts:
        raise InputError(
            "no column says who the people are",
            where="--column",
            remedy="Say which column is the description, the occupation, the age or another characteristic.",
        )
    rules[("description",)] = Rule("first", parts=tuple(_descriptions(described, facts)))
    for target, parts in given.items():
        place: Location = ("characteristics", target) if target in facts else (target.replace(" ", "_"),)
        if target == "knowledge":
            rules[place] = Rule("first", parts=tuple(parts))
        else:
            rules[place] = parts[0] if len(parts) == 1 else Rule("all", parts=tuple(parts))
    return Mapping(_NAME, rules)


def _target(wanted: str) -> str:
    """What is meant: a field by any way of writing it, else a characteristic's name as it was written."""
    known = [*OWN_FIELDS, *characteristics()]
    return next((target for target in known if folded(target) == folded(wanted)), wanted)


def _descriptions(described: list[Rule], facts: Fields[str, list[Rule]]) -> list[Rule]:
    """The ways to a description, the best first; nothing is invented in any."""
    ways = [Rule("all", parts=tuple(described))] if described else []
    brief = [*facts.get("occupation", [])]
    brief += [Rule("column", path=rule.path, words="{} years old") for rule in facts.get("age", [])]
    brief += [Rule("column", path=rule.path, words="lives in {}") for rule in facts.get("residence", [])]
    if brief:
        ways.append(Rule("all", parts=tuple(brief), join=", "))
    every = [Rule("column", path=rule.path, words=f"{target}: {{}}") for target, own in facts.items() for rule in own]
    if every:
        ways.append(Rule("all", parts=tuple(every), join="; "))
    return ways
