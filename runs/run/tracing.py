"""What LangSmith is told of a run: one readable tree, a turn at a time. Nothing where tracing is off.

LangChain traces whatever runs under its callbacks by itself. Here a run gets the root under which its turns stand, in
as many traces as LangSmith's limit asks for.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langsmith.utils import tracing_is_enabled

from persimchat.graph.langgraph_compat import is_inside_node
from persimchat.graph.redacting import redact_told
from persimchat.runs.folder.manifest import Manifest

TRACE_CAP: Final = 25_000
"""Runs that LangSmith takes in one trace (https://docs.langchain.com/langsmith/administration-overview)."""
RUNS_OF_A_MIND: Final = 56
"""Runs of one mind in a turn, at the most: hearing has 19 and thinking 8, and each of the up to eight requests among
them may be made four times (a form that is refused, an answer that has to be repaired, a server that is busy)."""
RUNS_OF_A_TURN: Final = 40
"""Runs of a turn beside those of minds: the turn itself, speaking, publishing, judging, analysis, the end check."""


def turns_in_a_trace(minds: int) -> int:
    """How many turns of a conversation one trace can hold, however often requests have to be made again.

    Args:
        minds: that hear an utterance: participants, and the judge who has a mind.

    Returns:
        At least 1.
    """
    return max(1, (TRACE_CAP - 1) // (RUNS_OF_A_TURN + RUNS_OF_A_MIND * minds))


def traced() -> bool:
    """Whether runs are told to LangSmith, by the environment or by the calling code's `tracing_context`."""
    return tracing_is_enabled() is True  # "local" would be: traced, but sent nowhere


def settings_hash(settings: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that are the same for the same settings, wherever the run is kept.

    Args:
        settings: as run.json has them.
    """
    told = {name: value for name, value in settings.items() if name not in ("checkpoints", "store")}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Trace:
    """What is told of one run in progress.

    Args:
        manifest: run.json as far as it is known.
        on: whether it is told at all. A run inside another graph's node or another chain's step is told as LangChain
            tells its own: it may not be stopped between turns, because its interrupts would be that graph's.

    Attributes:
        on: whether the graph is to stop after every turn, and `config` and `end` do anything.
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
        """The graph's configuration for what it does next, which is told as one run.

        Args:
            given: the run's.
            turn: number of the utterance that is made and heard in it.
            name: of the step, where it is no turn.
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
        """The run is over.

        Args:
            outputs: what it came to.
            error: with which it ended, if it did.
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
