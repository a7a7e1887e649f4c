"""mind.sqlite: the checkpoints of a world's threads, and LangGraph's store with its minds and ties.

Each has a connection of its own, with a write-ahead log, so neither waits for the other's reading.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.base import Op
from langgraph.store.base import Result as Outcome
from langgraph.store.sqlite.aio import AsyncSqliteStore

from persimchat.graph.langgraph_compat import closed
from persimchat.models.redaction import short
from persimchat.runs.folder.checkpoint_values import Serializer
from persimchat.state.errors import InputError, MachineError

MINDS: Final = "mind.sqlite"
"""The file in the folder of a world."""
_WAIT_S: Final = 10
"""Seconds to wait for the other connection's writing."""

Result = TypeVar("Result")


class _Writer(sqlite3.Connection):
    """A connection whose transactions may write from the beginning.

    LangGraph's store reads and writes in one transaction. If another connection wrote in between, SQLite would refuse
    the writing at once, without waiting.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement."""
        return super().execute("BEGIN IMMEDIATE" if sql == "BEGIN" else sql, parameters)


class ThreadSaver(AsyncSqliteSaver):
    """Keeps the newest checkpoint of each thread; what a cancelled run began to write is written to its end."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint, and delete those before it."""
        kept = await _whole(super().aput(config, checkpoint, metadata, new_versions))
        place = config["configurable"]
        if not place.get("checkpoint_ns"):
            await _whole(self._delete_others(str(place["thread_id"]), checkpoint["id"]))
        return kept

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep the writes of a task before its step is over."""
        await _whole(super().aput_writes(config, writes, task_id, task_path))

    async def _delete_others(self, thread: str, newest: str) -> None:
        async with self.lock:
            for table in ("checkpoints", "writes"):
                await self.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id != ?", (thread, newest)
                )
            await self.conn.commit()


class MindStore(AsyncSqliteStore):
    """LangGraph's store; what a cancelled run began to write is written to its end.

    Otherwise a transaction could stay open that nobody ends, and refuse all that comes after it.
    """

    async def abatch(self, ops: Iterable[Op]) -> list[Outcome]:
        """Carry out operations together."""
        return await _whole(super().abatch(ops))


async def _whole(work: Awaitable[Result]) -> Result:
    """The result of work that a cancelled caller waits for."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


@asynccontextmanager
async def opened_stores(folder: Path) -> AsyncIterator[tuple[ThreadSaver, AsyncSqliteStore]]:
    """Open the checkpoints and the store of a world, and close them afterwards.

    Args:
        folder: the world's.

    Raises:
        InputError: the file is no database, or cannot be opened.
        MachineError: it could not be written or read.
    """
    path = folder / MINDS
    try:
        # Opened first with sqlite3: aiosqlite's thread outlives a connection that failed.
        await asyncio.to_thread(_check, path)
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"the world's minds cannot be opened: {short(str(error))}",
            where=str(path),
            remedy="Check permissions, or restore the file from a backup.",
        ) from error
    try:
        async with (
            aiosqlite.connect(path, timeout=_WAIT_S) as own,
            aiosqlite.connect(path, timeout=_WAIT_S, isolation_level=None, factory=_Writer) as other,
        ):
            saver, store = ThreadSaver(own, serde=Serializer(str(path))), MindStore(other)
            await saver.setup()  # with a write-ahead log
            await store.setup()
            for connection in (own, other):
                # A kill loses nothing; only a power failure can lose the last writes.
                await connection.execute("PRAGMA synchronous=NORMAL")
            try:
                yield saver, store
            finally:
                await closed(store)
                async with saver.lock:
                    await own.rollback()
    except sqlite3.OperationalError as error:
        raise MachineError(
            f"minds cannot be kept: {short(str(error))}", where=str(path), remedy="Check free space and permissions."
        ) from error


def _check(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=_WAIT_S)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
