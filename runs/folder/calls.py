"""The requests of a run on disk: calls.jsonl, one line a request, and embeddings.jsonl, one line a text.

They are the run's accounts, also when it is resumed, and the record from which it is replayed.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from persimchat.models.recording import Record, Row, from_record
from persimchat.runs.folder.jsonl import DAMAGED, Line, checked, fitting, is_torn, json_lines
from persimchat.state.errors import InputError, MachineError

CALLS, EMBEDDINGS = "calls.jsonl", "embeddings.jsonl"
"""Requests to models; texts that a server embedded."""

_FLOAT: Final = 4
"""Bytes of a vector's number."""


class EmbeddedText(TypedDict):
    """A line of embeddings.jsonl."""

    text: str
    """Digest of the text."""
    vector: str
    """Values as float32, little endian, in base64."""


class CallsFile:
    """Adds a run's requests to its files; what a killed process left of a line is taken away before the first of them.

    Each line is one write to the operating system, which takes some ten microseconds, so this is called in an event
    loop too.

    Args:
        folder: the run's.

    Raises:
        MachineError: calls.jsonl cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._closed = False
        self._mended = False
        self._open(CALLS)

    def mend(self) -> None:
        """Take away what a killed process left of a line.

        Raises:
            MachineError: a file cannot be written.
        """
        for name in (CALLS, EMBEDDINGS):
            try:
                _mend(self._folder / name)
            except OSError as error:
                raise _unwritable(self._folder / name, error) from error
        self._mended = True

    def call(self, row: Row) -> None:
        """Write one request.

        Raises:
            MachineError: it cannot be written.
        """
        self._line(CALLS, row.line())

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text; the file is made with the first one.

        Args:
            text: its digest.
            vector: float32 values as base64.

        Raises:
            MachineError: it cannot be written.
        """
        self._line(EMBEDDINGS, {"text": text, "vector": vector})

    def close(self) -> None:
        """Close the files. What a request that was cancelled late has used is still written, to a file opened anew."""
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
        except UnicodeEncodeError:  # an answer may hold what no encoding takes
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
    """A run's requests in the order in which they ended, one by one; none where there is no file.

    Args:
        folder: the run's.
        lost: where it is to be told what could not be read, which is then left out.

    Raises:
        InputError: the file cannot be read, or, without `lost`, a line is damaged; file and line are named. A torn last
            line is left out.
    """
    return json_lines(folder / CALLS, _request, notes=lost, lenient=lost is not None)


def read_vectors(folder: Path, lost: list[str] | None = None) -> dict[str, str]:
    """What a server embedded for a run: a text's digest → its vector, as recorded; see `calls_in`."""
    embedded = json_lines(folder / EMBEDDINGS, _embedded, notes=lost, lenient=lost is not None)
    return {line["text"]: line["vector"] for line in embedded}


def read_calls(folder: Path) -> list[Row]:
    """All of a run's requests; see `calls_in`."""
    return list(calls_in(folder))


class Answers(Record):
    """The answers of a run, to be given to a `Ledger` that replays it."""

    @classmethod
    def read(cls, folder: Path) -> Answers:
        """Read them from a run's folder. It reads whole files: in an event loop call it in a thread.

        Raises:
            InputError: a file is damaged; file and line are named.
        """
        return cls(calls_in(folder), read_vectors(folder))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _request(line: Line) -> Row:
    """A line of calls.jsonl, with an answer that can be given again and figures in their ranges."""
    row = checked(Row, line.value, line.where)
    if row.answer is not None:
        fitting(_answer, row.answer, f"{line.where}, field answer")
    return row


def _answer(answer: dict[str, Any]) -> None:
    try:
        from_record(answer)
    except TypeError as error:
        raise InputError(f"this is no message: {error}", remedy=DAMAGED) from error


def _embedded(line: Line) -> EmbeddedText:
    """A line of embeddings.jsonl."""
    embedded: EmbeddedText = fitting(_adapter(EmbeddedText).validate_python, line.value, line.where)
    try:
        if len(b64decode(embedded["vector"], validate=True)) % _FLOAT:
            raise ValueError("a number is cut off")
    except ValueError as error:
        raise InputError(f"this is no vector: {error}", where=line.where, remedy=DAMAGED) from error
    return embedded


def _mend(path: Path) -> None:
    """Take a line away that was torn when it was written, so that the next one begins on a line of its own."""
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


def _unwritable(path: Path, error: OSError) -> MachineError:
    return MachineError.caused_by(error, "cannot be written", str(path))
