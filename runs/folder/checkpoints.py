"""Where LangGraph keeps a run's checkpoints: SQLite in the run's folder, this process's memory, or PostgreSQL.

Savers are imported where they are asked for: PostgreSQL's is an extra, and nobody waits for what they do not use.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from persimchat.models.redaction import scrub, short
from persimchat.state.errors import InputError, MachineError, MissingExtraError, suggestion

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

CHECKPOINTS: Final = "checkpoint.sqlite"
"""The file in a run's folder."""

RUN, MEMORY = "run", "memory"
_SCHEMES: Final = ("postgresql", "postgres")
_FORMS: Final = "Use run, memory, or postgresql://user@host/database."
_SECRETS: Final = ("password", "sslpassword", "passfile", "sslkey")
"""Parameters of a PostgreSQL address that nobody else is to see."""
_WAIT_S: Final = 10
"""Seconds that a server has to answer in, and a locked database to become free."""


def check_location(location: str) -> None:
    """Look at the setting `checkpoints` before a run begins; connects to nothing.

    Raises:
        InputError: it is neither `run`, nor `memory`, nor an address of a PostgreSQL server.
        MissingExtraError: it asks for PostgreSQL, and the extra is not installed.
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
    """Whether checkpoints are kept by a PostgreSQL server."""
    scheme, separator, _ = location.partition("://")
    return bool(separator) and scheme.lower() in _SCHEMES


def without_password(location: str) -> str:
    """The setting as it may be written down: a server's address without its password; user and database stay."""
    if not is_server(location):
        return location
    if not _is_readable(location):
        return f"{location.partition('://')[0]}://"
    parts = urlsplit(location)
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in _SECRETS]
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=urlencode(query)))


def _is_readable(location: str) -> bool:
    """Whether an address has its parts where they look: PostgreSQL takes #, ? and / in passwords as they are."""
    try:
        parts = urlsplit(location)
        parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return False
    cut = parts.fragment or "@" in parts.path or ("@" not in parts.netloc and "@" in parts.query)
    return not cut and parts.netloc.count("@") <= 1


@asynccontextmanager
async def opened(location: str, folder: Path | None) -> AsyncIterator[BaseCheckpointSaver[str] | None]:
    """A saver for as long as a run needs it.

    Args:
        location: the setting `checkpoints`: `run`, `memory`, or `postgresql://…`.
        folder: the run's; with `run`, there is no saver (None) where there is no folder.

    Raises:
        InputError: the location is none, the server does not answer, or the file is no database.
        MissingExtraError: PostgreSQL is asked for, and the extra is not installed.
        MachineError: while the run went on, checkpoints could not be written or read any more.
    """
    check_location(location)
    if location == MEMORY:
        from langgraph.checkpoint.memory import InMemorySaver

        from persimchat.runs.folder.checkpoint_values import Serializer

        yield InMemorySaver(serde=Serializer("this process"))
    elif is_server(location):
        async with _server(location) as saver:
            yield saver
    elif folder is None:
        yield None
    else:
        async with _file(folder / CHECKPOINTS) as saver:
            yield saver


@asynccontextmanager
async def _file(path: Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    import aiosqlite

    from persimchat.runs.folder.checkpoint_file import FileSaver, check_file
    from persimchat.runs.folder.checkpoint_values import Dictionaries, Serializer, damaged

    try:
        # By itself: aiosqlite's thread outlives a connection that could not be made.
        await asyncio.to_thread(check_file, path, _WAIT_S)
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"the run's checkpoints cannot be opened: {short(str(error))}",
            where=str(path),
            remedy="Check permissions; a run whose checkpoints are damaged can be shown but not resumed.",
        ) from error
    try:
        async with aiosqlite.connect(path, timeout=_WAIT_S) as connection:
            saver = FileSaver(connection, Serializer(str(path), Dictionaries()))
            await saver.setup()  # with a write-ahead log
            # Safe whenever the process is killed; only a power failure can cost the last checkpoints.
            await connection.execute("PRAGMA synchronous=NORMAL")
            try:
                yield saver
            finally:
                # A cancelled step may have left a write open, and another may be writing yet; a connection that is
                # closed in the middle of one keeps the database locked while its cursor lives.
                async with saver.lock:
                    await connection.rollback()
                    if connection.total_changes:  # what steps that are over took stays within the pages
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
async def _server(location: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    import psycopg
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row

    from persimchat.runs.folder.checkpoint_values import Serializer

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
            saver = AsyncPostgresSaver(conn=connection, serde=Serializer(where))
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
    """What PostgreSQL says, on one line and without the address, which holds the password."""
    return short(str(error).replace(location, without_password(location)))
