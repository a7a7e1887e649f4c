"""Writes parts of a world's folder anew beside the old ones, and swaps them: deleted words remain in no file.

A database keeps what was deleted: SQLite in free pages, Chroma in its log, its index and its full-text table. So what
stays is copied to new files. A kill leaves a folder that opens: before the swap it is the old one; after it began,
`settle` finishes it, which everybody who opens a world calls first.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from persimchat.memory.chroma_client import blank_spare
from persimchat.memory.store import MemoryStore
from persimchat.runs.folder.jsonl import mend
from persimchat.state.errors import MachineError

PART, READY = ".renewed.part", ".renewed"
"""Folders within a world's: what is being written anew, and what is complete and takes its place."""
_OLD: Final = ".old"
_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database."""

Row = dict[str, Any]
Change = Callable[[str, Row], Row | None]
"""What becomes of a row of a table: the row to write, or None."""
Held = Mapping[tuple[str, str, str], Collection[str]]
"""Ids of memories by simulation, agent and embedding."""


@contextmanager
def renewed(folder: Path) -> Iterator[Path]:
    """A folder for new files, each under its name; at the end they take the places of the old ones, all or none.

    Args:
        folder: a world's, which nobody else works on.

    Raises:
        MachineError: a file cannot be written.
    """
    settle(folder)
    part = folder / PART
    try:
        part.mkdir()
        yield part
        for path in part.rglob("*"):
            if path.is_file():
                _sync(path)
        part.rename(folder / READY)
    except OSError as error:
        raise MachineError.caused_by(error, "cannot be written anew", str(folder)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    settle(folder)


def settle(folder: Path) -> None:
    """Finish what a killed process has left: swap what is complete, remove what is not.

    Args:
        folder: a world's, which nobody else works on.

    Raises:
        MachineError: a file cannot be moved or removed.
    """
    try:
        if (folder / PART).exists():
            shutil.rmtree(folder / PART)
        ready = folder / READY
        if not ready.is_dir():
            return
        old = ready / _OLD
        old.mkdir(exist_ok=True)
        for new in sorted(ready.iterdir()):
            if new != old:
                _swap(new, folder / new.name, old)
        _sync(folder)
        shutil.rmtree(ready)
    except OSError as error:
        raise MachineError.caused_by(error, "cannot be written anew", str(folder)) from error


def _swap(new: Path, place: Path, old: Path) -> None:
    for ending in _SIDE_FILES:  # of the old database: they would be taken for the new one's
        place.with_name(place.name + ending).unlink(missing_ok=True)
    if place.is_dir():
        if (old / place.name).exists():
            shutil.rmtree(old / place.name)
        place.rename(old / place.name)
    new.replace(place)


def copy_database(old: Path, new: Path, change: Change) -> None:
    """Copy a SQLite database row by row.

    Args:
        old: its file.
        new: the file of the copy.
        change: what becomes of each row.

    Raises:
        OSError: a file cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(old)) as source, closing(sqlite3.connect(new)) as target:
            for pragma in ("page_size", "user_version"):
                ((value,),) = source.execute(f"PRAGMA {pragma}")
                target.execute(f"PRAGMA {pragma} = {int(value)}")
            made = source.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
            for kind, _, sql in made:
                if kind == "table":
                    target.execute(sql)
            for table in [name for kind, name, _ in made if kind == "table"]:
                _copy_table(source, target, table, change)
            for kind, _, sql in made:
                if kind != "table" and sql:
                    target.execute(sql)
            target.commit()
    except sqlite3.Error as error:
        raise OSError(0, f"the database cannot be copied: {error}", str(old)) from error


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str, change: Change) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    rows = source.execute(f"SELECT * FROM {quoted}")
    columns = [column[0] for column in rows.description]
    marks = ", ".join("?" * len(columns))
    for values in rows:
        row = change(table, dict(zip(columns, values, strict=True)))
        if row is not None:
            target.execute(f"INSERT INTO {quoted} VALUES ({marks})", [row[column] for column in columns])


def copy_memories(old: Path, new: Path, survivors: Held) -> None:
    """Copy the memories that stay into a new Chroma folder.

    Raises:
        MachineError: Chroma failed.
    """
    source, target = MemoryStore(str(old)), MemoryStore(str(new))
    try:
        for (simulation, agent, embedding), ids in survivors.items():
            source.copy_to(target, simulation, simulation, agent, embedding, list(ids))
    finally:
        source.close()
        target.close()
    if strange := blank_spare(new):
        raise MachineError(
            "an index of memories has a form that is not known, so nobody can say what is in it",
            where=str(strange[0]),
            remedy="Install the version of Chroma that PerSimChat was tested with, and try again.",
        )


def copy_lines(old: Path, new: Path, change: Callable[[Row], Row | None]) -> int:
    """Copy a file of JSON lines; one that is no object is left out, because nobody can say whom it is about.

    Args:
        old: the file.
        new: the copy.
        change: what becomes of each parsed line: the value to write, or None.

    Returns:
        How many lines were left out.

    Raises:
        OSError: a file cannot be read or written.
    """
    mend(old)
    gone = 0
    with old.open("rb") as source, new.open("wb") as target:
        for line in source:
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            kept = change(value) if isinstance(value, dict) else None
            if kept is None:
                gone += 1
            elif kept is value:
                target.write(line)
            else:
                target.write(json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    shutil.copymode(old, new)
    return gone


def _sync(path: Path) -> None:
    with suppress(PermissionError):  # folders cannot be opened everywhere
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
