"""The store of memories: one Chroma collection per simulation and agent.

Chroma's calls are synchronous: call these methods in a thread. The store does not know which memories are alive:
the mind's state says so, and a collection may hold more (the future of another branch, dropped memories).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import httpx
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from ..models.redaction import short
from ..state.errors import InputError, MachineError
from ..state.minds.memory import Memory
from .chroma_client import EPHEMERAL, blank_spare, connect, errors, resolved
from .retrieval import Vectors

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

_PAGE: Final = 1000
"""The most memories in one call: Chroma puts every id into one SQL statement, whose length is limited."""
_NEIGHBOURS: Final = 4
"""Links of a memory in the index, which is not used: recall is computed exactly."""
_MUCH_FREE: Final = 0.03
"""Share of a database's pages."""
_PREFIX: Final = "persimchat-"
_FIELDS: Final = ("kind", "theme", "keywords", "importance", "emotion", "turn", "depth", "evidence")
_OF_COMPANIONS: Final = ("circumstance", "heard_by")
"""Fields that follow in a companion's memories."""
_SYNC: Final = 10
"""The number of memories that Chroma keeps a second time, in its log, until it writes them to the index."""


class MemoryStore:
    """One Chroma database. Safe between threads.

    Args:
        location: `ephemeral`, a folder, or `http://host:port`.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        # Chroma declares the interface ClientAPI, whose implementation, Client, alone has `close`.
        self._open: Client | None = cast("Client", connect(location))
        self._collections: dict[str, Collection] = {}
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._working = 0
        self._written = False

    def save(self, simulation: str, agent: str, embedding: str, memories: Sequence[Memory], vectors: Vectors) -> None:
        """Write memories; existing ones stay as they are.

        Args:
            simulation: the run's id.
            agent: whose memories they are.
            embedding: name of the embedding that the vectors come from.
            memories: the memories to write.
            vectors: their embeddings, shape (n, d), rows of length 1.

        Raises:
            InputError: the collection was made with another embedding.
            MachineError: Chroma failed.
        """
        unique = {memory.id: i for i, memory in enumerate(memories)}
        rows = list(unique.values())
        with self._failures(agent):
            collection = self._opened(simulation, agent, embedding, create=True)
            for page in _pages(rows):
                collection.upsert(
                    ids=[memories[i].id for i in page],
                    embeddings=vectors[page],
                    metadatas=[{"memory": _kept(memories[i])} for i in page],
                )
                self._written = True

    def load(
        self, simulation: str, agent: str, embedding: str, ids: Sequence[str]
    ) -> dict[str, tuple[Memory, NDArray[np.float32]]]:
        """Read memories by id, page by page; unknown ids are missing from the result.

        Raises:
            InputError: the collection was made with another embedding.
            MachineError: Chroma failed, or holds something else than memories.
        """
        found: dict[str, tuple[Memory, NDArray[np.float32]]] = {}
        with self._failures(agent):
            try:
                collection = self._opened(simulation, agent, embedding, create=False)
            except errors().NotFoundError:
                return found
            for page in _pages(list(dict.fromkeys(ids))):
                got = collection.get(ids=page, include=["metadatas", "embeddings"])
                vectors = np.asarray(got["embeddings"], dtype=np.float32)
                for memory_id, metadata, vector in zip(got["ids"], got["metadatas"] or [], vectors, strict=True):
                    found[memory_id] = (_whole(memory_id, str(metadata["memory"])), vector)
        return found

    def copy_to(
        self, other: MemoryStore, simulation: str, new_simulation: str, agent: str, embedding: str, ids: Sequence[str]
    ) -> list[str]:
        """Copy an agent's memories into another simulation, here or elsewhere; vectors stay as they are to the bit.

        Args:
            other: the target; may be this store.
            simulation: the source simulation.
            new_simulation: the simulation that gets the copies.
            agent: whose memories they are, in both.
            embedding: name of the embedding that the vectors come from.
            ids: the memories to copy; those that the copy already has stay as they are.

        Returns:
            The ids that this store does not have, in their order.

        Raises:
            InputError: a collection was made with another embedding.
            MachineError: Chroma failed, or holds something else than memories.
        """
        wanted = list(dict.fromkeys(ids))
        for page in _pages(wanted):
            found = self.load(simulation, agent, embedding, page)
            kept = [found[memory] for memory in page if memory in found]
            if kept:
                memories, vectors = zip(*kept, strict=True)
                other.save(new_simulation, agent, embedding, memories, np.stack(vectors))
            wanted = [memory for memory in wanted if memory not in found]
        return wanted

    def agents(self, simulation: str) -> list[str]:
        """Names of the agents of a simulation that have memories here, sorted."""
        with self._failures():
            return sorted(str((c.metadata or {})["agent"]) for c in self._of(simulation))

    def ids(self, simulation: str, agent: str) -> list[str]:
        """The ids of all memories of an agent that are kept here, alive or not, sorted."""
        with self._failures(agent):
            try:
                found = self._client.get_collection(collection_name(simulation, agent), embedding_function=None)
            except errors().NotFoundError:
                return []
            return sorted(found.get(include=[])["ids"])

    def any_of(self, simulation: str, embedding: str) -> tuple[Memory, NDArray[np.float32]] | None:
        """A memory of a simulation with its vector; None if there is none. Raises as `load`."""
        for agent in self.agents(simulation):
            with self._failures(agent):
                found = self._opened(simulation, agent, embedding, create=False).get(limit=1, include=[])["ids"]
            if kept := self.load(simulation, agent, embedding, found):
                return next(iter(kept.values()))
        return None

    def count(self, simulation: str, agent: str) -> int:
        """How many memories of an agent are kept here, alive or not."""
        with self._failures(agent):
            try:
                return self._client.get_collection(collection_name(simulation, agent), embedding_function=None).count()
            except errors().NotFoundError:
                return 0

    def forget(self, simulation: str) -> None:
        """Delete all memories of all agents of a simulation."""
        if self.location == EPHEMERAL and self._open is None:
            return  # there are none
        with self._failures():
            for collection in list(self._of(simulation)):
                with self._lock:
                    self._collections.pop(collection.name, None)
                try:
                    self._client.delete_collection(collection.name)
                except errors().NotFoundError:
                    continue  # another process was faster
        if self.location == EPHEMERAL:
            self._close_empty()

    def close(self) -> None:
        """Close the database; the store cannot be used afterwards. Its folder may then be moved or deleted."""
        with self._lock:
            self._collections.clear()
        with self._failures(), self._connecting:
            client, self._open = self._open, None
            if client is not None:
                client.close()
                if self._written:
                    _tidy(self.location)

    @property
    def _client(self) -> Client:
        """Chroma's client, made again if the database was closed because it was empty."""
        with self._connecting:
            if self._open is None:
                self._open = cast("Client", connect(self.location))
            return self._open

    def _close_empty(self) -> None:
        """Close an ephemeral database that is empty and not in use.

        Chroma keeps the index of a deleted collection in memory, some 3 MB, for as long as a client is open.
        """
        with self._failures(), self._lock, self._connecting:
            if self._open is not None and self._working == 1 and self._open.count_collections() == 0:
                self._collections.clear()
                client, self._open = self._open, None
                client.close()

    def _of(self, simulation: str) -> Iterator[Collection]:
        offset = 0
        while page := self._client.list_collections(limit=_PAGE, offset=offset):
            yield from (c for c in page if (c.metadata or {}).get("simulation") == simulation)
            offset += len(page)

    def _opened(self, simulation: str, agent: str, embedding: str, *, create: bool) -> Collection:
        name = collection_name(simulation, agent)
        with self._lock:
            if name not in self._collections:
                self._collections[name] = self._collection(name, simulation, agent, embedding, create)
            collection = self._collections[name]
        made_with = (collection.metadata or {}).get("embedding")
        if made_with != embedding:
            raise InputError(
                f"the memories of {agent} were kept with the embedding {made_with!r}, not {embedding!r}",
                where=f"store {self.location}",
                remedy=f"Continue this simulation with embedding={made_with}, or start a new one.",
            )
        return collection

    def _collection(self, name: str, simulation: str, agent: str, embedding: str, create: bool) -> Collection:
        # embedding_function=None: Chroma's default one downloads a model.
        if not create:
            return self._client.get_collection(name, embedding_function=None)
        # Our vectors have length 1, so their inner product is their cosine. Chroma's own "cosine" would scale them
        # again and give them back changed in the last bits, and a resumed run would differ from one that went on.
        return self._client.get_or_create_collection(
            name,
            metadata={"simulation": simulation, "agent": agent, "embedding": embedding},
            configuration={
                "hnsw": {"space": "ip", "max_neighbors": _NEIGHBOURS, "batch_size": _SYNC, "sync_threshold": _SYNC}
            },
            embedding_function=None,
        )

    @contextmanager
    def _failures(self, agent: str = "") -> Iterator[None]:
        """Turn Chroma's exceptions into errors that a user can read."""
        where = f"store {self.location}" + (f", agent {agent}" if agent else "")
        with self._lock:
            self._working += 1
        try:
            yield
        except ValidationError as error:
            raise MachineError(
                "the memory store holds an entry that is not a memory",
                where=where,
                remedy="Use a separate store for PerSimChat.",
            ) from error
        except errors().NotFoundError as error:
            with self._lock:
                self._collections.clear()
            raise MachineError(
                "the memories were deleted while they were in use",
                where=where,
                remedy="Do not delete a run while it is going on.",
            ) from error
        except httpx.HTTPError as error:
            raise MachineError(
                f"the memory store does not answer ({type(error).__name__})",
                where=where,
                remedy="Check that the Chroma server is still running.",
            ) from error
        except (errors().ChromaError, ValueError, OSError, RuntimeError) as error:
            raise MachineError(
                f"the memory store failed: {short(str(error))}",
                where=where,
                remedy="Check free space and permissions.",
            ) from error
        finally:
            with self._lock:
                self._working -= 1


def _kept(memory: Memory) -> str:
    """A memory as a JSON list without its id, which is beside it: Chroma keeps each text twice, once in an index."""
    found = memory.model_dump()
    own = [found.get(name) for name in _OF_COMPANIONS] if any(name in found for name in _OF_COMPANIONS) else []
    return json.dumps([*(found[name] for name in _FIELDS), *own], ensure_ascii=False, separators=(",", ":"))


def _whole(memory: str, kept: str) -> Memory:
    """A memory from its stored JSON; earlier versions stored its id too."""
    try:
        value = json.loads(kept)
        names = _FIELDS if len(value) == len(_FIELDS) else (*_FIELDS, *_OF_COMPANIONS)
        found = dict(zip(names, value, strict=True)) if isinstance(value, list) else value
    except ValueError:
        return Memory.model_validate_json(kept)  # says what is wrong
    return Memory.model_validate({"id": memory, **found} if isinstance(found, dict) else found)


def _tidy(location: str) -> None:
    """Blank what Chroma's indexes have not used; free the space that its log has left, if it is a large share."""
    path = Path(location) / "chroma.sqlite3"
    if location == EPHEMERAL or "://" in location or not path.is_file():
        return
    blank_spare(path.parent)
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
        (free,), (pages,) = (database.execute(f"PRAGMA {what}").fetchone() for what in ("freelist_count", "page_count"))
        if free > _MUCH_FREE * pages:
            database.execute("VACUUM")


def collection_name(simulation: str, agent: str) -> str:
    """The collection's name: a hash, because Chroma's names must be short and of few characters."""
    pair = json.dumps([simulation, agent]).encode()
    return _PREFIX + hashlib.sha256(pair).hexdigest()[:40]


def _pages(items: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), _PAGE):
        yield list(items[start : start + _PAGE])


_stores: dict[str, MemoryStore] = {}
_users: Counter[str] = Counter()
_stores_lock = threading.Lock()


def store(location: str) -> MemoryStore:
    """The store at a location; one for each location in a process.

    Args:
        location: `ephemeral` (or `run`, if there is no run's folder), a folder, or `http://host:port`.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """
    place = resolved(location)
    with _stores_lock:
        return _opened_at(place)


@contextmanager
def held_store(location: str) -> Iterator[MemoryStore]:
    """The store at a location while it is in use; the last user closes it (see `release`).

    Args:
        location: as for `store`.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """
    place = resolved(location)
    with _stores_lock:
        held = _opened_at(place)
        _users[place] += 1
    try:
        yield held
    finally:
        with _stores_lock:
            _users[place] -= 1
        release(place)


def release(location: str) -> bool:
    """Close the store at a location unless it is in use; it is opened again when needed.

    An ephemeral store stays open: closing it would lose the memories of every simulation in this process.

    Args:
        location: as for `store`.

    Returns:
        Whether no store is open there now.

    Raises:
        MachineError: Chroma failed.
    """
    place = resolved(location)
    with _stores_lock:
        if place == EPHEMERAL or _users[place] > 0:
            return place not in _stores
        _users.pop(place, None)
        leaving = _stores.pop(place, None)
        if leaving is not None:
            leaving.close()  # under the lock: the same folder is not opened while it is being closed
    return True


def _opened_at(place: str) -> MemoryStore:
    if place not in _stores:
        _stores[place] = MemoryStore(place)
    return _stores[place]
