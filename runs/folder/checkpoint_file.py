"""Checkpoints in a file: LangGraph's SQLite saver, extended to keep less and to detect damage.

Every row has a seal, a checksum of its key columns; values have checksums of their own. SQLite's own check finds keys
that differ from their index, and broken pages. Values are compressed with a dictionary of the first ones, which the
file holds.

The tasks of a step are kept as long as they may have to be repeated. Once the next checkpoint exists, their input, by
far the largest part of a checkpoint, is dropped. The channels remain: from them, the states of all turns are restored.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, cast

import aiosqlite
import zstandard
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
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Send

from ...state.errors import InputError
from ..log import IN_MEMORY

_PATIENCE_S: Final = 30.0
"""Seconds to wait while somebody else writes."""
_TASKS: Final = "__pregel_tasks"
"""LangGraph's channel of the next tasks, each with its input."""
_NEXT: Final = "branch:to:"
"""Prefix of LangGraph's channels that trigger the next nodes."""

_CHECKPOINTS: Final = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "type", "metadata")
_WRITES: Final = ("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "task_path", "idx", "channel", "type")
_SEALED: Final = {"checkpoints": _CHECKPOINTS, "writes": _WRITES}
"""By table, the columns that a seal covers: all but the value."""

_NEW_FILE: Final = f"""
    {IN_MEMORY}
    PRAGMA page_size = 16384;
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = 250;
    CREATE TABLE IF NOT EXISTS checkpoints (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, seal INTEGER,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
    CREATE TABLE IF NOT EXISTS writes (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL, channel TEXT NOT NULL,
        type TEXT, value BLOB, seal INTEGER,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS dictionaries (number INTEGER PRIMARY KEY, value BLOB NOT NULL);
"""
"""LangGraph's tables with seals, that of writes without a separate index; and the dictionary of values."""
_LEARNT: Final = 16
"""Number of checkpoints of whose values the dictionary is made."""

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

    Every write is one transaction in a thread, which never waits for the event loop: who writes to the same file from
    there, as the run's log does, waits for a moment only.

    Args:
        connection: to the file.
        serializer: of values.
        path: of the file.
        before: done before every write, in its thread.
    """

    def __init__(
        self,
        connection: aiosqlite.Connection,
        serializer: Serializer,
        path: Path,
        before: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(connection, serde=serializer)
        self._before = before
        self._serializer = serializer
        self._path, self._writer = path, cast(sqlite3.Connection, None)
        self._writing = threading.Lock()
        self._over: dict[tuple[str, str], tuple[str, tuple[Any, ...]]] = {}
        """By thread and namespace: the id of the newest checkpoint, and its smaller row for when its step is over."""
        self._to_learn = _LEARNT
        self._within: set[tuple[str, str]] = set()
        """Threads and namespaces of nested graphs that have checkpoints, because a step of theirs failed."""

    async def setup(self) -> None:
        """Create missing tables."""
        if self.is_setup:
            return
        await self.conn.executescript(_NEW_FILE)
        await super().setup()
        await self.conn.commit()
        await asyncio.to_thread(self._open_writer)
        async with self.conn.execute("SELECT value FROM dictionaries") as found:
            async for (kept,) in found:
                self._serializer.know(kept)
                self._to_learn = 0
        within = "SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints WHERE checkpoint_ns != ''"
        async with self.conn.execute(within) as found:
            self._within = {(thread, namespace) async for thread, namespace in found}

    def _open_writer(self) -> None:
        self._writer = sqlite3.connect(self._path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
        self._writer.execute(IN_MEMORY)
        self._writer.execute("PRAGMA synchronous=NORMAL")  # only a power failure can lose the last checkpoints

    def _write(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        """Do one transaction. Blocks; a cancelled task does not wait for its end."""
        if self._before is not None:
            self._before()
        with self._writing:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                work(self._writer)
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite has rolled some back itself; the first error is told
                    self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    def close(self) -> bool:
        """Close the connection that writes; whether it has written anything. Blocks until the last write is over."""
        if self._writer is None:
            return False
        with self._writing:
            changed = bool(self._writer.total_changes)
            self._writer.close()
        return changed

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
        """Refuse a value that is not a checkpoint."""
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
            self._to_learn -= 1
            dictionary = self._serializer.made_dictionary() if self._to_learn == 0 else None

            def put(database: sqlite3.Connection) -> None:
                if dictionary is not None:
                    database.execute("INSERT INTO dictionaries VALUES (1, ?)", (dictionary,))
                database.execute(_PUT, whole)
                if parent is not None:
                    database.execute(
                        f"DELETE FROM writes WHERE {_OF} AND (channel = ? OR channel GLOB ?)",
                        (thread, namespace, parent, _TASKS, f"{_NEXT}*"),
                    )
                if known is not None and known[0] == parent:
                    database.execute(_PUT, known[1])

            await asyncio.to_thread(self._write, put)
            if dictionary is not None:
                self._serializer.know(dictionary)
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
        query = f"INSERT OR {again} {_WRITE}"
        async with self.lock:
            await asyncio.to_thread(self._write, lambda database: database.executemany(query, rows))


def check_file(path: Path, wait: float) -> None:
    """Check a file before a run continues with it; create it if it is missing. Blocks.

    Args:
        path: the file.
        wait: seconds to wait for a locked file.

    Raises:
        InputError: it is damaged; values are checked only when they are read.
        sqlite3.DatabaseError: it cannot be opened, or is not a database.
    """
    with closing(sqlite3.connect(path, timeout=wait)) as connection:
        connection.text_factory = bytes  # damaged values need not be text
        try:
            made = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
            tables = {name.decode() for name, sql in made if sql is None or sql.decode()}
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != b"ok":
                raise damaged(found.decode(errors="replace").splitlines()[-1], str(path))
            for table in _SEALED.keys() & tables:
                rows = connection.execute(f"SELECT {', '.join(_SEALED[table])}, seal FROM {table}")
                if any(seal != _seal(keys) for *keys, seal in rows):
                    raise damaged("a row does not match its checksum", str(path))
        except UnicodeDecodeError as error:
            raise damaged("a name cannot be read", str(path)) from error


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


_DICTIONARY, _PACKED, _PLAIN = "d:", "z:", "c:"
"""How a value is kept: compressed with the file's dictionary, compressed, or as it is. The type begins with it."""
_MOST: Final = 160_000
"""Bytes of a dictionary."""
_WORTH: Final = 200
"""Size in bytes from which compression without a dictionary pays."""
_SUM: Final = 4
"""Bytes of a checksum."""


class Serializer(JsonPlusSerializer):
    """Serialises plain values and LangChain's messages, all that channels hold; stored bytes become nothing else.

    Each value is compressed, with a checksum before it. Of the error of a failed step, it keeps the text.

    Args:
        where: the file or the server, for errors.
        learns: whether it is to make a dictionary of the first values.
    """

    def __init__(self, where: str, *, learns: bool = False) -> None:
        super().__init__(allowed_msgpack_modules=None)
        self.where = where
        self._seen: list[bytes] | None = [] if learns else None
        self._dictionary: tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor] | None = None
        self._lock = threading.Lock()

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """A value's type and bytes."""
        kind, data = super().dumps_typed(str(obj) if isinstance(obj, BaseException) else obj)
        with self._lock:
            if self._dictionary is not None:
                how, packed = _DICTIONARY, self._dictionary[0].compress(data)
            else:
                how, packed = _PACKED, zlib.compress(data, 1) if len(data) >= _WORTH else data
                if self._seen is not None:
                    self._seen.append(data)
        kept, how = (packed, how) if len(packed) < len(data) else (data, _PLAIN)
        return how + kind, _checksum(how + kind, kept) + kept

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """A value from its type and bytes.

        Raises:
            InputError: it is damaged.
        """
        kind, kept = data
        try:
            kept = self._whole(kind, kept)
            if kind.startswith(_DICTIONARY):
                if self._dictionary is None:
                    raise damaged("the dictionary of its values is missing", self.where)
                with self._lock:
                    kept = self._dictionary[1].decompress(kept)
            elif kind.startswith(_PACKED):
                kept = zlib.decompress(kept)
            return super().loads_typed((kind[len(_PACKED) :], kept))
        except InputError:
            raise
        except Exception as error:  # meaningless bytes may raise any error
            raise damaged(f"a value cannot be read ({type(error).__name__})", self.where) from error

    def made_dictionary(self) -> bytes:
        """A dictionary of the values so far, to keep in the file; `know` puts it to use."""
        kept = zlib.compress(b"".join(self._seen or ())[-_MOST:])
        return _checksum(_DICTIONARY, kept) + kept

    def know(self, kept: bytes) -> None:
        """Use the dictionary of the file.

        Raises:
            InputError: it is damaged.
        """
        content = zlib.decompress(self._whole(_DICTIONARY, kept))
        shared = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        compressor = zstandard.ZstdCompressor(3, dict_data=shared, write_checksum=True)
        with self._lock:
            self._dictionary, self._seen = (compressor, zstandard.ZstdDecompressor(dict_data=shared)), None

    def _whole(self, kind: str, kept: bytes) -> bytes:
        """The bytes after a checksum.

        Raises:
            InputError: they do not match it.
        """
        own, rest = kept[:_SUM], kept[_SUM:]
        if own != _checksum(kind, rest):
            raise damaged("a value does not match its checksum", self.where)
        return rest


def damaged(how: str, where: str) -> InputError:
    """The error that reports damaged checkpoints.

    Args:
        how: the fault, as a clause.
        where: the file or the server.
    """
    return InputError(
        f"the run's checkpoints are damaged: {how}",
        where=where,
        remedy="Restore them from a backup. The run can be shown and exported, but not resumed; its files are whole.",
    )


def _checksum(kind: str, kept: bytes) -> bytes:
    return zlib.crc32(kept, zlib.crc32(kind.encode())).to_bytes(_SUM, "big")
