"""A run's files, read back: JSON and JSON Lines, with one rule for what a kill, a disk or a hand has done to them.

A last line without its end that is no JSON was cut off when it was written: it is left out, and told. Any other line
that is not as it should be is an error that names file, line and field; for a reader that can do without, it is left
out and told as well. Lines with nothing on them say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean, quoted

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

DAMAGED: Final = "The file is damaged; take it from a backup, or run the conversation again."
_MOST_SHOWN: Final = 60
_MOST_DIGITS: Final = 20
"""Of a whole number of 64 bits, its sign included."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        where: file and line, for an error.
        row: its bytes, with their end.
        value: what it holds.
    """

    where: str
    row: bytes
    value: Any


def json_lines(
    path: Path, check: Callable[[Line], T], *, notes: list[str] | None = None, lenient: bool = False
) -> Iterator[T]:
    """The lines of a file one by one; none where there is no file. Blocks.

    Args:
        path: the file.
        check: makes of a line what it should be; raises InputError where it is not.
        notes: what the reader should know; added to at the end of the file.
        lenient: whether damaged lines are left out, and told in the notes.

    Raises:
        InputError: the file cannot be read, or, unless `lenient`, a line is damaged.
    """
    try:
        with path.open("rb") as file:
            yield from checked_rows(file, path, check, notes=notes, lenient=lenient)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise unreadable(path, error) from error


def checked_rows(
    rows: Iterable[bytes],
    path: Path,
    check: Callable[[Line], T],
    *,
    notes: list[str] | None = None,
    lenient: bool = False,
) -> Iterator[T]:
    """The same of a file that has been read: `rows` are its lines with their ends."""
    first = damaged = 0
    torn = False
    for number, row in enumerate(rows, start=1):
        where = f"{path}, line {number}"
        try:
            if row.strip():
                yield check(Line(where, row, parsed(row, where, whole_number=_kept)))
        except InputError:
            if is_torn(row):
                torn = True
            elif lenient:
                first, damaged = first or number, damaged + 1
            else:
                raise
    if notes is not None and torn:
        notes.append(f"The last line of {path.name} was cut off when it was written, and is left out.")
    if notes is not None and damaged:
        what = "1 line is" if damaged == 1 else f"{damaged} lines are"
        notes.append(f"{path.name} is damaged: {what} left out, the first is line {first}.")


def parsed(data: bytes, where: str, *, whole_number: Callable[[str], int] = int) -> Any:
    """What JSON says.

    Args:
        data: the bytes.
        where: the file, for the error.
        whole_number: makes a number of its digits; raises ValueError where there is none.

    Raises:
        InputError: it is no JSON, or nested too deeply.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise InputError("this is not JSON", where=where, remedy=DAMAGED) from error


def _kept(digits: str) -> int:
    """A number that checkpoints, into which lines go again, can keep."""
    if len(digits) > _MOST_DIGITS or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError("a whole number of more than 64 bits")
    return number


def is_torn(row: bytes) -> bool:
    """Whether a line was cut off when it was written, or is still being written: it has no end, and is no JSON."""
    if row.endswith(b"\n"):
        return False
    try:
        parsed(row, "")
    except InputError:
        return True
    return False


def mend(path: Path) -> None:
    """Take a line away that was torn when it was written, so that the next one begins on a line of its own.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        return
    with file:
        whole, last = 0, b""
        for line in file:
            whole, last = whole + len(last), line
        if not last or last.endswith(b"\n"):
            return
        if is_torn(last):
            file.truncate(whole)
        else:
            file.write(b"\n")


def checked(kind: type[Model], value: Any, where: str) -> Model:
    """A recorded value as what it should be.

    Args:
        kind: what it should be.
        value: as JSON has it.
        where: file and line, for the error.

    Raises:
        InputError: it does not fit; file, line and field are named.
    """
    return fitting(kind.model_validate, value, where)


def fitting(validate: Callable[[Any], T], value: Any, where: str) -> T:
    """The same by any validator of pydantic's."""
    try:
        return validate(value)
    except RecursionError as error:
        raise InputError("this is nested too deeply", where=where, remedy=DAMAGED) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = clean(".".join(str(part) for part in first["loc"]))
        given = "" if first["type"] == "missing" else f": {quoted(first['input'], _MOST_SHOWN)}"
        raise InputError(
            f"{first['msg'][:1].lower()}{first['msg'][1:]}{given}",
            where=f"{where}, field {field}" if field else where,
            remedy=DAMAGED,
        ) from error


def unreadable(path: Path, error: OSError) -> InputError:
    """That a file cannot be read."""
    return InputError(
        f"cannot be read: {error.strerror}", where=str(path), remedy="Check the file's kind and permissions."
    )
