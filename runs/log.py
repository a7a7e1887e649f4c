"""A log: what has happened in a run, one event a row of one SQLite file, in the order in which it happened.

The file may hold LangGraph's checkpoints as well. An event that follows from a checkpoint names it, so that events
without their checkpoint can be taken back. Every row has a seal, a checksum by which damage is found. Each kind of
event is also a view with a column for every field, so that any program that reads SQLite reads a log.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from ..models.redaction import short
from ..state.errors import InputError, MachineError, PerSimChatError
from .folder.validation import as_text, fitting

FORMAT: Final = 3
"""The version of the file, in SQLite's `user_version`."""

IN_MEMORY: Final = "PRAGMA temp_store = MEMORY;"
"""Lets SQLite do without a folder for temporary files, which a container may not have."""
_PATIENCE_S: Final = 30.0
"""Seconds to wait while another connection writes."""
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS events (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, turn INTEGER, agent TEXT, checkpoint TEXT,
        body TEXT NOT NULL CHECK (json_valid(body)), seal INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS events_by_kind ON events (kind, turn);
"""
_INSERT: Final = "INSERT INTO events (kind, turn, agent, checkpoint, body, seal) VALUES (?, ?, ?, ?, ?, ?)"
DAMAGED: Final = "Take the file from a backup; what is whole can be read with: sqlite3 FILE .recover"


@dataclass(frozen=True)
class Kind:
    """A kind of event.

    Attributes:
        model: the class of its events.
        table: the name of its view.
        inner: the field that is kept in place of the whole event; empty to keep all fields.
        left_out: fields that are not kept.
        body: makes what is kept, in place of `inner` and `left_out`.
    """

    model: type[BaseModel]
    table: str
    inner: str = ""
    left_out: frozenset[str] = frozenset()
    body: Callable[[Any], dict[str, Any]] | None = None

    def kept(self, event: BaseModel) -> dict[str, Any]:
        """What is kept of an event."""
        if self.body is not None:
            return self.body(event)
        whole: BaseModel = getattr(event, self.inner) if self.inner else event
        return whole.model_dump(mode="json", exclude={"event", "version", *self.left_out})

    def read(self, body: Any, where: str) -> Any:
        """An event from what was kept.

        Raises:
            InputError: it does not fit.
        """
        return fitting(self.model.model_validate, {self.inner: body} if self.inner else body, where)

    @property
    def columns(self) -> list[str]:
        """The columns of its view."""
        model = self.model
        if self.inner:
            found = model.model_fields[self.inner].annotation
            model = found if isinstance(found, type) and issubclass(found, BaseModel) else model
        return [name for name in model.model_fields if name not in {"event", "version", *self.left_out}]


Kinds = Mapping[str, Kind]
"""The kinds of a log, by name."""


class Log:
    """The events of one file. Safe between threads; one process writes at a time.

    Args:
        path: of the file; made if it is missing.
        kinds: what it may hold.
        read_only: whether nothing is written; then the file must be there, and may be on a read-only medium.

    Raises:
        InputError: it cannot be opened, is no log, or was written in another format.
        MachineError: it cannot be made.
    """

    def __init__(self, path: Path, kinds: Kinds, *, read_only: bool = False) -> None:
        self.path, self._kinds, self._read_only = path, kinds, read_only
        self._names = {kind.model: name for name, kind in kinds.items()}
        self._tables = {kind.table for kind in kinds.values()}
        self._lock, self._closed = threading.RLock(), False
        self._starting = threading.Lock()
        self._writer: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        self._failed: PerSimChatError | None = None
        if read_only and not path.is_file():
            raise InputError("there is no such file", where=str(path), remedy="Give the folder of a run.")
        try:
            self._db = self._opened()
        except sqlite3.OperationalError as error:
            raise InputError(
                f"the log cannot be opened: {short(str(error))}",
                where=str(path),
                remedy="Check permissions and free space.",
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(short(str(error))) from error

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._connected(f"{self.path.absolute().as_uri()}?mode={'ro' if self._read_only else 'rwc'}")
        except sqlite3.OperationalError:
            if not self._read_only:
                raise
            return self._connected(f"{self.path.absolute().as_uri()}?immutable=1")  # a medium that cannot be written

    def _connected(self, address: str) -> sqlite3.Connection:
        db = sqlite3.connect(address, uri=True, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
        try:
            db.create_function("seal_of", 5, seal, deterministic=True)
            db.execute(IN_MEMORY)
            ((version,),) = db.execute("PRAGMA user_version").fetchall()
            if self._read_only and version == FORMAT:
                return db
            known = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            tables = {name for (name,) in db.execute(known)}
            if self._read_only and not version and not tables:
                raise InputError(
                    "nothing is written yet", where=str(self.path), remedy="The run has just begun: try again."
                )
            if version != FORMAT and tables:
                raise InputError(
                    f"the file has format {version}; this PerSimChat reads {FORMAT}",
                    where=str(self.path),
                    remedy="Read it with the version of PerSimChat that wrote it, or begin anew.",
                )
            if not self._read_only:
                db.executescript(
                    "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                    "PRAGMA wal_autocheckpoint = 250;"
                )
                if "events" not in tables or not self._tables <= tables:
                    db.executescript(f"BEGIN; {_TABLE} {''.join(self._views())} PRAGMA user_version = {FORMAT}; COMMIT")
        except BaseException:
            db.close()
            raise
        return db

    def _views(self) -> Iterator[str]:
        for name, kind in self._kinds.items():
            columns = ", ".join(f"body ->> '$.{column}' AS \"{column}\"" for column in kind.columns)
            query = f"SELECT {columns} FROM events WHERE kind = '{name}' ORDER BY number"
            yield f"CREATE VIEW IF NOT EXISTS {kind.table} AS {query};"

    def append(self, events: Iterable[BaseModel], checkpoint: str | None = None) -> None:
        """Keep events: all of them or none.

        Args:
            events: of the log's kinds.
            checkpoint: from which they follow; None if they are never taken back.

        Raises:
            MachineError: they, or some of `append_soon`, cannot be written.
        """
        rows = self._rows_of(events, checkpoint)
        self.settle()
        self._insert(rows)

    def append_soon(self, events: Iterable[BaseModel]) -> None:
        """Keep events that are never taken back, in a thread, in the order of the calls: nobody waits for the disk.

        Raises:
            MachineError: some before them could not be written.
        """
        if self._failed is not None:
            self.settle()
        rows = self._rows_of(events, None)
        with self._starting:
            if self._writer is None:
                self._writer = ThreadPoolExecutor(1, thread_name_prefix="log")
            self._last = self._writer.submit(self._keep, rows)

    def settle(self) -> None:
        """Wait until all events of `append_soon` are kept. Blocks.

        Raises:
            MachineError: some cannot be written.
        """
        if (last := self._last) is not None:
            last.result()
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed

    def _keep(self, rows: list[tuple[Any, ...]]) -> None:
        try:
            self._insert(rows)
        except PerSimChatError as error:
            self._failed = self._failed or error

    def _rows_of(self, events: Iterable[BaseModel], checkpoint: str | None) -> list[tuple[Any, ...]]:
        rows = []
        for event in events:
            name = self._names[type(event)]
            text = as_text(self._kinds[name].kept(event))
            told = getattr(event, self._kinds[name].inner) if self._kinds[name].inner else event
            turn, agent = getattr(told, "turn", None), getattr(told, "agent", None) or getattr(told, "speaker", None)
            keys = (name, turn, agent, checkpoint, text)
            rows.append((*keys, seal(*keys)))
        return rows

    def _insert(self, rows: list[tuple[Any, ...]]) -> None:
        if rows:
            with self._writing() as db:
                db.executemany(_INSERT, rows)

    def delete(self, where: str, *values: Any) -> int:
        """Take events back; returns how many.

        Args:
            where: an SQL condition on `events`.
            values: of its parameters.
        """
        with self._writing() as db:
            return db.execute(f"DELETE FROM events WHERE {where}", values).rowcount

    def copy_from(self, other: Path, where: str, *values: Any) -> None:
        """Add events of another log of the same kinds, without their checkpoints: they are never taken back."""
        source = Log(other, self._kinds, read_only=True)
        with source:
            source.check()
            query = f"SELECT kind, turn, agent, body FROM events WHERE {where} ORDER BY number"
            rows = source.rows(query, *values)
        with self._writing() as db:
            db.executemany(_INSERT, [(k, t, a, None, b, seal(k, t, a, None, b)) for k, t, a, b in rows])

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of an SQL query.

        Raises:
            InputError: the file is damaged.
        """
        self.settle()
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                raise self._damaged(short(str(error))) from error

    def read(
        self,
        *kinds: str,
        where: str = "1",
        values: Collection[Any] = (),
        change: Callable[[str, Any], Any] | None = None,
    ) -> Iterator[Any]:
        """Events in their order, each as its class has it.

        Args:
            kinds: their names; none for all.
            where: an SQL condition on `events`, for fewer.
            values: of its parameters.
            change: given a kind and what is kept of an event, returns what is read of it.

        Raises:
            InputError: one is damaged, and which.
        """
        for number, kind, body in self.bodies(*kinds, where=where, values=values):
            try:
                body = body if change is None else change(kind, body)
            except (KeyError, TypeError, AttributeError) as error:
                raise self._damaged(f"event {number} cannot be read") from error
            yield self._kinds[kind].read(body, f"{self.path}, event {number}")

    def bodies(self, *kinds: str, where: str = "1", values: Collection[Any] = ()) -> Iterator[tuple[int, str, Any]]:
        """`read` without a class: number, kind and what is kept of each event, as parsed from JSON."""
        wanted = kinds or tuple(self._kinds)
        query = (
            f"SELECT number, kind, turn, agent, checkpoint, body, seal FROM events "
            f"WHERE kind IN ({', '.join('?' * len(wanted))}) AND ({where}) ORDER BY number"
        )
        for number, *keys, sealed in self.rows(query, *wanted, *values):
            if seal(*keys) != sealed:
                raise self._damaged(f"event {number} ({short(str(keys[0]))}) does not match its seal")
            try:
                body = json.loads(keys[-1])
            except (ValueError, RecursionError) as error:
                raise self._damaged(f"event {number} cannot be read") from error
            yield number, keys[0], body

    def read_whole(self, kind: str) -> tuple[list[Any], int]:
        """The events of a kind that are whole, and how many are damaged."""
        damaged = self.damaged(kind)
        return list(self.read(kind, where=f"number NOT IN ({', '.join(map(str, damaged))})")), len(damaged)

    def damaged(self, *kinds: str) -> list[int]:
        """The numbers of damaged events; without kinds, of all."""
        return [number for number, kind in self._unsealed() if not kinds or kind in kinds]

    def _unsealed(self) -> list[tuple[int, str]]:
        query = "SELECT number, kind FROM events WHERE seal IS NOT seal_of(kind, turn, agent, checkpoint, body)"
        return self.rows(f"{query} ORDER BY number")

    def check(self, *, leave_out: Collection[str] = ()) -> list[int]:
        """Look at every page and every event.

        Args:
            leave_out: kinds whose damaged events are told, not refused: accounts matter less than the conversation.

        Returns:
            The numbers of damaged events of these kinds.

        Raises:
            InputError: something is damaged.
        """
        ((found,), *_) = self.rows("PRAGMA integrity_check('events')")
        if found != "ok":
            raise self._damaged(short(str(found).splitlines()[-1]))
        damaged = self._unsealed()
        for number, kind in damaged:
            if kind not in leave_out:
                raise self._damaged(f"event {number} ({short(str(kind))}) does not match its seal")
        return [number for number, _ in damaged]

    def close(self) -> None:
        """Close the file; of a log that was written, the write-ahead log is folded in, so that it is one file."""
        with self._starting:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.shutdown()  # after what it still has to write
        self._closing()

    def _closing(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if not self._read_only:
                with suppress(sqlite3.Error):  # a reader is at it: the next one that closes folds it in
                    self._db.execute("PRAGMA busy_timeout = 200")
                    self._db.execute("PRAGMA journal_mode = DELETE")
            self._db.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            late = self._closed  # the usage of a request that was cancelled comes after the run
            if late:
                self._db, self._closed = self._opened(), False
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise MachineError(
                    f"the log cannot be written: {short(str(error))}",
                    where=str(self.path),
                    remedy="Check free space and permissions.",
                ) from error
            except sqlite3.DatabaseError as error:
                raise self._damaged(short(str(error))) from error
            finally:
                if late:
                    self._closing()

    def _damaged(self, how: str) -> InputError:
        return InputError(f"the log is damaged: {how}", where=str(self.path), remedy=DAMAGED)


def seal(*keys: Any) -> int:
    """A checksum of an event's columns."""
    return zlib.crc32("\0".join("" if key is None else str(key) for key in keys).encode("utf-8", "surrogatepass"))
