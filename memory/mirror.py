"""The mirror of one agent's memories in this process, so that retrieval needs no database.

It is a cache: everything in it can be made again from the mind's state and the store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from persimchat.memory.retrieval import Candidates, Vectors
from persimchat.state.memory import Memory

MINDS: Final = 512
"""The most mirrors kept in a process; the one unused for longest is dropped."""
_SPARE: Final = 64
"""The number of unneeded memories that a mirror may hold before it is pruned."""


class Mirror:
    """Memories and their vectors by id. Nothing is ever removed from it. Safe between threads and event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._memories: list[Memory] = []
        self._vectors: Vectors = np.empty((0, 0), dtype=np.float32)
        self._features: NDArray[np.float64] = np.empty((0, 7))

    def __len__(self) -> int:
        return len(self._rows)

    def missing(self, ids: Collection[str]) -> list[str]:
        """The ids that are not here, each once, in their order."""
        with self._lock:
            return [memory for memory in dict.fromkeys(ids) if memory not in self._rows]

    def add(self, memories: Sequence[Memory], vectors: Vectors) -> None:
        """Add memories with their vectors, shape (n, d); memories that are here already stay as they are."""
        with self._lock:
            fresh = {memory.id: i for i, memory in enumerate(memories) if memory.id not in self._rows}
            if not fresh:
                return
            chosen = list(fresh.values())
            start = len(self._memories)
            self._reserve(start + len(chosen), vectors.shape[1])
            for row, i in enumerate(chosen, start):
                memory = memories[i]
                self._rows[memory.id] = row
                self._memories.append(memory)
                self._vectors[row] = vectors[i]
                self._features[row] = [memory.importance, *memory.emotion]

    def memories(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in their order.

        Raises:
            KeyError: one is missing.
        """
        with self._lock:
            return [self._memories[self._rows[memory]] for memory in ids]

    def vectors(self, ids: Sequence[str]) -> Vectors:
        """The vectors of these ids, in their order, shape (n, d).

        Raises:
            KeyError: one is missing.
        """
        with self._lock:
            return self._vectors[[self._rows[memory] for memory in ids]]

    def candidates(self, alive: Mapping[str, int]) -> Candidates:
        """The data of the memories alive that retrieval needs, in order of arrival.

        Raises:
            KeyError: one is missing.
        """
        with self._lock:
            rows = [self._rows[memory] for memory in alive]
            features = self._features[rows]
            return Candidates(
                ids=list(alive),
                last_access=np.fromiter(alive.values(), dtype=np.int64, count=len(alive)),
                importance=features[:, 0],
                emotions=features[:, 1:],
                vectors=self._vectors[rows],
            )

    def pruned(self, keep: Collection[str]) -> Mirror:
        """A mirror with only the memories in `keep`; this one itself if copying would free too little."""
        with self._lock:
            if len(self._rows) <= len(keep) + _SPARE:
                return self
            wanted = set(keep)
            rows = [row for memory, row in self._rows.items() if memory in wanted]
            memories, vectors = [self._memories[row] for row in rows], self._vectors[rows]
        smaller = Mirror()
        smaller.add(memories, vectors)
        return smaller

    def _reserve(self, rows: int, dimensions: int) -> None:
        have = len(self._vectors)
        if rows <= have:
            return
        room = max(rows, 2 * have, 32)
        vectors = np.zeros((room, dimensions), dtype=np.float32)
        features = np.zeros((room, self._features.shape[1]))
        if self._memories:
            vectors[: len(self._memories)] = self._vectors[: len(self._memories)]
            features[: len(self._memories)] = self._features[: len(self._memories)]
        self._vectors, self._features = vectors, features


Key = tuple[str, str, str, str]
"""Store, embedding, simulation, agent."""


class Mirrors:
    """The mirrors of this process, bounded; the one unused for longest is dropped first. Safe between threads."""

    def __init__(self, limit: int = MINDS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._mirrors: OrderedDict[Key, Mirror] = OrderedDict()

    def __len__(self) -> int:
        return len(self._mirrors)

    def of(self, key: Key) -> Mirror:
        """The mirror of one mind; a new one if there is none."""
        with self._lock:
            mirror = self._mirrors.get(key)
            if mirror is None:
                mirror = self._mirrors[key] = Mirror()
            self._mirrors.move_to_end(key)
            while len(self._mirrors) > self._limit:
                self._mirrors.popitem(last=False)
            return mirror

    def prune(self, key: Key, keep: Collection[str]) -> None:
        """Replace a mirror that holds much besides `keep` by a smaller one.

        Tasks that use the old one at this moment continue with it; what they add there must be made again.
        """
        smaller = self.of(key).pruned(keep)
        with self._lock:
            if key in self._mirrors:
                self._mirrors[key] = smaller

    def discard(self, simulation: str) -> None:
        """Drop the mirrors of a simulation."""
        with self._lock:
            for key in [key for key in self._mirrors if key[2] == simulation]:
                del self._mirrors[key]
