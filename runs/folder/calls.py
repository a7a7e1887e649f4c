"""The requests of a run on disk: calls.jsonl, one line per request, and embeddings.jsonl, one line per text.

They are the run's accounts, also after it is resumed, and the record for a replay.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from persimchat.models.recording import Record, Row, from_record
from persimchat.runs.folder.jsonl import DAMAGED, Line, checked, fitting, json_lines, mend
from persimchat.state.errors import InputError, MachineError

CALLS, EMBEDDINGS = "calls.jsonl", "embeddings.jsonl"
"""Requests to models; texts that a server embedded."""

_FLOAT: Final = 4
"""Bytes per number of a vector."""


class EmbeddedText(TypedDict):
    """A line of embeddings.jsonl."""

    text: str
    """Digest of the text."""
    vector: str
    """Values as float32, little endian, in base64."""


class CallsFile:
    """Appends the requests of a run to its files; first removes a line that a killed process left torn.

    Each line is one write to the operating system, which takes about ten microseconds, so an event loop may call this.

    Args:
        folder: the folder of the run.
        beside: gives what a line of calls.jsonl says besides the request; readers of requests ignore it.

    Raises:
        MachineError: calls.jsonl cannot be written.
    """

    def __init__(self, folder: Path, beside: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._folder, self._beside = folder, beside
        self._files: dict[str, BinaryIO] = {}
        self._closed = False
        self._mended = False
        self._open(CALLS)

    def mend(self) -> None:
        """Remove a line that a killed process left torn.

        Raises:
            MachineError: a file cannot be written.
        """
        for name in (CALLS, EMBEDDINGS):
            try:
                mend(self._folder / name)
            except OSError as error:
                raise _unwritable(self._folder / name, error) from error
        self._mended = True

    def call(self, row: Row) -> None:
        """Write one request.

        Raises:
            MachineError: it cannot be written.
        """
        self._line(CALLS, {**row.line(), **self._beside()})

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text; the first one makes the file.

        Args:
            text: its digest.
            vector: float32 values as base64.

        Raises:
            MachineError: it cannot be written.
        """
        self._line(EMBEDDINGS, {"text": text, "vector": vector})

    def close(self) -> None:
        """Close the files. The usage of a request that is cancelled later reopens the file."""
        self._closed = True
        while self._files:
            self._files.popitem()[1].close()

    def _open(self, name: str) -> BinaryIO:
        if name not in self._files:
            path = self._folder / name
            try:
                self._files[name] = path.open("ab", buffering=0)
            except OSError as error:
                raise _unwritable(path, error) from error
        return self._files[name]

    def _line(self, name: str, value: Mapping[str, Any]) -> None:
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # an answer may hold characters that cannot be encoded
            text = json.dumps(value, separators=(",", ":")).encode()
        line = memoryview(text + b"\n")
        if not self._mended:
            self.mend()
        file = self._open(name)
        try:
            while line:
                line = line[file.write(line) :]
        except OSError as error:
            raise _unwritable(self._folder / name, error) from error
        if self._closed:
            self.close()


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


def read_vectors(folder: Path, lost: list[str] | None = None) -> dict[str, str]:
    """The texts that a server embedded for a run: digest → vector, as recorded; see `calls_in`."""
    embedded = json_lines(folder / EMBEDDINGS, _embedded, notes=lost, lenient=lost is not None)
    return {line["text"]: line["vector"] for line in embedded}


def read_calls(folder: Path) -> list[Row]:
    """All requests of a run; see `calls_in`."""
    return list(calls_in(folder))


class Answers(Record):
    """The answers of a run, for a `Ledger` that replays it."""

    @classmethod
    def read(cls, folder: Path) -> Answers:
        """Read them from the folder of a run. It reads whole files: in an event loop, call it in a thread.

        Raises:
            InputError: a file is damaged; the error names file and line.
        """
        return cls(calls_in(folder), read_vectors(folder))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


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


def _embedded(line: Line) -> EmbeddedText:
    """A line of embeddings.jsonl."""
    embedded: EmbeddedText = fitting(_adapter(EmbeddedText).validate_python, line.value, line.where)
    try:
        if len(b64decode(embedded["vector"], validate=True)) % _FLOAT:
            raise ValueError("a number is cut off")
    except ValueError as error:
        raise InputError(f"this is not a vector: {error}", where=line.where, remedy=DAMAGED) from error
    return embedded


def _unwritable(path: Path, error: OSError) -> MachineError:
    return MachineError.caused_by(error, "cannot be written", str(path))
