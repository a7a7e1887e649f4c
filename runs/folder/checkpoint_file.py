"""Checkpoints in a file: LangGraph's SQLite saver, extended to keep less and to detect damage.

Every row has a seal, a checksum of its key columns; values have checksums of their own. SQLite's own check finds keys
that differ from their index, and broken pages. Values are compressed with dictionaries, each kept in the transaction of
the checkpoint with which it was made (`runs/folder/checkpoint_values.py`).

The tasks of a step are kept as long as they may have to be repeated. Once the next checkpoint exists, their input, by
far the largest part of a checkpoint, is dropped. The channels remain: from them, the states of all turns are restored.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Send

from persimchat.graph.checkpoint_ids import id_above
from persimchat.runs.folder.checkpoint_values import Dictionaries, Serializer, damaged
from persimchat.state.errors import InputError

_TASKS: Final = "__pregel_tasks"
"""LangGraph's channel of the next tasks, each with its input."""
_NEXT: Final = "branch:to:"
"""Prefix of LangGraph's channels that trigger the next nodes."""

_CHECKPOINTS: Final = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "metadata")
_WRITES: Final = ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "task_path", "idx", "channel", "type")
_SEALED: Final = {"checkpoints": _CHECKPOINTS, "writes": _WRITES}
"""By table, the columns that a seal covers: all but the value."""

_DICTIONARIES: Final = "CREATE TABLE IF NOT EXISTS dictionaries (number INTEGER PRIMARY KEY, value BLOB NOT NULL)"
_NEW_FILE: Final = """
    PRAGMA page_size = 16384;
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = 250;
    CREATE TABLE IF NOT EXISTS writes (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        task_path TEXT NOT NULL DEFAULT '',
        idx INTEGER NOT NULL,
        channel TEXT NOT NULL,
        type TEXT,
        value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    ) WITHOUT ROWID;
"""
"""LangGraph's table of writes, but without a separate index; a file that has the table is not changed."""
_EVERY, _FIRST = 32, 4
"""Number of checkpoints after which a new dictionary is made; the first one is made sooner."""

_PARTS: Final = frozenset({"v", "id", "channel_values", "channel_versions", "versions_seen"})
"""Fields of every checkpoint."""

_PUT: Final = f"INSERT OR REPLACE INTO checkpoints ({', '.join(_CHECKPOINTS)}, checkpoint, seal) VALUES (?{', ?' * 7})"
_WRITE: Final = f"INTO writes ({', '.join(_WRITES)}, value, seal) VALUES (?{', ?' * 9})"
_IN: Final = "thread_id = ? AND checkpoint_ns = ?"
_OF: Final = f"{_IN} AND checkpoint_id = ?"

_CHANGES: Final = "counters_since_delta_snapshot"
"""LangGraph's metadata on the delta channels that a checkpoint does not hold whole."""
_ANCESTORS: Final = f"""
    WITH RECURSIVE found(own, parent, about, row) AS (
        SELECT checkpoint_id, parent_checkpoint_id, metadata, rowid FROM checkpoints WHERE {_OF}
        UNION ALL
        SELECT c.checkpoint_id, c.parent_checkpoint_id, c.metadata, c.rowid
        FROM found CROSS JOIN checkpoints c ON c.checkpoint_id = found.parent
        WHERE c.thread_id = ? AND c.checkpoint_ns = ?
    ) SELECT own, about, row FROM found
"""
_WRITTEN: Final = f"""
    SELECT checkpoint_id, task_id, idx, type, value, task_path FROM writes
    WHERE {_IN} AND channel = ? AND checkpoint_id IN (SELECT value FROM json_each(?))
"""


class FileSaver(AsyncSqliteSaver):
    """Keeps the checkpoints of a run.

    Args:
        connection: to the file.
        serializer: of values.
    """

    def __init__(self, connection: aiosqlite.Connection, serializer: Serializer) -> None:
        super().__init__(connection, serde=serializer)
        self._serializer = serializer
        self._over: dict[tuple[str, str], tuple[str, tuple[Any, ...]]] = {}
        """By thread and namespace: the id of the newest checkpoint, and its smaller row for when its step is over."""
        self._until_dictionary = _FIRST
        self._within: set[tuple[str, str]] = set()
        """Threads and namespaces of nested graphs that have checkpoints, because a step of theirs failed."""

    async def setup(self) -> None:
        """Create missing tables."""
        if self.is_setup:
            return
        await self.conn.executescript(_NEW_FILE)
        await super().setup()
        for table in _SEALED:
            async with self.conn.execute(f"PRAGMA table_info({table})") as columns:
                sealed = "seal" in [row[1] async for row in columns]
            if not sealed:
                await self.conn.execute(f"ALTER TABLE {table} ADD COLUMN seal INTEGER")
        await self.conn.execute(_DICTIONARIES)
        await self.conn.commit()
        async with self.conn.execute("SELECT number, value FROM dictionaries") as found:
            async for number, kept in found:
                self._serializer.know(number, kept)
        within = "SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints WHERE checkpoint_ns != ''"
        async with self.conn.execute(within) as found:
            self._within = {(thread, namespace) async for thread, namespace in found}

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint; the newest one if no id is given.

        Each step of a mind asks for a checkpoint of its own, and has one only if it failed: else no file is read.
        """
        place = config["configurable"]
        namespace = place.get("checkpoint_ns", "")
        if self.is_setup and namespace and (str(place["thread_id"]), namespace) not in self._within:
            return None
        found = await super().aget_tuple(config)
        if found is not None:
            self._check(found.checkpoint)
        return found

    async def channels(self, thread: str) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
        """The ids and channels of a conversation's checkpoints, the newest first; None for damaged ones.

        Pending writes are not read.
        """
        query = f"SELECT checkpoint_id, type, checkpoint FROM checkpoints WHERE {_IN} ORDER BY checkpoint_id DESC"
        async with self.lock, self.conn.execute(query, (thread, "")) as rows:
            async for own, kind, value in rows:
                try:
                    kept = self.serde.loads_typed((kind, value))
                    self._check(kept)
                except InputError:
                    kept = None
                yield own, kept and kept["channel_values"]

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """The parts of delta channels: their last whole value, and the writes since.

        Reads no values of the checkpoints in between: the metadata of each says which channels it does not hold whole.
        """
        place = config["configurable"]
        if not place.get("checkpoint_id"):  # the newest one
            return await super().aget_delta_channel_history(config=config, channels=channels)
        thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
        found: dict[str, DeltaChannelHistory] = {}
        async with self.lock:
            chains, seeds = await self._chains(thread, namespace, str(place["checkpoint_id"]), channels)
            for channel, chain in chains.items():
                place_of = {own: -number for number, own in enumerate(chain)}
                async with self.conn.execute(_WRITTEN, (thread, namespace, channel, json.dumps(chain))) as rows:
                    written = [
                        (place_of[own], writes_sort_key(path, task, index), (task, channel), (kind, value))
                        async for own, task, index, kind, value, path in rows
                    ]
                written.sort(key=lambda row: row[:2])
                found[channel] = {"writes": [(*who, self.serde.loads_typed(what)) for _, _, who, what in written]}
                if channel in seeds:
                    found[channel]["seed"] = seeds[channel]
        return found

    async def _chains(
        self, thread: str, namespace: str, checkpoint: str, channels: Sequence[str]
    ) -> tuple[dict[str, list[str]], dict[str, Any]]:
        """By channel: the ancestors back to one that holds it whole, the nearest first, and its value there."""
        chains: dict[str, list[str]] = {channel: [] for channel in channels}
        seeds: dict[str, Any] = {}
        async with self.conn.execute(_ANCESTORS, (thread, namespace, checkpoint, thread, namespace)) as rows:
            await rows.fetchone()  # skip the checkpoint itself: its writes belong to the next one
            walked: set[str] = set()
            async for own, about, row in rows:
                wanted = [channel for channel in channels if channel not in seeds]
                if not wanted or own in walked:
                    break
                walked.add(own)
                for channel in wanted:
                    chains[channel].append(own)
                if json.loads(about).get(_CHANGES, {}).keys() >= {*wanted}:
                    continue
                query = "SELECT type, checkpoint FROM checkpoints WHERE rowid = ?"
                async with self.conn.execute(query, (row,)) as kept:
                    ((kind, value),) = await kept.fetchall()
                whole = self.serde.loads_typed((kind, value))
                self._check(whole)
                seeds |= {name: item for name, item in whole["channel_values"].items() if name in wanted}
        return chains, seeds

    def _check(self, kept: Any) -> None:
        """Refuse a value that is not a checkpoint: bytes of earlier versions, without checksum, may mean anything."""
        if not isinstance(kept, dict) or not kept.keys() >= _PARTS or not isinstance(kept["channel_values"], dict):
            raise damaged("a value is not a checkpoint", self._serializer.where)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint, and reduce the one before it in the same transaction."""
        place = config["configurable"]
        thread, namespace, parent = str(place["thread_id"]), place["checkpoint_ns"], place.get("checkpoint_id")
        about = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")

        def row(kept: Checkpoint) -> tuple[Any, ...]:
            kind, value = self.serde.dumps_typed(kept)
            keys = (thread, namespace, kept["id"], parent, kind, about)
            return (*keys, value, _seal(keys))

        whole, known = row(checkpoint), self._over.get((thread, namespace))
        async with self.lock:
            # Made under the lock: minds that fail keep checkpoints of their own at the same time.
            self._until_dictionary -= 1
            dictionary = self._serializer.new_dictionary() if self._until_dictionary <= 0 else None
            if dictionary is not None:
                await self.conn.execute("INSERT INTO dictionaries VALUES (?, ?)", dictionary)
            await self.conn.execute(_PUT, whole)
            if parent is not None:
                await self.conn.execute(
                    f"DELETE FROM writes WHERE {_OF} AND (channel = ? OR channel GLOB ?)",
                    (thread, namespace, parent, _TASKS, f"{_NEXT}*"),
                )
            if known is not None and known[0] == parent:
                *_, kind, _, value, seal = known[1]
                await self.conn.execute(
                    f"UPDATE checkpoints SET type = ?, checkpoint = ?, seal = ? WHERE {_OF}",
                    (kind, value, seal, thread, namespace, parent),
                )
            await self.conn.commit()
            if dictionary is not None:
                self._serializer.know(*dictionary)
                self._until_dictionary = _EVERY
            self._over.pop((thread, namespace), None)
            if namespace:
                self._within.add((thread, namespace))
            if (less := _without_tasks(checkpoint)) is not None:
                self._over[thread, namespace] = checkpoint["id"], row(less)
        return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep the writes of a task before its step is over."""
        place = config["configurable"]
        at = (str(place["thread_id"]), str(place["checkpoint_ns"]), str(place["checkpoint_id"]), task_id, task_path)
        rows = []
        for index, (channel, obj) in enumerate(writes):
            kind, value = self.serde.dumps_typed(obj)
            keys = (*at, WRITES_IDX_MAP.get(channel, index), channel, kind)
            rows.append((*keys, value, _seal(keys)))
        again = "REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"
        async with self.lock:
            await self.conn.executemany(f"INSERT OR {again} {_WRITE}", rows)
            await self.conn.commit()


def check_file(path: Path, wait: float) -> None:
    """Check a file before a run continues with it; create it if it is missing. Blocks.

    Args:
        path: the file.
        wait: seconds to wait for a locked file.

    Raises:
        InputError: it is empty or damaged; values are checked only when they are read.
        sqlite3.DatabaseError: it cannot be opened, or is not a database.
    """
    if path.exists() and not path.stat().st_size:
        raise InputError(
            "the run's checkpoints are empty: it was stopped before its first one, or they are damaged",
            where=str(path),
            remedy="Begin the run anew, or restore the file from a backup.",
        )
    with closing(sqlite3.connect(path, timeout=wait)) as connection:
        connection.text_factory = bytes  # damaged values need not be text
        try:
            made = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
            tables = {name.decode() for name, sql in made if sql is None or sql.decode()}
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != b"ok":
                raise damaged(found.decode(errors="replace").splitlines()[-1], str(path))
            for table in _SEALED.keys() & tables:
                _check_rows(connection, table, str(path))
            if "checkpoints" in tables:
                _put_in_order(connection, str(path))
        except UnicodeDecodeError as error:
            raise damaged("a name cannot be read", str(path)) from error


def _check_rows(connection: sqlite3.Connection, table: str, where: str) -> None:
    sealed = b"seal" in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    columns, value = ", ".join(_SEALED[table]), "checkpoint" if table == "checkpoints" else "value"
    rows = connection.execute(f"SELECT {columns}, typeof({value}), {'seal' if sealed else 'NULL'} FROM {table}")
    for *keys, _, seal in rows:
        if seal is not None and seal != _seal(keys):
            raise damaged("a row does not match its checksum", where)
        if seal is None and table == "checkpoints" and not _is_object(keys[-1]):  # of an earlier version
            raise damaged("the metadata of a checkpoint cannot be read", where)


def _is_object(kept: Any) -> bool:
    try:
        return isinstance(json.loads(kept), dict)
    except (ValueError, TypeError, RecursionError):
        return False


def _put_in_order(connection: sqlite3.Connection, where: str) -> None:
    """Give the last checkpoint of each thread the greatest id, if it has a smaller one.

    Earlier versions gave it a smaller id after the clock had been set back; then its contents would be lost. Its
    pending writes have the old id: they are dropped, and their tasks are repeated.
    """
    serializer = Serializer(where, Dictionaries())
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'dictionaries'").fetchone():
        for number, kept in connection.execute("SELECT number, value FROM dictionaries"):
            serializer.know(number, kept)
    last = "SELECT max(rowid), max(checkpoint_id), thread_id, checkpoint_ns FROM checkpoints GROUP BY 3, 4"
    for row, greatest, thread, namespace in connection.execute(last).fetchall():
        kept = "SELECT checkpoint_id, parent_checkpoint_id, type, metadata, checkpoint FROM checkpoints WHERE rowid = ?"
        own, parent, kind, about, value = connection.execute(kept, (row,)).fetchone()
        if own == greatest:
            continue
        checkpoint = serializer.loads_typed((kind.decode(), value))
        checkpoint["id"] = id_above(greatest.decode())
        named, value = serializer.dumps_typed(checkpoint)
        seal = _seal((thread, namespace, checkpoint["id"], parent, named, about))
        place = (thread.decode(), namespace.decode(), own.decode())
        connection.execute(f"DELETE FROM writes WHERE {_OF}", place)
        if b"seal" not in [column[1] for column in connection.execute("PRAGMA table_info(checkpoints)")]:
            connection.execute("ALTER TABLE checkpoints ADD COLUMN seal INTEGER")
        connection.execute(
            "UPDATE checkpoints SET checkpoint_id = ?, type = ?, checkpoint = ?, seal = ? WHERE rowid = ?",
            (checkpoint["id"], named, value, seal, row),
        )
        connection.commit()


def _without_tasks(checkpoint: Checkpoint) -> Checkpoint | None:
    """The checkpoint of a finished step: the names of its tasks without their input; None if it has no tasks."""
    tasks = checkpoint["channel_values"].get(_TASKS)
    if not tasks:
        return None
    names = [Send(task.node, None) for task in tasks]
    return {**checkpoint, "channel_values": {**checkpoint["channel_values"], _TASKS: names}}


def _seal(keys: Sequence[Any]) -> int:
    """A checksum of a row's columns."""
    found = 0
    for key in keys:
        data = key if isinstance(key, bytes) else b"" if key is None else str(key).encode("utf-8", "surrogatepass")
        found = zlib.crc32(len(data).to_bytes(8, "big") + data, found)
    return found
