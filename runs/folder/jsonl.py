"""Reads JSON and JSON Lines of a run's files, with one rule for damage by a kill, a disk or an editor.

A last line that has no line end and is not JSON was cut off while it was written: it is left out, with a note. Any
other invalid line is an error that names file, line and field; a lenient reader leaves it out, with a note. Blank lines
are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from ...models.recording import Row, from_record
from ...state.errors import InputError, MachineError
from ...state.plain_text import clean, quoted

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)

DAMAGED: Final = "The file is damaged; take it from a backup, or run the conversation again."
_MOST_SHOWN: Final = 60
_MOST_DIGITS: Final = 20
"""Most characters of an integer of 64 bits, its sign included."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        where: file and line, for an error.
        value: its parsed value.
    """

    where: str
    value: Any


def json_lines(
    path: Path, check: Callable[[Line], T], *, notes: list[str] | None = None, lenient: bool = False
) -> Iterator[T]:
    """The lines of a file one by one; none if there is no file. Blocks.

    Args:
        path: the file.
        check: converts a line; raises InputError if it is invalid.
        notes: receives remarks for the reader at the end of the file.
        lenient: whether to leave damaged lines out, with a note.

    Raises:
        InputError: the file cannot be read, or, unless `lenient`, a line is damaged.
    """
    damaged: list[int] = []
    torn = False
    try:
        with path.open("rb") as rows:
            for number, row in enumerate(rows, start=1):
                where = f"{path}, line {number}"
                try:
                    if row.strip():
                        yield check(Line(where, parsed(row, where, whole_number=_kept)))
                except InputError:
                    if is_torn(row):
                        torn = True
                    elif lenient:
                        damaged.append(number)
                    else:
                        raise
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}",
            where=str(path),
            remedy="Check that it is a file and that you may read it.",
        ) from error
    if notes is not None and torn:
        notes.append(f"The last line of {path.name} was cut off when it was written, and is left out.")
    if notes is not None and damaged:
        what = "1 line is" if len(damaged) == 1 else f"{len(damaged)} lines are"
        notes.append(f"{path.name} is damaged: {what} left out, the first is line {damaged[0]}.")


def parsed(data: bytes, where: str, *, whole_number: Callable[[str], int] = int) -> Any:
    """Parse JSON.

    Args:
        data: the bytes.
        where: the file, for the error.
        whole_number: converts the digits of an integer; raises ValueError if it refuses them.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), parse_int=whole_number)
    except (ValueError, RecursionError) as error:
        raise InputError("this is not JSON", where=where, remedy=DAMAGED) from error


def _kept(digits: str) -> int:
    """An integer that fits into checkpoints, because values of lines return there."""
    if len(digits) > _MOST_DIGITS or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError("a whole number of more than 64 bits")
    return number


def is_torn(row: bytes) -> bool:
    """Whether a line was cut off or is still being written: it has no line end and is not JSON."""
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
    """A recorded value, validated.

    Args:
        kind: its type.
        value: as parsed from JSON.
        where: file and line, for the error.

    Raises:
        InputError: it is invalid; the error names file, line and field.
    """
    return fitting(kind.model_validate, value, where)


def fitting(validate: Callable[[Any], T], value: Any, where: str) -> T:
    """`fitting` with any validator of pydantic."""
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


def as_text(value: Any) -> str:
    """JSON on one line, which any file and database can keep: signs that cannot be encoded are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


CALLS, EMBEDDINGS = "calls.jsonl", "embeddings.jsonl"
"""Requests to models; texts that a server embedded."""


class CallsFile:
    """Appends requests to files; first removes a line that a killed process left torn.

    Each line is one write to the operating system, so an event loop may call this.

    Args:
        folder: of the files.

    Raises:
        MachineError: a file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in (CALLS, EMBEDDINGS):
            with _written(folder / name):
                mend(folder / name)

    def call(self, row: Row) -> None:
        """Write one request; raises MachineError if it cannot be written."""
        self._line(CALLS, row.line())

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text; raises as `call`.

        Args:
            text: its digest.
            vector: float32 values as base64.
        """
        self._line(EMBEDDINGS, {"text": text, "vector": vector})

    def _line(self, name: str, value: Mapping[str, Any]) -> None:
        path = self._folder / name
        with _written(path), path.open("ab") as file:
            file.write(f"{as_text(value)}\n".encode())


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineError.caused_by(error, "cannot be written", str(path)) from error


def calls_in(folder: Path, lost: list[str] | None = None) -> Iterator[Row]:
    """The requests of a run in the order in which they ended, one by one; none if there is no file.

    Args:
        folder: the folder of the run.
        lost: if given, receives a note on each line that cannot be read, and the line is left out.

    Raises:
        InputError: the file cannot be read, or, without `lost`, a line is damaged; the error names file and line. A
            torn last line is left out.
    """
    return json_lines(folder / CALLS, _request, notes=lost, lenient=lost is not None)


def _request(line: Line) -> Row:
    """A line of calls.jsonl, checked: its answer can be repeated, and its figures are in their ranges."""
    row = checked(Row, line.value, line.where)
    if row.answer is not None:
        fitting(_answer, row.answer, f"{line.where}, field answer")
    return row


def _answer(answer: dict[str, Any]) -> None:
    try:
        from_record(answer)
    except TypeError as error:
        raise InputError(f"this is not a message: {error}", remedy=DAMAGED) from error
