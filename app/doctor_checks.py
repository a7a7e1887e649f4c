"""Checks what a run needs: one check per part, with a remedy if it fails."""

from __future__ import annotations

import asyncio
import platform
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from ..memory.embedding_texts import embed
from ..memory.retrieval import Vectors
from ..memory.store import store
from ..models.attention.scoring import check_scorer, reading, reads_attention, scorer_of
from ..models.health_check import check_model, named_models, reach
from ..models.naming import default_model_name
from ..models.waiting import waiting_for
from ..state.errors import InputError, PerSimChatError
from ..state.minds.memory import new_memory
from ..state.settings import Settings

_AGENT = "doctor"
_TEXT = "A patient remembers."


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        part: what was checked.
        text: what was found; for a problem also what to do.
        exit_code: 0 if there is no problem, else the exit code of the problem.
    """

    part: str
    text: str
    exit_code: int = 0


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Check everything that these settings need, part by part."""
    yield Finding("python", f"{platform.python_version()}, persimchat {version('persimchat')}")
    _, notice = default_model_name(settings.model)
    if notice:
        yield Finding("note", notice)
    for name in named_models(settings):
        yield await _checked("model", lambda name=name: _check_model(name, settings))  # type: ignore[misc]
    if reads_attention(settings):
        yield await _checked("scorer", lambda: reading(_check_scorer, settings.pruning.scorer))
    vectors: list[Vectors] = []
    yield await _checked("embedding", lambda: _check_embedding(settings, vectors))
    # The store is checked even if the embedding fails, so that one run of the doctor finds every problem.
    rows = vectors[0] if vectors else np.ones((1, 8), np.float32)
    yield await _checked("memory", lambda: _check_store(settings, rows))


async def _checked(part: str, check: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(part, await check())
    except PerSimChatError as error:
        return Finding(part, str(error), error.exit_code)


async def _check_model(name: str, settings: Settings) -> str:
    """Find out whether the model's server is there, then ask it."""
    await reach(name, settings)
    return await check_model(name, settings)


async def _check_embedding(settings: Settings, vectors: list[Vectors]) -> str:
    started = time.perf_counter()
    with waiting_for(settings.embedding):
        rows = await embed(settings, [_TEXT])
    vectors.append(rows)
    return f"{settings.embedding}: {rows.shape[1]} dimensions, {time.perf_counter() - started:.1f} s"


def _check_scorer(name: str) -> str:
    """Load the scorer and let it read a line."""
    started = time.perf_counter()
    check_scorer(name)
    scorer = scorer_of(name)
    loaded = time.perf_counter()
    scorer.scores(_AGENT, _TEXT, [(0, len(_TEXT))])
    seconds = time.perf_counter() - loaded
    return f"{name}: reads up to {scorer.context:,} tokens; loaded in {loaded - started:.1f} s, read in {seconds:.1f} s"


async def _check_store(settings: Settings, vectors: Vectors) -> str:
    """Write a memory, read it, delete it."""
    simulation = f"doctor-{uuid.uuid4()}"
    memory = new_memory(_AGENT, 0, "perception", _TEXT, ["patient"], 1, [0] * 6)

    def there_and_back() -> bool:
        kept = store(settings.store)
        kept.save(simulation, _AGENT, settings.embedding, [memory], vectors)
        try:
            found = kept.load(simulation, _AGENT, settings.embedding, [memory.id])
        finally:
            kept.forget(simulation)
        return memory.id in found and found[memory.id][0] == memory and not kept.agents(simulation)

    if not await asyncio.to_thread(there_and_back):
        raise InputError(
            "the store did not return what was written", where=f"store {settings.store}", remedy="Use another store."
        )
    return f"{settings.store}: Chroma {version('chromadb')} wrote, read and deleted a memory"
