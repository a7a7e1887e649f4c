"""Where memories are kept: one Chroma collection per simulation and agent.

Chroma's calls are synchronous: call these methods in a thread. Which memories are alive is not known here; the mind's
state says so, and a collection may hold more (the future of another branch, what was forgotten).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import httpx
import numpy as np
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.errors import ChromaError, NotFoundError
from numpy.typing import NDArray
from pydantic import ValidationError

from persimchat.memory.chroma_client import EPHEMERAL, connect, resolved
from persimchat.memory.retrieval import Vectors
from persimchat.models.redaction import short
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.memory import Memory

_PAGE: Final = 1000
"""Memories in one call: Chroma puts every id into one SQL statement, and those have a limit."""
_PREFIX: Final = "persimchat-"


class MemoryStore:
    """One Chroma database. Safe between threads.

    Args:
        location: `ephemeral`, a folder, or `http://host:port`.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._client = cast(Client, connect(location))
        self._collections: dict[str, Collection] = {}
        self._lock = threading.Lock()

    def save(self, simulation: str, agent: str, embedding: str, memories: Sequence[Memory], vectors: Vectors) -> None:
        """Write memories; those that are there already stay as they are.

        Args:
            simulation: the run's id.
            agent: whose memories they are.
            embedding: name of the embedding that the vectors come from.
            memories: what to write.
            vectors: their embeddings, shape (n, d), rows of length 1.

        Raises:
            InputError: the collection was made with another embedding.
            PerSimChatError: Chroma failed.
        """
        unique = {memory.id: i for i, memory in enumerate(memories)}
        rows = list(unique.values())
        with self._failures(agent):
            collection = self._opened(simulation, agent, embedding, create=True)
            for page in _pages(rows):
                collection.upsert(
                    ids=[memories[i].id for i in page],
                    embeddings=vectors[page],
                    documents=[memories[i].text for i in page],
                    metadatas=[{"memory": memories[i].model_dump_json()} for i in page],
                )

    def load(
        self, simulation: str, agent: str, embedding: str, ids: Sequence[str]
    ) -> dict[str, tuple[Memory, NDArray[np.float32]]]:
        """Read memories by id, page by page; ids that are not there are missing from the answer.

        Raises:
            InputError: the collection was made with another embedding.
            PerSimChatError: Chroma failed, or holds something else than memories.
        """
        found: dict[str, tuple[Memory, NDArray[np.float32]]] = {}
        with self._failures(agent):
            try:
                collection = self._opened(simulation, agent, embedding, create=False)
            except NotFoundError:
                return found
            for page in _pages(list(dict.fromkeys(ids))):
                got = collection.get(ids=page, include=["metadatas", "embeddings"])
                vectors = np.asarray(got["embeddings"], dtype=np.float32)
                for memory_id, metadata, vector in zip(got["ids"], got["metadatas"] or [], vectors, strict=True):
                    found[memory_id] = (Memory.model_validate_json(str(metadata["memory"])), vector)
        return found

    def copy_to(
        self, other: MemoryStore, simulation: str, new_simulation: str, agent: str, embedding: str, ids: Sequence[str]
    ) -> list[str]:
        """Copy an agent's memories into another simulation, here or elsewhere; vectors stay as they are to the bit.

        Args:
            other: where they go; may be this store.
            simulation: whose they are.
            new_simulation: whose copies they become.
            agent: whose memories they are, in both.
            embedding: name of the embedding that the vectors come from.
            ids: which; memories that the copy has already stay as they are.

        Returns:
            Those of the ids that are not kept here, in their order.

        Raises:
            InputError: a collection was made with another embedding.
            PerSimChatError: Chroma failed, or holds something else than memories.
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

    def count(self, simulation: str, agent: str) -> int:
        """How many memories of an agent are kept here, alive or not."""
        with self._failures(agent):
            try:
                return self._client.get_collection(collection_name(simulation, agent), embedding_function=None).count()
            except NotFoundError:
                return 0

    def forget(self, simulation: str) -> None:
        """Delete all memories of all agents of a simulation."""
        with self._failures():
            for collection in list(self._of(simulation)):
                with self._lock:
                    self._collections.pop(collection.name, None)
                try:
                    self._client.delete_collection(collection.name)
                except NotFoundError:
                    continue  # another process was faster

    def close(self) -> None:
        """Let go of the database; the store is of no use afterwards. Its folder may then be moved or deleted."""
        with self._lock:
            self._collections.clear()
        with self._failures():
            self._client.close()

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
            configuration={"hnsw": {"space": "ip"}},
            embedding_function=None,
        )

    @contextmanager
    def _failures(self, agent: str = "") -> Iterator[None]:
        """Turn what Chroma raises into an error that a user can read."""
        where = f"store {self.location}" + (f", agent {agent}" if agent else "")
        try:
            yield
        except ValidationError as error:
            raise PerSimChatError(
                "the memory store holds something that is no memory", where=where, remedy="Use a store of its own."
            ) from error
        except NotFoundError as error:
            with self._lock:
                self._collections.clear()
            raise PerSimChatError(
                "the memories were deleted while they were in use", where=where, remedy="Do not delete a run under way."
            ) from error
        except httpx.HTTPError as error:
            raise PerSimChatError(
                f"the memory store does not answer ({type(error).__name__})",
                where=where,
                remedy="Is the Chroma server still running? The run can be resumed.",
            ) from error
        except (ChromaError, ValueError, OSError, RuntimeError) as error:
            raise PerSimChatError(
                f"the memory store failed: {short(str(error))}",
                where=where,
                remedy="Check free space and permissions; the run can be resumed.",
            ) from error


def collection_name(simulation: str, agent: str) -> str:
    """The collection's name: a hash, because Chroma's names allow few characters and little length."""
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
        location: `ephemeral` (or `run`, for whoever has no run's folder), a folder, or `http://host:port`.

    Raises:
        InputError: the folder cannot be used, or the server cannot be reached.
    """
    place = resolved(location)
    with _stores_lock:
        return _opened_at(place)


@contextmanager
def held_store(location: str) -> Iterator[MemoryStore]:
    """The store at a location for as long as somebody works with it; the last one to leave closes it (see `release`).

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
    """Close the store at a location unless somebody holds it; whoever needs it again opens it again.

    What is ephemeral stays: closing would lose the memories of every simulation in this process.

    Args:
        location: as for `store`.

    Returns:
        Whether no store is open there now.

    Raises:
        PerSimChatError: Chroma failed.
    """
    place = resolved(location)
    with _stores_lock:
        if place == EPHEMERAL or _users[place] > 0:
            return place not in _stores
        _users.pop(place, None)
        leaving = _stores.pop(place, None)
        if leaving is not None:
            leaving.close()  # under the lock: nobody opens the same folder while it is being closed
    return True


def _opened_at(place: str) -> MemoryStore:
    if place not in _stores:
        _stores[place] = MemoryStore(place)
    return _stores[place]
