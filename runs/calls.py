"""The requests of a run on disk: calls.jsonl, one line a request, and embeddings.jsonl, one line a text.

They are the run's accounts, also when it is resumed, and the record from which it is replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from persimchat.models.recording import Record, Row
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean

CALLS, EMBEDDINGS = "calls.jsonl", "embeddings.jsonl"
"""Requests to models; texts that a server embedded."""

_DAMAGED: Final = "The file is damaged; take it from a backup, or run the conversation again."


class EmbeddedText(TypedDict):
    """A line of embeddings.jsonl."""

    text: str
    """Digest of the text."""
    vector: str
    """Values as float32, little endian, in base64."""


class CallsFile:
    """Adds a run's requests to its files; what a killed process left of a line is taken away first.

    Each line is one write to the operating system, which takes some ten microseconds, so this is called in an event
    loop too.

    Args:
        folder: the run's.

    Raises:
        InputError: calls.jsonl cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}
        self._closed = False
        self._open(CALLS)

    def call(self, row: Row) -> None:
        """Write one request.

        Raises:
            InputError: it cannot be written.
        """
        self._line(CALLS, row)

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text; the file is made with the first one.

        Args:
            text: its digest.
            vector: float32 values as base64.

        Raises:
            InputError: it cannot be written.
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
                _mend(path)
                self._files[name] = path.open("ab", buffering=0)
            except OSError as error:
                raise _unwritable(path, error) from error
        return self._files[name]

    def _line(self, name: str, value: Mapping[str, Any]) -> None:
        # Every character outside ASCII is escaped: an answer may hold what no encoding takes.
        line = memoryview(json.dumps(value).encode() + b"\n")
        file = self._open(name)
        try:
            while line:
                line = line[file.write(line) :]
        except OSError as error:
            raise _unwritable(self._folder / name, error) from error
        if self._closed:
            self.close()


def calls_in(folder: Path) -> Iterator[Row]:
    """A run's requests in the order in which they ended, one by one; none where there is no file.

    Raises:
        InputError: a line is damaged; file and line are named. A torn last line is left out.
    """
    yield from _rows(folder / CALLS, Row)


def read_vectors(folder: Path) -> dict[str, str]:
    """What a server embedded for a run: a text's digest → its vector, as recorded; see `calls_in`."""
    embedded: Iterator[EmbeddedText] = _rows(folder / EMBEDDINGS, EmbeddedText)
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


def _rows(path: Path, kind: Any) -> Iterator[Any]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                where = f"{path}, line {number}"
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n"):
                        return
                    raise InputError("this is not JSON", where=where, remedy=_DAMAGED) from error
                yield _checked(value, kind, where)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="Check the file's kind and permissions."
        ) from error


def _checked(value: Any, kind: Any, where: str) -> Any:
    try:
        return _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = clean(".".join(map(str, first["loc"])))
        raise InputError(
            f"{first['msg'][:1].lower()}{first['msg'][1:]}",
            where=f"{where}, field {field}" if field else where,
            remedy=_DAMAGED,
        ) from error


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
        try:
            json.loads(last)
        except (ValueError, RecursionError):
            file.truncate(whole)
        else:
            file.write(b"\n")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot be written: {error.strerror}", where=str(path), remedy="Check the disk's space and permissions."
    )
