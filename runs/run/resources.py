"""The resources of a run, open while it runs: its lock, its checkpoints, its memories and its ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph.baselines import graph_for
from persimchat.memory.chroma_client import EPHEMERAL, RUN, resolved
from persimchat.memory.recollection import discard, let_go
from persimchat.memory.store import held_store
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.models.recording import Record as Answers
from persimchat.models.recording import Request
from persimchat.runs.folder.calls import CallsFile, calls_in, read_vectors
from persimchat.runs.folder.checkpoints import MEMORY, is_server
from persimchat.runs.folder.checkpoints import opened as checkpoints_in
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.run_folder import MEMORIES
from persimchat.runs.run.tracing import traced
from persimchat.state.errors import MachineError
from persimchat.state.settings import Settings


@dataclass
class RunResources:
    """The resources of a run.

    Attributes:
        graph: the compiled graph with the run's checkpointer, if it has one.
        config: of the run's thread.
        settings: as the graph gets them: `store` is where the memories are.
        ledger: of the run's requests.
        resumable: whether the run has a checkpointer, so it can stop between two steps and continue.
        traced: whether LangSmith traces it.
        lost: what could not be read of the run's accounts, a sentence each.
        begun: whether the run has begun: a failure before that has changed nothing.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    config: RunnableConfig
    settings: Settings
    ledger: Ledger
    resumable: bool
    traced: bool
    lost: list[str] = field(default_factory=list)
    begun: bool = False


@dataclass(frozen=True)
class Replaying:
    """A run that is replayed from a record.

    Attributes:
        answers: the record.
        ledgers: of the replayed parts of the run, in order; the replay appends to it.
        told: called with each question that is answered from the record; None for nothing.
    """

    answers: Answers
    ledgers: list[Ledger] = field(default_factory=list)
    told: Callable[[Request], None] | None = None


def store_of(settings: Settings, folder: Path | None) -> str:
    """Where the memories of a run are: the setting, with the folder of the run in place of `run`."""
    return str(folder / MEMORIES) if folder is not None and settings.store == RUN else settings.store


@asynccontextmanager
async def open_resources(
    run: str,
    settings: Settings,
    folder: Path | None,
    *,
    attended: bool = False,
    earlier: bool = False,
    replay: Replaying | None = None,
) -> AsyncIterator[RunResources]:
    """Open the resources of a run, and close them afterwards.

    Args:
        run: the id of the run and of its thread.
        settings: of the simulation.
        folder: the folder of the run; None if it has none.
        attended: whether people may take part. If so, or if the run is traced and so stops at every turn, a run
            without a folder keeps checkpoints in memory.
        earlier: whether the run's earlier requests count, because it continues.
        replay: the record from which the models' answers come.

    Raises:
        InputError: another holder is working on the run, or checkpoints or memories cannot be used.
        MachineError: the machine stopped the run after it had begun; the error says how to resume it.
    """
    place: RunResources | None = None
    try:
        async with AsyncExitStack() as stack:
            place = await _opened(stack, run, settings, folder, attended=attended, earlier=earlier, replay=replay)
            yield place
    except MachineError as error:
        if place is None or not place.begun:
            raise error.before_the_start() from error
        if folder is None or settings.checkpoints == MEMORY or settings.store == EPHEMERAL:
            raise
        raise error.resumable(folder) from error


async def _opened(
    stack: AsyncExitStack,
    run: str,
    settings: Settings,
    folder: Path | None,
    *,
    attended: bool,
    earlier: bool,
    replay: Replaying | None,
) -> RunResources:
    """`open_resources`, closed with the stack."""
    if folder is not None:
        await asyncio.to_thread(stack.enter_context, held(folder))
    saver = await stack.enter_async_context(checkpoints_in(settings.checkpoints, folder))
    told = await asyncio.to_thread(traced)
    if saver is None and (attended or told):
        saver = InMemorySaver()
    used = settings.model_copy(update={"store": store_of(settings, folder)})
    await asyncio.to_thread(stack.enter_context, held_store(used.store))
    if (folder is None and not is_server(settings.checkpoints)) or resolved(used.store) == EPHEMERAL:
        stack.push_async_callback(asyncio.to_thread, let_go, used.store, run)  # no later process can resume it
    else:
        stack.callback(discard, run)
    lost: list[str] = []
    sink = await asyncio.to_thread(CallsFile, folder) if folder is not None else None
    if sink is not None:
        stack.callback(sink.close)
        if earlier:
            await asyncio.to_thread(sink.mend)
    known = await asyncio.to_thread(read_vectors, folder, lost) if folder is not None else {}
    rows = calls_in(folder, lost) if folder is not None and earlier else ()
    answers, hears = (replay.answers, replay.told) if replay else (None, None)
    ledger = await asyncio.to_thread(
        lambda: Ledger(sink=sink, earlier=rows, vectors=known, answers=answers, told=hears)
    )
    if replay:
        replay.ledgers.append(ledger)
    config: RunnableConfig = {
        "configurable": {"thread_id": run, LEDGER: ledger},
        "run_name": "persimchat",
        "metadata": {"run": run},
    }
    return RunResources(graph_for(settings, saver), config, used, ledger, saver is not None, told, lost)
