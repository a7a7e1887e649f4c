"""A foreign description as it was read: its fields, or only its text, and its place in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from persimchat.state.document import read_bytes
from persimchat.state.errors import InputError

MAX_BYTES: Final = 20_000_000
"""The largest file of descriptions that is read: some thousands of people."""


@dataclass(frozen=True)
class Record:
    """One foreign description.

    Attributes:
        file: the file.
        place: its place in the file, in words ("entry 3"); empty if the line says it, or for the whole file.
        line: its first line, from 1; None if unknown.
        data: its fields; empty if there is only text.
        written: the text, if there are no fields.
    """

    file: Path
    place: str = ""
    line: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    written: str = ""

    @property
    def is_one_of_several(self) -> bool:
        """Whether the file may hold other descriptions beside it, as a table does."""
        return bool(self.place or self.line)

    @property
    def text(self) -> str:
        """All of it as text, for a model to read."""
        return self.written or json.dumps(self.data, ensure_ascii=False, indent=1)

    def where(self, path: str = "") -> str:
        """The place in words: `people.csv:7, field age`."""
        source = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        return ", ".join(part for part in (source, self.place, f"field {path}" if path else "") if part)


@dataclass(frozen=True)
class Refused:
    """A row or entry of which no persona can be made.

    Attributes:
        record: where it is.
        error: what is wrong with it.
    """

    record: Record
    error: InputError


@dataclass(frozen=True)
class Form:
    """One way to read a file as records: the whole as one, or the entries of a list.

    Attributes:
        records: the descriptions, in the file's order.
        mixed: whether it may hold other things besides descriptions of people, like a database's dump.
        refused: the rows that cannot be read.
    """

    records: tuple[Record, ...]
    mixed: bool = False
    refused: tuple[Refused, ...] = ()


def contents(path: Path) -> str:
    """The text of a file of descriptions.

    Raises:
        InputError: it cannot be read, is empty, too large, or not UTF-8; the line of the first wrong byte is named.
    """
    raw = raw_contents(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError("the file is not UTF-8 text", where=f"{path}:{line}", remedy="Save it as UTF-8.") from None
    if not text.strip():
        raise InputError("the file is empty", where=str(path), remedy="Name a file that describes a person.")
    return text


def raw_contents(path: Path) -> bytes:
    """The bytes of a file of descriptions.

    Raises:
        InputError: it is missing, not a file, not readable, or larger than `MAX_BYTES`.
    """
    return read_bytes(path, MAX_BYTES)
