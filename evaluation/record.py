"""Answers of evaluators on disk: a file that is added to while its folder is held, so that no question is paid twice.

Each answer is one line, written at once. A kill costs the answers that were under way, and at most tears the last line,
which is taken away before the next one is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Generic

from persimchat.runs.folder.jsonl import mend
from persimchat.runs.folder.judgements import A, Key, answers_in
from persimchat.runs.folder.lock import held
from persimchat.state.errors import MachineError

AGAIN: Final = frozenset({"too long"})
"""Reasons for a missing score that cost nothing to find, and may be gone with another setting: they are looked for
again."""


class Answers(Generic[A]):
    """The answers in a file that is open for more.

    Attributes:
        rows: by the question's key.
    """

    def __init__(self, rows: dict[Key, A], path: Path, file: BinaryIO) -> None:
        self.rows, self._path, self._file = rows, path, file

    def has(self, key: Key) -> bool:
        """Whether a question need not be asked."""
        return is_answered(self.rows, key)

    def add(self, row: A) -> None:
        """Write an answer, unless the file says the same.

        Raises:
            MachineError: the file cannot be written.
        """
        if self.rows.get(row.key) == row:
            return
        self.rows[row.key] = row
        text = json.dumps(row.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"))
        line = memoryview(text.encode() + b"\n")
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            raise MachineError.caused_by(error, "cannot be written", str(self._path)) from error


def is_answered(rows: dict[Key, A], key: Key) -> bool:
    """Whether a question has an answer that counts."""
    return key in rows and rows[key].missing not in AGAIN


@contextmanager
def opened(path: Path, kind: type[A]) -> Iterator[Answers[A]]:
    """Hold the file's folder, and open the file to be added to; it is made if it is missing. Blocks.

    Args:
        path: the file.
        kind: what its lines hold.

    Raises:
        InputError: somebody else works in the folder, or a line is damaged.
        MachineError: the file cannot be written.
    """
    with held(path.parent):
        rows = answers_in(path, kind)
        try:
            mend(path)
            file = path.open("ab", buffering=0)
        except OSError as error:
            raise MachineError.caused_by(error, "cannot be written", str(path)) from error
        with file:
            yield Answers(rows, path, file)
