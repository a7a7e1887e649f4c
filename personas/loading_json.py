"""Descriptions from JSON and JSON Lines, and the ways to find them in a file.

LangChain's JSONLoader is not used: it needs the library jq for what takes a few lines here, it passes every number
through floating point, and its errors could name neither entry nor field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from persimchat.personas.loading_record import Form, Record, contents
from persimchat.state.errors import InputError

_MOST_DEEP: Final = 100
_TOO_DEEP: Final = "Keep to 100 levels and to ordinary numbers."


def load_json(path: Path) -> list[Form]:
    """The ways to read a JSON file as records, the most literal first.

    These are: the whole as one record; a list's entries; the values of a mapping (a dump, by key); and the same for the
    only list or mapping inside the root, as in {"agents": [...]}.

    Raises:
        InputError: it cannot be read, is not JSON, or has nothing that could be a record.
    """
    root = _parsed(contents(path), path, 1)
    forms = _forms(root, path)
    inner = [value for value in root.values() if isinstance(value, list | Mapping)] if isinstance(root, Mapping) else []
    if len(inner) == 1:
        forms += _forms(inner[0], path)[isinstance(inner[0], Mapping) :]
    if not forms:
        what = "the file lists no one" if root in ([], {}) else "the file holds no fields"
        raise InputError(
            what, where=str(path), remedy='A description is a mapping such as {"name": …}, or a list of such.'
        )
    return forms


def load_json_lines(path: Path) -> list[Form]:
    """The records of a JSON Lines file, one per line.

    Raises:
        InputError: it cannot be read, or a line is not a JSON mapping.
    """
    records = []
    for number, line in enumerate(contents(path).split("\n"), start=1):
        if not line.strip():
            continue
        data = _parsed(line, path, number)
        if not isinstance(data, Mapping):
            raise InputError("the line is not a mapping", where=f"{path}:{number}", remedy='Write {"name": …} in it.')
        records.append(Record(path, line=number, data=data))
    return [Form(tuple(records))]


def _forms(data: Any, path: Path) -> list[Form]:
    """A list's entries; or a mapping as one record, then its values if all of them are mappings."""
    if isinstance(data, list):
        for number, entry in enumerate(data, start=1):
            if not isinstance(entry, Mapping):
                where = f"{path}, entry {number}"
                raise InputError("the entry is not a mapping", where=where, remedy='List mappings such as {"name": …}.')
        records = tuple(Record(path, f"entry {n}", data=entry) for n, entry in enumerate(data, start=1))
        return [Form(records)] if records else []
    if not isinstance(data, Mapping) or not data:
        return []
    forms = [Form((Record(path, data=data),))]
    if all(isinstance(value, Mapping) for value in data.values()):
        forms.append(Form(tuple(Record(path, f"entry {key!r}", data=value) for key, value in data.items()), mixed=True))
    return forms


def _parsed(text: str, path: Path, line: int) -> Any:
    """The value of a piece of JSON that begins in this line of the file."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(found)
        if len(data) < len(found):
            keys = [key for key, _ in found]
            twice = next(key for key in keys if keys.count(key) > 1)
            where = f"{path}, field {twice}" if line == 1 else f"{path}:{line}, field {twice}"
            raise InputError("the field is given twice", where=where, remedy="Keep one of the two.")
        return data

    def constant(name: str) -> Any:
        raise InputError(f"{name} is not a number in JSON", where=str(path), remedy="Write a finite number.")

    try:
        data = json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        where = f"{path}:{line + error.lineno - 1}:{error.colno}"
        raise InputError(
            f"this is not JSON: {error.msg}", where=where, remedy="Correct it there or just before."
        ) from None
    except (RecursionError, ValueError):  # ValueError: an integer of thousands of digits
        raise InputError(
            "the data is nested too deeply or has endless numbers", where=str(path), remedy=_TOO_DEEP
        ) from None
    if _depth(data) > _MOST_DEEP:
        raise InputError("the data is nested too deeply", where=str(path), remedy=_TOO_DEEP)
    return data


def _depth(data: Any) -> int:
    """Levels of lists and mappings, counted without recursion."""
    depth, level = 0, [data]
    while level:
        depth += 1
        level = [
            inner
            for value in level
            if isinstance(value, list | Mapping)
            for inner in (value.values() if isinstance(value, Mapping) else value)
        ]
    return depth
