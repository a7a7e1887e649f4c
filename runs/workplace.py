"""Where a run is worked on: its lock, its checkpoints, its memories and its ledger, open for as long as it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.choice import graph_for
from persimchat.memory.chroma_client import RUN
from persimchat.memory.recollection import discard
from persimchat.memory.store import held_store
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.models.recording import Record as Answers
from persimchat.runs.calls import CallsFile, read_vectors
from persimchat.runs.checkpoints import opened
from persimchat.runs.folder import MEMORIES
from persimchat.runs.lock import held
from persimchat.runs.tracing import traced
from persimchat.state.settings import Settings


@dataclass(frozen=True)
class Workplace:
    """What a run works with.

    Attributes:
        graph: the compiled graph with the run's checkpointer, if it has one.
        config: of the run's thread.
        settings: as the graph is given them: the store is where the memories are.
        ledger: of the run's requests.
        kept: whether the run has a checkpointer, so that it can be stopped between two steps and go on.
        traced: whether LangSmith is told of it.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    config: RunnableConfig
    settings: Settings
    ledger: Ledger
    kept: bool
    traced: bool


@dataclass(frozen=True)
class Replaying:
    """A run that is made again out of a record.

    Attributes:
        answers: the record.
        ledgers: of the parts of the run that were made again, in order; added to.
    """

    answers: Answers
    ledgers: list[Ledger] = field(default_factory=list)


def store_of(settings: Settings, folder: Path | None) -> str:
    """Where a run's memories are: the setting, with the run's own folder in the place of `run`."""
    return str(folder / MEMORIES) if folder is not None and settings.store == RUN else settings.store


@asynccontextmanager
async def workplace(
    run: str,
    settings: Settings,
    folder: Path | None,
    *,
    attended: bool = False,
    earlier: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
    replay: Replaying | None = None,
) -> AsyncIterator[Workplace]:
    """Open what a run works with, and close it afterwards.

    Args:
        run: the run's id, and its thread's.
        settings: of the simulation.
        folder: the run's own; None where nothing is kept.
        attended: whether people may take part, for which a run without a folder keeps checkpoints in memory, as a
            traced one does, which stops at every turn.
        earlier: reads the rows of the run's requests before it was resumed; called once the run is held.
        replay: a record out of which the models' answers come.

    Raises:
        InputError: the run is being worked on by somebody else, or checkpoints or memories cannot be used.
    """
    async with AsyncExitStack() as stack:
        if folder is not None:
            await asyncio.to_thread(stack.enter_context, held(folder))
        saver = await stack.enter_async_context(opened(settings.checkpoints, folder))
        told = await asyncio.to_thread(traced)
        if saver is None and (attended or told):
            saver = InMemorySaver()
        used = settings.model_copy(update={"store": store_of(settings, folder)})
        await asyncio.to_thread(stack.enter_context, held_store(used.store))
        stack.callback(discard, run)
        sink = await asyncio.to_thread(CallsFile, folder) if folder is not None else None
        if sink is not None:
            stack.callback(sink.close)
        known = await asyncio.to_thread(read_vectors, folder) if folder is not None else {}
        answers = replay.answers if replay else None
        ledger = await asyncio.to_thread(
            lambda: Ledger(settings, sink=sink, earlier=earlier(), vectors=known, answers=answers)
        )
        if replay:
            replay.ledgers.append(ledger)
        config: RunnableConfig = {
            "configurable": {"thread_id": run, LEDGER: ledger},
            "run_name": "persimchat",
            "metadata": {"run": run},
        }
        yield Workplace(graph_for(settings, saver), config, used, ledger, saver is not None, told)
