"""Traces a run in LangSmith as one readable tree, turn by turn. Does nothing if tracing is off.

LangChain itself traces all runs under its callbacks. This module adds the root above the turns of a run, in as many
traces as LangSmith's limit needs.
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
        settings: as run.json has them.
    """
    told = {name: value for name, value in settings.items() if name not in ("checkpoints", "store")}
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Trace:
    """The trace of one run in progress.

    Args:
        manifest: run.json so far.
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
