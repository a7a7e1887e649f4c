"""A file of minds, read a line at a time: where each mind stands is kept, and the rest stays on disk.

A run of 2,000 turns has minds of a hundred megabytes; the file is gone through once, and later only as far as it has
grown. A last line that is still being written, or was torn, is not there yet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Literal

from persimchat.runs.folder.jsonl import checked, is_torn, parsed, unreadable
from persimchat.runs.folder.mind_lines import MindLines
from persimchat.runs.folder.mind_record import MindRecord
from persimchat.state.errors import InputError

Thinking = Literal["plan", "insights"]

_HEAD: Final = re.compile(rb'\{"turn":\s*(\d+),\s*"agent":\s*("(?:[^"\\]|\\.)*")')
_NOTHING: Final[dict[Thinking, tuple[bytes, bytes]]] = {
    "plan": (b'"plan":null', b'"plan": null'),
    "insights": (b'"insights":[]', b'"insights": []'),
}
"""What a line holds that has no plan and no insights, now and in earlier versions; within a text these bytes would have
a backslash in them."""

_TELLS: Final = b'"memories":['
"""What a line holds that says what memories are."""


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    length: int
    line: int
    may_have: frozenset[str]


class MindFile:
    """The minds of a file, by agent and turn. Every method blocks, and may be called from any thread.

    Args:
        path: the file; it may still be missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._forget()

    def agents(self) -> list[str]:
        """Whose minds there are, in the order in which they came."""
        with self._lock:
            self._extend()
            return list(self._places)

    def read(self, agent: str, turn: int) -> MindRecord | None:
        """One mind; None where there is none of this agent and turn.

        Raises:
            InputError: the file cannot be read, or the line is damaged.
        """
        with self._lock:
            self._extend()
            place = self._places.get(agent, {}).get(turn)
            return None if place is None else self._mind(place)

    def before(self, agent: str, turn: int) -> MindRecord | None:
        """An agent's last mind before a turn; None where there is none."""
        with self._lock:
            self._extend()
            found = self._places.get(agent, {})
            last = max((known for known in found if known < turn), default=None)
            return None if last is None else self._mind(found[last])

    def thoughts(self, agent: str, turn: int, what: Thinking) -> Iterator[int]:
        """Turns up to `turn` at which an agent may have thought so, the latest first; a line may still hold nothing."""
        with self._lock:
            self._extend()
            known = [at for at, place in self._places.get(agent, {}).items() if at <= turn and what in place.may_have]
        yield from sorted(known, reverse=True)

    def _forget(self) -> None:
        self._places: dict[str, dict[int, _Place]] = {}
        self._told = MindLines()
        self._file = 0
        self._end = self._lines = 0

    def _extend(self) -> None:
        """Take in what has been written since the last time; a file that was replaced is read anew."""
        try:
            about = self.path.stat()
            if about.st_ino != self._file or about.st_size < self._end:
                self._forget()
                self._file = about.st_ino
            if about.st_size == self._end:
                return
            with self.path.open("rb") as file:
                file.seek(self._end)
                for row in file:
                    if is_torn(row):
                        break
                    self._take(row)
        except FileNotFoundError:
            self._forget()
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _take(self, row: bytes) -> None:
        if row.strip():
            turn, agent = self._head(row)
            if _TELLS in row:
                self._learn(row)
            may_have = frozenset(what for what, nothing in _NOTHING.items() if not any(n in row for n in nothing))
            self._places.setdefault(agent, {})[turn] = _Place(self._end, len(row), self._lines + 1, may_have)
        self._lines += row.endswith(b"\n")
        self._end += len(row)

    def _learn(self, row: bytes) -> None:
        with suppress(InputError):  # reading that line raises the error
            self._told.learn(parsed(row, str(self.path)))

    def _head(self, row: bytes) -> tuple[int, str]:
        """Turn and agent of a line, without reading all of it where it is written as it is written today."""
        found = _HEAD.match(row)
        if found:
            try:
                return int(found[1]), json.loads(found[2])
            except ValueError:
                pass  # damaged: the whole line says how
        mind = self._checked(row, self._lines + 1)
        return mind.turn, mind.agent

    def _mind(self, place: _Place) -> MindRecord:
        try:
            with self.path.open("rb") as file:
                file.seek(place.start)
                row = file.read(place.length)
        except OSError as error:
            raise unreadable(self.path, error) from error
        return self._checked(row, place.line)

    def _checked(self, row: bytes, line: int) -> MindRecord:
        where = f"{self.path}, line {line}"
        return checked(MindRecord, self._told.filled(parsed(row, where), where), where)
