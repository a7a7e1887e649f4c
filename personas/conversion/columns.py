"""The columns of a table as fields of a persona: as their names suggest, or as the user says."""

from __future__ import annotations

from collections.abc import Mapping as Fields
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...state.document import Location
from ...state.errors import InputError, suggestion
from ...state.plain_text import folded, one_line, quoted
from .loading import Record, load
from .mapping import ORDER, Mapping, Rule, place_of, ready

TABLES: Final = (".csv", ".tsv")
"""Endings of the files whose columns can be named."""
FIRST_NAME, LAST_NAME = "first name", "last name"
LEFT_OUT: Final = ""
"""What a column becomes that is left out."""
OWN_FIELDS: Final = (
    *("name", FIRST_NAME, LAST_NAME, "description"),
    *("traits", "knowledge", "speaking style", "social goals"),
)
"""What a column can become besides a characteristic."""
_SPLIT: Final = {"traits": ",", "social goals": ";"}
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
    rules = ready()["plain"].rules
    usual: dict[str, str] = {}

    def add(path: str, target: str) -> None:
        for name in path.split("|"):
            usual.setdefault(folded(name), target)

    for rule in sorted(rules[("name",)].parts, key=lambda rule: rule.kind != "field"):
        for path, part in zip(sorted(rule.paths()), (FIRST_NAME, LAST_NAME), strict=False):
            add(path, "name" if rule.kind == "field" else part)
    for path in rules[("description",)].parts[0].paths():
        add(path, "description")
    for place, rule in rules.items():
        for path in rule.paths() if place[0] not in ("name", "description") else ():
            add(path, str(place[-1]).replace("_", " "))
    found = {column: usual.get(folded(column), LEFT_OUT) for column in columns}
    if LAST_NAME in found.values():  # beside a surname, a column called "name" or "jméno" holds the given name
        found = {column: FIRST_NAME if target == "name" else target for column, target in found.items()}
    return found


def check_columns(tables: Sequence[Table], chosen: Fields[str, str]) -> dict[str, str]:
    """What was said of columns, by their names in the tables.

    Args:
        tables: whose columns are meant.
        chosen: name of a column → what it becomes; "-" leaves it out.

    Raises:
        InputError: no table has such a column, or no column can become that.
    """
    there = dict.fromkeys(column for table in tables for column in table.columns)
    found: dict[str, str] = {}
    for name, target in chosen.items():
        place = place_of(there, name)
        if place is None:
            listed = f"The columns are {quoted(', '.join(there), _SHOWN)[1:-1]}."
            remedy = suggestion(name, list(there), otherwise=listed)
            raise InputError(f"no table has a column {quoted(name, _SHOWN)}", where="--column", remedy=remedy)
        if folded(target) in ("human", "memories", "called"):
            remedy = f"Write {', '.join(OWN_FIELDS)}, a characteristic such as age, or - to leave the column out."
            raise InputError(f"no column becomes {target!r}", where="--column", remedy=remedy)
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
    # A field by any way of writing it, else a characteristic's name as it was written.
    known = {folded(target): target for target in (*characteristics(), *OWN_FIELDS)}
    given: dict[str, list[Rule]] = {}
    for column, said in columns.items():
        if (wanted := one_line(said)) != LEFT_OUT:
            target = known.get(folded(wanted), wanted)
            given.setdefault(target, []).append(Rule("column", path=column, split=_SPLIT.get(target, "")))
    name = [rule for target in (FIRST_NAME, "name", LAST_NAME) for rule in given.pop(target, [])]
    described = given.pop("description", [])
    facts = {target: parts for target, parts in given.items() if target not in OWN_FIELDS}
    if not name:
        remedy = f"Say which column it is; the columns are {quoted(', '.join(columns), _SHOWN)[1:-1]}."
        raise InputError("no column is the name", where="--column", remedy=remedy)
    if not described and not facts:
        remedy = "Say which column is the description, the occupation, the age or another characteristic."
        raise InputError("no column says who the people are", where="--column", remedy=remedy)
    rules: dict[Location, Rule] = {
        ("name",): Rule("beside", parts=tuple(name)),
        ("description",): Rule("first", parts=tuple(_descriptions(described, facts))),
    }
    for target, parts in given.items():
        place: Location = ("characteristics", target) if target in facts else (target.replace(" ", "_"),)
        several = Rule("first" if target == "knowledge" else "all", parts=tuple(parts))
        rules[place] = parts[0] if len(parts) == 1 else several
    return Mapping("of its columns", rules)


def _descriptions(described: list[Rule], facts: Fields[str, list[Rule]]) -> list[Rule]:
    """The ways to a description, the best first; nothing is invented in any."""

    def worded(target: str, words: str) -> list[Rule]:
        return [Rule("column", path=rule.path, words=words) for rule in facts.get(target, [])]

    brief = [*facts.get("occupation", []), *worded("age", "{} years old"), *worded("residence", "lives in {}")]
    every = [rule for target in facts for rule in worded(target, f"{target}: {{}}")]
    ways = ((described, ""), (brief, ", "), (every, "; "))
    return [Rule("all", parts=tuple(parts), join=join) for parts, join in ways if parts]
