"""Opens and closes what a run needs (graph, log, memories, ledger), and traces it in LangSmith, turn by turn.

Nothing is traced if tracing is off. LangChain itself traces all runs under its callbacks. This module adds the root
above the turns of a run, in as many traces as LangSmith's limit needs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langsmith.utils import tracing_is_enabled

from ...graph.kinds import graph_for
from ...graph.langgraph_compat import is_inside_node
from ...graph.redacting import redact_told
from ...memory.chroma_client import EPHEMERAL, resolved
from ...memory.chroma_client import RUN as IN_FOLDER
from ...memory.recollection import discard, let_go
from ...memory.store import held_store
from ...models.ledger import LEDGER, Ledger
from ...models.recording import Record as Answers
from ...models.recording import Request, Row
from ...state.errors import MachineError
from ...state.settings import Settings
from ..folder.checkpoints import MEMORY, is_server
from ..folder.checkpoints import opened as checkpoints_in
from ..folder.lock import held
from ..folder.manifest import Manifest
from ..folder.reading import calls_in, opened, read_vectors
from ..folder.run_folder import MEMORIES, RUN
from ..kinds import KINDS, EmbeddedText
from ..log import Log
from ..threads import entered, in_thread

TRACE_CAP: Final = 25_000
"""The most runs in one trace of LangSmith (https://docs.langchain.com/langsmith/administration-overview)."""
RUNS_OF_A_MIND: Final = 56
"""The most runs of one mind in a turn: hearing has 19 and thinking 8, and each of the up to eight requests among
them may be made four times (a refused form, an answer that needs repair, a busy server)."""
RUNS_OF_A_TURN: Final = 40
"""Runs of a turn besides those of minds: the turn itself, speaking, publishing, judging, analysis, the end check."""


def turns_in_a_trace(minds: int) -> int:
    """How many turns of a conversation fit into one trace, even if all requests are repeated.

    Args:
        minds: the number of minds that hear an utterance: participants and a persona judge.

    Returns:
        At least 1.
    """
    return max(1, (TRACE_CAP - 1) // (RUNS_OF_A_TURN + RUNS_OF_A_MIND * minds))


def traced() -> bool:
    """Whether LangSmith traces runs, by the environment or by the caller's `tracing_context`."""
    return tracing_is_enabled() is True  # "local" would be: traced, but sent nowhere


def settings_hash(settings: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that are equal for equal settings; the run's location does not count.

    Args:
        settings: as the log has them.
    """
    told = {name: value for name, value in settings.items() if name not in ("checkpoints", "store")}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Trace:
    """The trace of one run in progress.

    Args:
        manifest: what is known about it so far.
        on: whether to trace it. LangChain itself traces a run inside a node of another graph or a step of another
            chain: such a run may not stop between turns, because its interrupts would be those of the outer graph.

    Attributes:
        on: whether the graph stops after every turn; if not, `config` and `end` do nothing.
    """

    def __init__(self, manifest: Manifest, *, on: bool) -> None:
        around = ensure_config()
        inside = getattr(around.get("callbacks"), "parent_run_id", None) is not None
        self.on = on and not inside and not is_inside_node(around.get("configurable", {}))
        settings = manifest.settings
        minds = len(manifest.names) - len(manifest.people)
        minds += settings.mode == "debate" and settings.given["judge"] == "persona"
        self._turns = turns_in_a_trace(minds)
        self._run = manifest.run
        self._inputs = {"topic": manifest.scenario.topic, "participants": manifest.names}
        self._tags = ["persimchat", settings.mode, *([settings.baseline] if settings.baseline else [])]
        self._metadata = {
            "run": self._run,
            "thread_id": self._run,
            "pattern": settings.pattern,
            "settings": settings_hash(settings.given),
            "prompts": manifest.prompt_hash,
            "persimchat": manifest.versions["persimchat"],
        }
        self._root: AsyncCallbackManagerForChainRun | None = None
        self._seen: set[str] = set()

    async def config(self, given: RunnableConfig, turn: int, name: str = "") -> RunnableConfig:
        """The graph's configuration for its next steps, which are traced as one run.

        Args:
            given: of the run.
            turn: number of the utterance that is made and heard in it.
            name: of the step, if it is not a turn.
        """
        if not self.on:
            return given
        name = name or (f"turn {turn}" if turn else "awakening")
        if self._root is not None and name not in self._seen and len(self._seen) >= self._turns:
            await self._close({"goes on with": name})
        if self._root is None:
            self._root = await self._open("" if turn < 2 else f" from turn {turn}")
        self._seen.add(name)
        metadata = {**given.get("metadata", {}), "turn": turn}
        return {**given, "callbacks": self._root.get_child(), "run_name": name, "metadata": metadata}

    async def end(self, outputs: Mapping[str, Any], error: BaseException | None = None) -> None:
        """End the trace.

        Args:
            outputs: the results of the run.
            error: the error with which the run ended, if any.
        """
        if self._root is None:
            return
        if error is not None:
            await self._root.on_chain_error(error)
            self._root = None
        else:
            await self._close(outputs)

    async def _open(self, addition: str) -> AsyncCallbackManagerForChainRun:
        # In a thread: the first use of LangSmith's client reads files.
        manager = await asyncio.to_thread(
            AsyncCallbackManager.configure,
            inheritable_callbacks=ensure_config().get("callbacks"),
            inheritable_tags=self._tags,
            inheritable_metadata=self._metadata,
        )
        redact_told(manager)
        self._seen.clear()
        return await manager.on_chain_start({}, dict(self._inputs), name=f"conversation{addition}")

    async def _close(self, outputs: Mapping[str, Any]) -> None:
        assert self._root is not None
        await self._root.on_chain_end(dict(outputs))
        self._root = None


# The resources of a run, open while it runs: its lock, its checkpoints, its memories and its ledger


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
        log: of the run; None if it has no folder.
        begun: whether the run has begun: a failure before that has changed nothing.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    config: RunnableConfig
    settings: Settings
    ledger: Ledger
    resumable: bool
    traced: bool
    lost: list[str] = field(default_factory=list)
    log: Log | None = None
    begun: bool = False


class Requests:
    """Writes the requests of a run to its log, also those that end after the run."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def call(self, row: Row) -> None:
        """Write one request."""
        self._log.append_soon([row])

    def embedding(self, text: str, vector: str) -> None:
        """Write one embedded text."""
        self._log.append_soon([EmbeddedText(text=text, vector=vector)])


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
    return str(folder / MEMORIES) if folder is not None and settings.store == IN_FOLDER else settings.store


def _log_of(folder: Path) -> Log:
    """The log of a run that exists, to be written."""
    with opened(folder):  # refuses a folder without a log, and another format
        return Log(folder / RUN, KINDS)


@asynccontextmanager
async def open_resources(
    run: str,
    settings: Settings,
    folder: Path | None,
    *,
    log: Log | None = None,
    attended: bool = False,
    earlier: bool = False,
    replay: Replaying | None = None,
) -> AsyncIterator[RunResources]:
    """Open the resources of a run, and close them afterwards.

    Args:
        run: the id of the run and of its thread.
        settings: of the simulation.
        folder: the folder of the run; None if it has none.
        log: of the run, if it is open already; it is closed with the resources.
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
            if folder is not None:
                await stack.enter_async_context(entered(held(folder)))
                kept: Log = log if log is not None else await asyncio.to_thread(_log_of, folder)
                log = kept
                stack.push_async_callback(in_thread, kept.close)
            before = log.settle if log is not None else None
            saver = await stack.enter_async_context(checkpoints_in(settings.checkpoints, folder, before))
            told = await asyncio.to_thread(traced)
            if saver is None and (attended or told):
                saver = InMemorySaver()
            used = settings.model_copy(update={"store": store_of(settings, folder)})
            await stack.enter_async_context(entered(held_store(used.store)))
            kept_at = await asyncio.to_thread(resolved, used.store)
            if (folder is None and not is_server(settings.checkpoints)) or kept_at == EPHEMERAL:
                stack.push_async_callback(asyncio.to_thread, let_go, used.store, run)  # no later process can resume it
            else:
                stack.callback(discard, run)
            lost: list[str] = []
            sink = Requests(log) if log is not None else None
            known = await asyncio.to_thread(read_vectors, folder, lost) if folder is not None and earlier else {}
            rows = await asyncio.to_thread(calls_in, folder, lost) if folder is not None and earlier else ()
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
            place = RunResources(graph_for(settings, saver), config, used, ledger, saver is not None, told, lost, log)
            yield place
    except MachineError as error:
        if place is None or not place.begun:
            raise error.before_the_start() from error
        if folder is None or settings.checkpoints == MEMORY or settings.store == EPHEMERAL:
            raise
        raise error.resumable(folder) from error
