"""The folder of a world: `world.sqlite`, the folder of memories that it names, and a lock.

The file holds the world's log, the newest checkpoint of each thread, and LangGraph's store with places, people, minds
and ties. Each write is one transaction that is over when its call returns, so a step that is stopped leaves none half
done. What is to be deleted for good is left out of a new file, and of a new folder of memories that this file names:
it takes the old file's place in one move, so a kill leaves one or the other.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import Op, Result
from langgraph.store.sqlite import SqliteStore

from ...graph.companion.attending import refuse_others
from ...graph.companion.companion import COMPANION
from ...graph.companion.records import PLACE, ties_of
from ...memory.store import held_store
from ...models.redaction import short
from ...prompts import prompt_hash, templates
from ...state.companion import Exchange, Tie, person_key
from ...state.companion.place import Place
from ...state.configuration import load_settings
from ...state.errors import InputError, MachineError, PerSimChatError, suggestion
from ...state.folders import WORLDS
from ...state.minds.memory import Memory
from ...state.plain_text import one_line
from ...state.settings import Settings
from ..folder.checkpoint_file import Serializer
from ..folder.lock import LOCK, PID, held, is_held
from ..folder.manifest import public, versions
from ..log import IN_MEMORY, Log
from ..threads import in_thread
from .events import KINDS, Opened
from .personal_data import Person

WORLD, SERVED = "world.sqlite", "served.txt"
"""The file of a world, and the one with the address while it is served."""
_NEW: Final = f"{WORLD}.new"
_MEMORIES: Final = ("memory", "memory-2")
"""The names that the folder of memories has in turn."""
_WAIT_S: Final = 30
"""Seconds to wait for another process's writing."""
_LEVELS: Final[tuple[Literal["DEFERRED"] | None, ...]] = ("DEFERRED", None)
"""Who begins a transaction: Python, or LangGraph's store."""
_INDEXES: Final = f"""
    {IN_MEMORY}
    PRAGMA synchronous = NORMAL;
    CREATE INDEX IF NOT EXISTS exchanges_by_id ON events (body ->> '$.id') WHERE kind = 'exchange';
    CREATE INDEX IF NOT EXISTS exchanges_by_pair ON events (agent, body ->> '$.person') WHERE kind = 'exchange';
    CREATE INDEX IF NOT EXISTS retracted_by_id ON events (body ->> '$.id') WHERE kind = 'retracted';
"""
_SAID: Final = """
    SELECT body FROM events AS said WHERE kind = 'exchange' AND agent = ? AND body ->> '$.person' = ? AND NOT EXISTS
    (SELECT 1 FROM events WHERE kind = 'retracted' AND body ->> '$.id' = said.body ->> '$.id')
    ORDER BY number DESC LIMIT ?
"""


class Threads(SqliteSaver):
    """Keeps the newest checkpoint of each thread.

    Args:
        connection: to the file.
        serializer: of values.
        before: done before every write, in its thread.
    """

    def __init__(self, connection: sqlite3.Connection, serializer: Serializer, before: Callable[[], None]) -> None:
        super().__init__(connection, serde=serializer)
        self._before = before

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint."""
        return await in_thread(self.get_tuple, config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint, and delete those before it."""

        def keep() -> RunnableConfig:
            self._before()
            kept, place = self.put(config, checkpoint, metadata, new_versions), config["configurable"]
            if not place.get("checkpoint_ns"):
                self._delete_others(str(place["thread_id"]), checkpoint["id"])
            return kept

        return await in_thread(keep)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep the writes of a task before its step is over."""
        await in_thread(self.put_writes, config, writes, task_id, task_path)

    def _delete_others(self, thread: str, newest: str) -> None:
        with self.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                cursor.execute(f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id != ?", (thread, newest))


class Store(SqliteStore):
    """LangGraph's store."""

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations together."""
        return await in_thread(self.batch, ops)


@dataclass(frozen=True)
class Kept:
    """What the file of a world holds.

    Attributes:
        log: its events.
        threads: its checkpoints.
        store: its records.
    """

    log: Log
    threads: Threads
    store: Store


@contextmanager
def opened_file(path: Path) -> Iterator[Kept]:
    """Open the file of a world, which is made if it is missing, and close it afterwards.

    Raises:
        InputError: it is damaged, cannot be opened, or another version wrote it.
        MachineError: it could not be written or read.
    """
    with ExitStack() as stack:
        log = stack.enter_context(Log(path, KINDS))
        log.check(leave_out=["asked_model"])
        try:
            one, other = (
                sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False, isolation_level=level)
                for level in _LEVELS
            )
            threads, store = Threads(one, Serializer(str(path)), log.settle), Store(other)
            stack.callback(_close, one, threads.lock)
            stack.callback(_close, other, store.lock)
            threads.setup()
            store.setup()
            for connection in (one, other):
                connection.executescript(_INDEXES)
            yield Kept(log, threads, store)
        except sqlite3.OperationalError as error:
            raise MachineError(
                f"the world cannot be kept: {short(str(error))}",
                where=str(path),
                remedy="Check free space and permissions.",
            ) from error


def _close(connection: sqlite3.Connection, lock: threading.Lock) -> None:
    """Close a connection once no thread writes with it: LangGraph waits for no write of a step that is stopped."""
    with lock:
        connection.close()


# What a world is: the last event `opened`


def is_world(folder: Path) -> bool:
    """Whether a folder holds a world."""
    return (folder / WORLD).is_file()


def read_world(folder: Path) -> Opened:
    """What the world in a folder is. Blocks.

    Raises:
        InputError: there is none, it is damaged, or another version wrote it.
    """
    if not is_world(folder):
        raise InputError(
            "there is no world in this folder",
            where=str(folder),
            remedy="Give the folder of a world, or begin one: persimchat companion talk PLACE --person NAME.",
        )
    with Log(folder / WORLD, KINDS, read_only=True) as log:
        return last_opened(log)


def last_opened(log: Log) -> Opened:
    """What a world is, by its log."""
    found: Opened = next(log.read("opened", where="number = (SELECT max(number) FROM events WHERE kind = 'opened')"))
    return found


def read_place(folder: Path) -> Place:
    """The place of a world as it is now. Blocks."""
    world = read_world(folder)
    with Log(folder / WORLD, KINDS, read_only=True) as log:
        return Place.model_validate(records_in(log)[f"{world.world}.{PLACE}", PLACE])


def companion_settings(
    place: Place, kept: Mapping[str, Any] | None = None, file: Path | None = None, **arguments: Any
) -> Settings:
    """The settings of a companion: its defaults < the place's < those kept < file < environment < arguments.

    Args:
        place: its settings count.
        kept: settings with which the world was last opened (`Opened.settings`).
        file: a YAML file of settings.
        **arguments: settings by name.

    Raises:
        InputError: a setting is invalid.
    """
    sources = (COMPANION, place.settings, kept or {})
    given = {name: value for source in sources for name, value in source.items()}
    for name in ("companion", "weights"):
        if parts := [part for source in sources if isinstance(part := source.get(name), Mapping)]:
            given[name] = {key: value for part in parts for key, value in part.items()}
    made = load_settings(file, scenario=given, **arguments)
    refuse_others(made)
    with templates(made.prompts):
        return made


def opened_with(last: Opened, settings: Settings) -> Opened:
    """The event of an opening with these settings."""
    given = settings.model_dump(mode="json", exclude_unset=True, exclude={"store", "checkpoints"})
    given["companion"] = settings.companion.model_dump(
        mode="json", exclude_unset=True, exclude={"world", "agent", "person"}
    )
    changed = {
        "settings": public(given),
        "prompt_hash": prompt_hash(prompts=settings.prompts),
        "versions": versions(),
        "at": present(),
    }
    return last.model_copy(update=changed)


@contextmanager
def locked(folder: Path, place: Place | None = None, settings: Settings | None = None) -> Iterator[Opened]:
    """Hold a world while the body runs; one that is missing is made of the place.

    Raises:
        InputError: another process works on it, and where it is served; or there is none, and no place is given.
        MachineError: it cannot be written.
    """
    if not is_world(folder):
        if place is None:
            read_world(folder)  # says that there is none
        _make_room(folder)
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder, "world"))
        except InputError as error:
            if address := served_at(folder):
                raise InputError(error.what, where=error.where, remedy=f"Talk there: {address}") from error
            raise
        try:
            (folder / SERVED).unlink(missing_ok=True)  # of a server that was killed
            settle(folder)
            if not is_world(folder):
                assert place is not None
                _begin(folder, place, settings or companion_settings(place))
        except OSError as error:
            raise MachineError.caused_by(error, "the world cannot be kept", str(folder)) from error
        yield read_world(folder)


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strange = [one.name for one in folder.iterdir() if one.name not in (LOCK, PID) and _NEW not in one.name]
    except OSError as error:
        raise InputError(
            f"the world's folder cannot be made: {error.strerror}",
            where=str(folder),
            remedy="Choose a folder that you may write to.",
        ) from error
    if strange:
        raise InputError(
            "the folder is not empty, and holds no world",
            where=str(folder),
            remedy="Choose another folder for the world.",
        )


def _begin(folder: Path, place: Place, settings: Settings) -> None:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-")[:64] or "companion"
    (folder / _NEW).touch(mode=0o600)  # its owner's alone
    with opened_file(folder / _NEW) as kept:
        kept.log.append([Opened(world=name, at=present(), embedding=settings.embedding)])
        kept.store.put((name, PLACE), PLACE, place.model_dump(mode="json"), index=False)
    (folder / _NEW).replace(folder / WORLD)


def present() -> str:
    """The time of the machine as it is kept: ISO, to the second, without a zone."""
    return datetime.now().isoformat(timespec="seconds")


@contextmanager
def served(folder: Path, address: str) -> Iterator[None]:
    """Note the address of a world while the body serves it.

    Args:
        folder: the world's, which this process holds.
        address: where the page is, for people.
    """
    note = folder / SERVED
    with suppress(OSError):  # it only helps people to find the server
        note.write_text(f"{address}\n", encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)


def served_at(folder: Path) -> str:
    """The address of a world that another process holds; empty if it serves nobody. Means nothing for a free world."""
    try:
        return one_line((folder / SERVED).read_text(encoding="utf-8"))[:300]
    except (OSError, UnicodeDecodeError):
        return ""


# A world without what is to be deleted


@contextmanager
def renewed(folder: Path, **changed: Any) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """A copy of a world's file, and a new folder for its memories; at the end they take the places of the old ones.

    Nothing that is deleted from the copy is left in a free page.

    Args:
        folder: a world's, which nobody else works on.
        **changed: what its event `opened` says otherwise.

    Raises:
        MachineError: something cannot be written; then all is as it was.
    """
    settle(folder)
    known, new = read_world(folder), folder / _NEW
    memories = folder / next(name for name in _MEMORIES if name != known.memories)
    try:
        with closing(sqlite3.connect(folder / WORLD, timeout=_WAIT_S)) as old:
            old.execute(IN_MEMORY)
            old.execute("PRAGMA journal_mode = DELETE")  # no log is left that would be taken for the new file's
            old.execute("VACUUM INTO ?", (str(new),))
        with closing(sqlite3.connect(new)) as copy:
            copy.executescript(f"{IN_MEMORY} PRAGMA journal_mode = MEMORY; PRAGMA secure_delete = ON;")
            yield copy, memories
            copy.commit()
            copy.execute("VACUUM")
        with Log(new, KINDS) as log:
            log.append([known.model_copy(update={"at": present(), **changed, "memories": memories.name})])
        new.chmod(0o600)
        for path in (new, *(path for path in memories.rglob("*") if path.is_file())):
            _sync(path)
        new.replace(folder / WORLD)
        _sync(folder)
    except (OSError, sqlite3.Error) as error:
        cause = error if isinstance(error, OSError) else OSError(0, f"the database cannot be copied: {error}")
        raise MachineError.caused_by(cause, "cannot be written anew", str(folder)) from error
    finally:
        settle(folder)


def settle(folder: Path) -> None:
    """Remove what a world does not need any more, or what a killed process has left unfinished.

    Args:
        folder: a world's, which nobody else works on.

    Raises:
        MachineError: something cannot be removed.
    """
    try:
        for path in folder.glob(f"{_NEW}*"):
            path.unlink()
        if is_world(folder):
            for name in {*_MEMORIES} - {read_world(folder).memories}:
                if (folder / name).exists():
                    shutil.rmtree(folder / name)
    except OSError as error:
        raise MachineError.caused_by(error, "cannot be written anew", str(folder)) from error


def _sync(path: Path) -> None:
    with suppress(PermissionError):  # folders cannot be opened everywhere
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# What a world holds, also without opening it: no model is asked


Records = dict[tuple[str, str], Any]
"""Records of LangGraph's store: by namespace (joined by full stops) and key."""


@dataclass(frozen=True)
class ListedWorld:
    """A world and who is known there.

    Attributes:
        folder: where it is.
        agents: names of those who have a mind.
        ties: agent, and what it knows of a person.
        in_use: whether a process works on it.
    """

    folder: Path
    agents: list[str]
    ties: list[tuple[str, Tie]]
    in_use: bool


def list_worlds(root: Path = WORLDS) -> tuple[list[ListedWorld], list[str]]:
    """The worlds below a folder, by name, and why others could not be read.

    Args:
        root: a folder of worlds, or a world.
    """
    found, unread = [], []
    for folder in [root] if is_world(root) else sorted(path for path in root.glob("*") if is_world(path)):
        try:
            with Log(folder / WORLD, KINDS, read_only=True) as log:
                world, records = last_opened(log).world, records_in(log)
        except PerSimChatError as error:
            unread.append(str(error))
            continue
        agents = agents_in(records, world)
        ties = [(agent, Tie.model_validate(value)) for agent in agents for value in _of(records, ties_of(world, agent))]
        ties.sort(key=lambda one: (one[0], one[1].name.casefold()))
        found.append(ListedWorld(folder, agents, ties, is_held(folder)))
    return found, unread


def records_in(log: Log) -> Records:
    """All records of a world's store."""
    rows = log.rows("SELECT prefix, key, value FROM store")
    return {(prefix, key): json.loads(value) for prefix, key, value in rows}


def agents_in(records: Records, world: str) -> list[str]:
    """The names of the agents of a world that have a mind, sorted."""
    return sorted(key for prefix, key in records if prefix == f"{world}.minds")


def person_in(records: Records, folder: Path, world: str, name: str) -> Person:
    """A person of a world.

    Raises:
        InputError: nobody there has this name; the error names the nearest.
    """
    found = records.get((f"{world}.people", person_key(name)))
    if found is None:
        names = [value["name"] for value in _of(records, (world, "people"))]
        remedy = suggestion(name, names, otherwise="See who is known: persimchat companion list.")
        raise InputError(f"nobody here is called {name!r}", where=f"world {folder}", remedy=remedy)
    return Person(found["id"], found["name"])


def _of(records: Records, namespace: tuple[str, ...]) -> list[Any]:
    return [value for (prefix, _), value in records.items() if prefix == ".".join(namespace)]


def memories_in(folder: Path, known: Opened) -> dict[str, list[Memory]]:
    """All memories in a world's Chroma folder, alive or not, by agent. Blocks."""
    found: dict[str, list[Memory]] = {}
    if (folder / known.memories).is_dir():
        with held_store(str(folder / known.memories)) as store:
            for agent in store.agents(known.world):
                kept = store.load(known.world, agent, known.embedding, store.ids(known.world, agent))
                found[agent] = [memory for memory, _ in kept.values()]
    return found


def exchange_in(log: Log, exchange: str) -> Exchange | None:
    """An exchange that is over, by its id, also one that was taken back."""
    rows = log.rows("SELECT body FROM events WHERE kind = 'exchange' AND body ->> '$.id' = ?", exchange)
    return _exchange(rows[0][0]) if rows else None


def exchanges_in(log: Log, agent: str, person: str, last: int | None = None) -> list[Exchange]:
    """The exchanges of a pair that are over, in their order, without those taken back.

    Args:
        log: of the world.
        agent: the agent's name.
        person: id of the person.
        last: how many; None: all.
    """
    rows = log.rows(_SAID, agent, person, -1 if last is None else last)
    return [_exchange(body) for (body,) in reversed(rows)]


def pending_in(threads: Threads, thread: str) -> list[Exchange]:
    """Exchanges of a thread that are spoken and not digested yet."""
    found = threads.get_tuple({"configurable": {"thread_id": thread}})
    return list(found.checkpoint["channel_values"].get("pending") or []) if found is not None else []


def _exchange(body: str) -> Exchange:
    return cast(Exchange, {name: value for name, value in json.loads(body).items() if name not in ("agent", "person")})
