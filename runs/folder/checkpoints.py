"""Where LangGraph keeps a run's checkpoints: SQLite in the run's folder, this process's memory, or PostgreSQL.

A saver is imported when a run asks for it: PostgreSQL's is an extra, and unused imports would cost time.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ...models.redaction import scrub, short
from ...state.errors import InputError, MachineError, MissingExtraError, suggestion

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

CHECKPOINTS: Final = "run.sqlite"
"""The file of checkpoints in the folder of a run: that of its log."""

RUN, MEMORY = "run", "memory"
_SCHEMES: Final = ("postgresql", "postgres")
_FORMS: Final = "Use run, memory, or postgresql://user@host/database."
_SECRETS: Final = ("password", "sslpassword", "passfile", "sslkey")
"""Secret parameters of a PostgreSQL address."""
_WAIT_S: Final = 30
"""Seconds to wait for a server's answer, and for a locked database."""


def check_location(location: str) -> None:
    """Check the setting `checkpoints` before a run begins, without a connection.

    Raises:
        InputError: it is not `run`, `memory` or the address of a PostgreSQL server.
        MissingExtraError: it names a PostgreSQL server, and the extra is not installed.
    """
    if location in (RUN, MEMORY):
        return
    if not is_server(location):
        shown = short(location)
        raise InputError(
            f"unknown place for checkpoints {shown!r}",
            where="setting checkpoints",
            remedy=suggestion(shown, [RUN, MEMORY], otherwise=_FORMS),
        )
    if not _is_readable(location):
        raise InputError(
            "the PostgreSQL server's address cannot be read",
            where="setting checkpoints",
            remedy="Write %23 for #, %3F for ?, %2F for / and %40 for @ in a user's name and a password.",
        )
    if find_spec("psycopg") is None or find_spec("langgraph.checkpoint.postgres") is None:
        raise MissingExtraError("checkpoints in PostgreSQL", "postgres")


def is_server(location: str) -> bool:
    """Whether a PostgreSQL server keeps the checkpoints."""
    scheme, separator, _ = location.partition("://")
    return bool(separator) and scheme.lower() in _SCHEMES


def without_password(location: str) -> str:
    """The setting without the password of a server's address; user and database stay."""
    if not is_server(location):
        return location
    if not _is_readable(location):
        return f"{location.partition('://')[0]}://"
    parts = urlsplit(location)
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in _SECRETS]
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=urlencode(query)))


def _is_readable(location: str) -> bool:
    """Whether the parts of an address are where they seem to be: PostgreSQL takes #, ? and / in passwords literally."""
    try:
        parts = urlsplit(location)
        parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return False
    cut = parts.fragment or "@" in parts.path or ("@" not in parts.netloc and "@" in parts.query)
    return not cut and parts.netloc.count("@") <= 1


@asynccontextmanager
async def opened(
    location: str, folder: Path | None, before: Callable[[], None] | None = None
) -> AsyncIterator[BaseCheckpointSaver[str] | None]:
    """Open a saver, and close it afterwards.

    Args:
        location: the setting `checkpoints`: `run`, `memory`, or `postgresql://…`.
        folder: the folder of the run; with `run` and no folder, the saver is None.
        before: done before every checkpoint is kept, in a thread.

    Raises:
        InputError: the location is invalid, the server does not answer, or the file is not a database.
        MissingExtraError: the location is a PostgreSQL server, and the extra is not installed.
        MachineError: checkpoints could not be written or read during the run.
    """
    check_location(location)
    if location == MEMORY:
        from langgraph.checkpoint.memory import InMemorySaver

        from .checkpoint_file import Serializer

        yield InMemorySaver(serde=Serializer("this process"))
    elif is_server(location):
        async with _server(location, before) as saver:
            yield saver
    elif folder is None:
        yield None
    else:
        async with _file(folder / CHECKPOINTS, before) as saver:
            yield saver


@asynccontextmanager
async def _file(path: Path, before: Callable[[], None] | None) -> AsyncIterator[BaseCheckpointSaver[str]]:
    import aiosqlite

    from .checkpoint_file import FileSaver, Serializer, check_file, damaged

    try:
        # Opened first with sqlite3: aiosqlite's thread outlives a connection that failed.
        await asyncio.to_thread(check_file, path, _WAIT_S)
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"the run's checkpoints cannot be opened: {short(str(error))}",
            where=str(path),
            remedy="Check permissions; a run whose checkpoints are damaged can be shown but not resumed.",
        ) from error
    try:
        async with aiosqlite.connect(path, timeout=_WAIT_S) as connection:
            saver = FileSaver(connection, Serializer(str(path), learns=True), path, before)
            await saver.setup()  # with a write-ahead log
            try:
                yield saver
            finally:
                # A cancelled step may still be writing; a connection that is closed during a read keeps the database
                # locked as long as its cursor lives.
                async with saver.lock:
                    await connection.rollback()
                    if await asyncio.to_thread(saver.close):  # data of finished steps remains in free pages
                        with suppress(sqlite3.Error):
                            await connection.execute("VACUUM")
                    await connection.close()
    except sqlite3.OperationalError as error:
        raise MachineError(
            f"checkpoints cannot be kept: {short(str(error))}",
            where=str(path),
            remedy="Check free space and permissions.",
        ) from error
    except sqlite3.DatabaseError as error:
        raise damaged(short(str(error)), str(path)) from error


@asynccontextmanager
async def _server(location: str, before: Callable[[], None] | None) -> AsyncIterator[BaseCheckpointSaver[str]]:
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row

    from .checkpoint_file import Serializer

    class Saver(AsyncPostgresSaver):
        async def aput(self, *checkpoint: Any, **more: Any) -> Any:
            if before is not None:
                await asyncio.to_thread(before)
            return await super().aput(*checkpoint, **more)

    where = f"setting checkpoints={without_password(location)}"
    try:
        connection = await psycopg.AsyncConnection.connect(
            location, autocommit=True, prepare_threshold=0, row_factory=dict_row, connect_timeout=_WAIT_S
        )
    except psycopg.Error as error:
        scrub(error)
        raise InputError(
            f"the PostgreSQL server cannot be used: {_told(error, location)}",
            where=where,
            remedy="Check the address and that the server is running, or use checkpoints=run.",
        ) from None
    try:
        async with connection:
            saver = Saver(conn=connection, serde=Serializer(where))
            await saver.setup()
            yield saver
    except psycopg.Error as error:
        scrub(error)
        raise MachineError(
            f"checkpoints cannot be kept: {_told(error, location)}",
            where=where,
            remedy="Is the PostgreSQL server still running?",
        ) from error


def _told(error: Exception, location: str) -> str:
    """PostgreSQL's message on one line, without the address, which holds the password."""
    return short(str(error).replace(location, without_password(location)))
