"""The mirror of one agent's memories in this process, so that retrieval needs no database.

It is a cache: everything in it can be made again from the mind's state and the store.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ..state.errors import InputError
from ..state.minds.emotion import EMOTIONS
from ..state.minds.memory import Memory
from ..state.minds.mind import Recalled
from ..state.settings import Settings
from .chroma_client import EPHEMERAL, RUN, resolved
from .embedding_texts import Space, embed
from .embeddings import LEXICAL, MINILM
from .retrieval import Candidates, Cue, Vectors, cosines, retrieve
from .store import store
from .utterance_vectors import utterance_vectors

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
        self._spaces: OrderedDict[tuple[str, str, str], Space] = OrderedDict()

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

    def space(self, settings: Settings, simulation: str) -> Space | None:
        """Where a simulation's memories lie; None for embeddings of this machine, which do not change."""
        if settings.embedding.strip() in (LEXICAL, MINILM):
            return None
        with self._lock:
            found = self._spaces.setdefault(place := (settings.store, settings.embedding, simulation), Space())
            self._spaces.move_to_end(place)
            while len(self._spaces) > self._limit:
                self._spaces.popitem(last=False)
            return found

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
            for place in [place for place in self._spaces if place[2] == simulation]:
                del self._spaces[place]


# Remembering and recalling for the cognitive modules: a mirror in front of Chroma, off the event loop


Whole = Mapping[str, Any]
"""A memory as the mind's state keeps it: `Memory.model_dump()`."""

_mirrors = Mirrors()

_DECIMALS: Final = 3
"""Decimals of a reported score."""


async def remember(settings: Settings, simulation: str, agent: str, memories: Sequence[Memory]) -> None:
    """Embed memories and keep them in the mirror for recall; this does not write the store (see `save`).

    Raises:
        ModelError: the embedding failed (TransientModelError if trying again may help).
    """
    await _embedded(settings, simulation, agent, _mirror(settings, simulation, agent), memories)


async def save(settings: Settings, simulation: str, agent: str, unsaved: Sequence[Whole]) -> None:
    """Write memories to the store in one batch. Writing the same memories again changes nothing.

    Only after this has returned may the caller empty the mind's `unsaved`.

    Raises:
        InputError: the store cannot be used, or holds this agent's memories with another embedding.
        PerSimChatError: the store failed.
        ModelError: the embedding failed.
    """
    if not unsaved:
        return
    memories = [Memory.model_validate(whole) for whole in unsaved]
    vectors = await _embedded(settings, simulation, agent, _mirror(settings, simulation, agent), memories)

    def write() -> None:
        store(settings.store).save(simulation, agent, settings.embedding, memories, vectors)

    await asyncio.to_thread(write)


async def recall(
    settings: Settings,
    simulation: str,
    agent: str,
    *,
    alive: Mapping[str, int],
    unsaved: Sequence[Whole],
    stm: Whole | None,
    focal_points: Sequence[str],
    emotion: Mapping[str, int],
    turn: int,
) -> list[Recalled]:
    """Recall, for every focal point, the 30 memories alive that score highest (specification, step 3).

    Args:
        settings: weights, switches, embedding and store count.
        simulation: the run's id.
        agent: who recalls.
        alive: id → turn of last access, in order of arrival; not changed: the caller sets the last access of the
            returned memories to `turn`.
        unsaved: full copies of the memories that the store has not confirmed.
        stm: the full memory in short-term memory.
        focal_points: the questions that direct retrieval.
        emotion: the agent's emotional state now, six emotions 0–10.
        turn: number of utterances so far.

    Returns:
        Every recalled memory once, best first, with the weighted components of its score. These have three decimals,
        because they only explain the order, and every checkpoint holds them.

    Raises:
        InputError: a memory alive cannot be found, or the store cannot be used.
        ModelError: the embedding failed.
    """
    mirror = await _complete(settings, simulation, agent, list(alive), unsaved)
    stm_memory = Memory.model_validate(stm) if stm else None
    if not alive or not focal_points:
        return []
    stm_vector = (await _embedded(settings, simulation, agent, mirror, [stm_memory]))[0] if stm_memory else None
    questions = await _embed(settings, simulation, agent, focal_points)
    cue = Cue(
        focal_points=questions,
        stm=stm_vector if settings.stm_retrieval else None,
        emotion=[emotion[name] for name in EMOTIONS] if settings.emotional_retrieval else None,
        turn=turn,
        decay=settings.companion.recency_decay,
    )
    candidates = mirror.candidates(alive)
    needed = {*alive, *(whole["id"] for whole in unsaved), *([stm_memory.id] if stm_memory else [])}
    _mirrors.prune(_key(settings, simulation, agent), needed)
    return [_told(recalled) for recalled in retrieve(candidates, cue, settings.weights)]


def _told(recalled: Recalled) -> Recalled:
    numbers = {name: round(value, _DECIMALS) for name, value in recalled.items() if isinstance(value, float)}
    return cast(Recalled, {**recalled, **numbers})  # type checkers do not follow ** into a TypedDict


async def memories_of(
    settings: Settings, simulation: str, agent: str, ids: Sequence[str], unsaved: Sequence[Whole]
) -> list[Memory]:
    """The memories with these ids, in their order.

    Raises:
        InputError: one cannot be found, or the store cannot be used.
        ModelError: the embedding failed.
    """
    return (await _complete(settings, simulation, agent, ids, unsaved)).memories(ids)


async def similarity(
    settings: Settings,
    simulation: str,
    agent: str,
    memory: Memory,
    alive: Mapping[str, int],
    unsaved: Sequence[Whole],
) -> float:
    """The greatest cosine of a memory with any other memory alive, −1 to 1; 0 if there is none.

    Raises:
        InputError: a memory alive cannot be found, or the store cannot be used.
        ModelError: the embedding failed.
    """
    others = [known for known in alive if known != memory.id]
    if not others:
        return 0.0
    mirror = await _complete(settings, simulation, agent, others, unsaved)
    vector = await _embedded(settings, simulation, agent, mirror, [memory])
    return float(cosines(vector, mirror.vectors(others)).max())


def discard(simulation: str) -> None:
    """Drop the mirrors of a simulation in this process; the store keeps its memories."""
    _mirrors.discard(simulation)
    utterance_vectors.discard(simulation)


def let_go(location: str, simulation: str) -> None:
    """Release a simulation that will not continue: drop its mirrors, and delete its memories if they are ephemeral.

    A collection in a process's memory takes some 3 MB, even if it holds little. Blocks: call it in a thread.

    Args:
        location: the store, as in the settings.
        simulation: the run's id.

    Raises:
        PerSimChatError: the store failed.
    """
    discard(simulation)
    if resolved(location) == EPHEMERAL:
        store(EPHEMERAL).forget(simulation)


async def forget(settings: Settings, simulation: str) -> None:
    """Delete all memories of a simulation, here and in the store.

    Raises:
        InputError: the store cannot be used.
        PerSimChatError: the store failed.
    """
    discard(simulation)
    await asyncio.to_thread(lambda: store(settings.store).forget(simulation))


def _key(settings: Settings, simulation: str, agent: str) -> Key:
    return (settings.store, settings.embedding, simulation, agent)


def _mirror(settings: Settings, simulation: str, agent: str) -> Mirror:
    return _mirrors.of(_key(settings, simulation, agent))


async def _embed(settings: Settings, simulation: str, agent: str, texts: Sequence[str]) -> Vectors:
    """The vectors of texts beside a simulation's memories; another model than theirs is noticed."""
    space = _mirrors.space(settings, simulation)
    known = await _known(settings, simulation) if space is not None and space.first is None else None
    return await embed(settings, texts, agent=agent, space=space, known=known)


async def _known(settings: Settings, simulation: str) -> tuple[str, Vectors] | None:
    """The text of a simulation's memory, whose ever it is, with its vector as it was kept; None if none was."""
    found = await asyncio.to_thread(lambda: store(settings.store).any_of(simulation, settings.embedding))
    return None if found is None else (found[0].text, found[1])


async def _embedded(
    settings: Settings, simulation: str, agent: str, mirror: Mirror, memories: Sequence[Memory]
) -> Vectors:
    """The memories' vectors, shape (n, d); each is computed once and kept in the mirror."""
    if not memories:
        return np.empty((0, 0), dtype=np.float32)
    ids = [memory.id for memory in memories]
    by_id = dict(zip(ids, memories, strict=True))
    missing = mirror.missing(ids)
    if missing:
        fresh = [by_id[memory] for memory in missing]
        mirror.add(fresh, await _embed(settings, simulation, agent, [memory.text for memory in fresh]))
    return mirror.vectors(ids)


async def _complete(
    settings: Settings, simulation: str, agent: str, ids: Sequence[str], unsaved: Sequence[Whole]
) -> Mirror:
    """The agent's mirror, with all of these memories in it."""
    mirror = _mirror(settings, simulation, agent)
    missing = mirror.missing(ids)
    if not missing:
        return mirror
    whole = {memory["id"]: memory for memory in unsaved}
    await _embedded(
        settings,
        simulation,
        agent,
        mirror,
        [Memory.model_validate(whole[memory]) for memory in missing if memory in whole],
    )
    wanted = mirror.missing(ids)
    if wanted:
        found = await asyncio.to_thread(
            lambda: store(settings.store).load(simulation, agent, settings.embedding, wanted)
        )
        lost = [memory for memory in wanted if memory not in found]
        if lost:
            raise _lost(settings, agent, len(lost))
        memories = [found[memory][0] for memory in wanted]
        mirror.add(memories, np.stack([found[memory][1] for memory in wanted]))
    return mirror


def _lost(settings: Settings, agent: str, count: int) -> InputError:
    remedy = (
        "An ephemeral store does not outlive its process: start the simulation again, with a folder as store if "
        "you want to resume it."
        if settings.store in (EPHEMERAL, RUN)
        else "Use the store that the simulation was started with."
    )
    lost = "1 memory" if count == 1 else f"{count} memories"
    return InputError(f"{lost} of {agent} cannot be found", where=f"store {settings.store}", remedy=remedy)
