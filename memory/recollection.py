"""Remembering and recalling for the cognitive modules: a mirror in front of Chroma, off the event loop.

A mind's state decides which memories are alive; it keeps a full copy of each memory that Chroma has not confirmed
(`unsaved`). So the mirror can be lost at any moment: missing memories are embedded again from `unsaved`, or read from
the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from persimchat.memory.chroma_client import EPHEMERAL, RUN, resolved
from persimchat.memory.embedding_texts import embed
from persimchat.memory.mirror import Key, Mirror, Mirrors
from persimchat.memory.retrieval import Cue, Vectors, cosines, retrieve
from persimchat.memory.store import store
from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import InputError
from persimchat.state.memory import Memory
from persimchat.state.mind import Recalled
from persimchat.state.settings import Settings

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
    await _embedded(settings, agent, _mirror(settings, simulation, agent), memories)


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
    vectors = await _embedded(settings, agent, _mirror(settings, simulation, agent), memories)

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
    stm_vector = (await _embedded(settings, agent, mirror, [stm_memory]))[0] if stm_memory else None
    questions = await embed(settings, focal_points, agent=agent)
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
    vector = await _embedded(settings, agent, mirror, [memory])
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


async def _embedded(settings: Settings, agent: str, mirror: Mirror, memories: Sequence[Memory]) -> Vectors:
    """The memories' vectors, shape (n, d); each is computed once and kept in the mirror."""
    if not memories:
        return np.empty((0, 0), dtype=np.float32)
    ids = [memory.id for memory in memories]
    by_id = dict(zip(ids, memories, strict=True))
    missing = mirror.missing(ids)
    if missing:
        fresh = [by_id[memory] for memory in missing]
        mirror.add(fresh, await embed(settings, [memory.text for memory in fresh], agent=agent))
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
        settings, agent, mirror, [Memory.model_validate(whole[memory]) for memory in missing if memory in whole]
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
