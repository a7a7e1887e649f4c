"""All uses of undocumented names of LangGraph and LangChain, and the ids of checkpoints.

Any of their releases may break the code of this module; no other module uses a name that they do not document.
`tests/graph/test_langgraph_compat.py` tests what each function depends on.

LangGraph takes the checkpoint with the greatest id for the newest. It makes ids from the time, so they ascend within
one process only. After the clock has gone back, or on a machine whose clock is behind, new checkpoints would sort below
old ones, and a resumed run would ignore them; so new ones get greater ids than all existing ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ensure_config, set_config_context
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.base import id as ids
from langgraph.graph.state import CompiledStateGraph

from ..state.errors import PerSimChatError

Graph = TypeVar("Graph", bound=CompiledStateGraph[Any, Any, Any, Any])

_SAVER: Final = "__pregel_checkpointer"
"""Key in `configurable` of the surrounding graph's checkpointer."""
UNCHECKPOINTED: Final[RunnableConfig] = {"configurable": {"__pregel_durability": "exit"}}
"""Configuration for a graph without checkpoints that a node of a graph with checkpoints runs."""
_TASK: Final = "__pregel_task_id"
"""Key in `configurable` that code has inside a node only."""
_CALL: Final = "__pregel_call"
"""Key in `configurable` of a function that leads to the surrounding graph's loop."""
_LONGEST: Final = 60
"""Bits of the time in a checkpoint's id; a later time would start from 0 again."""


def recompiled(kind: type[Graph], compiled: CompiledStateGraph[Any, Any, Any, Any], **more: Any) -> Graph:
    """A compiled graph as one of another class.

    Args:
        kind: the class; its constructor takes the parts of a compiled graph.
        compiled: the graph.
        **more: what else the class takes.
    """
    return kind(**more, **vars(compiled))


def saver_around(configurable: Mapping[str, Any]) -> Any:
    """The checkpointer of the surrounding graph; None if there is none."""
    return configurable.get(_SAVER)


def is_served(place: Mapping[str, Any]) -> bool:
    """Whether LangGraph's server runs a graph: its `configurable` mirrors the context, with leftovers of the thread."""
    return "langgraph_request_id" in place


def is_inside_node(configurable: Mapping[str, Any]) -> bool:
    """Whether the code runs inside a node of a graph."""
    return _TASK in configurable


@contextmanager
def stopped_with_parents(stop: Callable[[], object], configurable: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Call something when, during the body, somebody leaves the stream of a graph around this one before its end.

    LangGraph cancels the nodes of a stream that is left in a task of its own. Servers that cancel again and again
    (Starlette, by anyio) cancel this task before it begins, so that its nodes go on for nobody.

    Args:
        stop: called where the stream is left: by an error, a cancelled reader, a closed generator.
        configurable: of the surrounding node, where LangGraph's context does not have it.
    """
    around = []
    configurable = {**ensure_config()["configurable"], **(configurable or {})}
    while (loop := _loop_around(configurable)) is not None:
        around.append(_followers(loop.stack))
        configurable = loop.config["configurable"]
    for followers in around:
        followers.append(stop)
    try:
        yield
    finally:
        for followers in around:
            followers.remove(stop)


@asynccontextmanager
async def cancelled_with_parents(configurable: Mapping[str, Any] | None = None) -> AsyncIterator[None]:
    """Cancel the running task when somebody leaves the stream of a graph around it."""
    task = asyncio.current_task()
    assert task is not None

    def stop() -> None:
        if task is not asyncio.current_task():
            task.cancel()

    with stopped_with_parents(stop, configurable):
        yield


def _loop_around(configurable: Mapping[str, Any]) -> Any:
    """What drives the surrounding graph; None outside of any."""
    call = configurable.get(_CALL)
    return getattr(call.keywords.get("schedule_task"), "__self__", None) if isinstance(call, partial) else None


def _followers(stack: ExitStack | AsyncExitStack) -> list[Callable[[], object]]:
    """What is called when an exit stack is left by an error, or by a generator's end."""
    known: list[Callable[[], object]] | None = vars(stack).get("followers")
    if known is not None:
        return known
    found: list[Callable[[], object]] = []
    name = "__aexit__" if isinstance(stack, AsyncExitStack) else "__exit__"
    leave = getattr(stack, name)

    def leaving(kind: type[BaseException] | None, *about: Any) -> Any:
        for stop in [] if kind is None else list(found):
            stop()
        return leave(kind, *about)

    vars(stack).update({"followers": found, name: leaving})
    return found


def make_ids_above(newest: str) -> bool:
    """From now on, give the new checkpoints of this process greater ids than `newest`.

    Args:
        newest: a checkpoint's id.

    Returns:
        Whether that worked; not if `newest` is not an id of LangGraph's, or LangGraph has changed its ids.
    """
    try:
        kept = ids.UUID(newest)
    except ValueError:
        return False
    if kept.version != 6 or kept.time + 1 >= 1 << _LONGEST:
        return False
    ids._last_v6_timestamp = max(ids._last_v6_timestamp or 0, kept.time)  # type: ignore[assignment]
    return new_id() > newest


def new_id() -> str:
    """A checkpoint id that is greater than all earlier ones of this process."""
    return str(ids.uuid6())


class Node(RunnableLambda[Any, Any]):
    """A node that runs in synchronous and in asynchronous code and adds no run of its own to a trace.

    Args:
        function: the node's work in synchronous code.
        afunction: the node's work in asynchronous code.
        name: the node's name.
    """

    def __init__(self, function: Callable[[Any], Any], afunction: Callable[[Any], Awaitable[Any]], name: str) -> None:
        super().__init__(function, afunction, name=name)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run in synchronous code."""
        return self.func(input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run in asynchronous code."""
        return await self.afunc(input)  # type: ignore[call-arg, misc]


class Route(Node):
    """A conditional edge. It sets the configuration that `get_config` reads, which LangGraph does not set for edges.

    Args:
        function: of the state; returns the next nodes.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        async def run(state: Any) -> Any:
            return function(state)

        super().__init__(function, run, function.__name__)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run in synchronous code."""
        with set_config_context(config or {}) as context:
            return context.run(self.func, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run in asynchronous code, without a thread."""
        return self.invoke(input, config)


class Tracer(LangChainTracer):
    """LangChain's tracer with plainly named hooks. A run does not keep its children.

    Otherwise the root run would hold every state of a conversation in memory until its end.
    """

    def nested(self, run: Run) -> None:
        """Hook: a run was added to the tree."""

    def model_began(self, run: Run) -> None:
        """Hook: a request to a model begins."""

    def step_began(self, run: Run) -> None:
        """Hook: a step begins."""

    def step_over(self, run: Run) -> None:
        """Hook: a step is over, with or without an error."""

    def ended(self, run: Run) -> None:
        """Hook: a run is over and must be reported."""

    def error_text(self, error: BaseException) -> str:
        """Hook: the text of an error in the trace."""
        return LangChainTracer._get_stacktrace(error)

    def parent_of(self, run: Run) -> Run | None:
        """The parent of a run while it is under way; else None."""
        return self.run_map.get(str(run.parent_run_id))

    def tell(self, run: Run) -> None:
        """Report a run in its present form."""
        self._persist_run_single(run)

    def _start_trace(self, run: Run) -> None:
        super()._start_trace(run)
        self.nested(run)

    def _on_llm_start(self, run: Run) -> None:
        self.model_began(run)

    def _on_chat_model_start(self, run: Run) -> None:
        self.model_began(run)

    def _on_chain_start(self, run: Run) -> None:
        self.step_began(run)

    def _on_chain_end(self, run: Run) -> None:
        self.step_over(run)

    def _on_chain_error(self, run: Run) -> None:
        self.step_over(run)

    def _update_run_single(self, run: Run) -> None:  # type: ignore[override]
        self.ended(run)

    def _get_stacktrace(self, error: BaseException) -> str:  # type: ignore[override]
        return self.error_text(error)

    @staticmethod
    def _add_child_run(parent_run: Any, child_run: Any) -> None:
        """Keep no children."""


def begin_above(newest: str) -> None:
    """From now on, give the new checkpoints of this process greater ids than `newest`.

    Args:
        newest: a checkpoint's id.

    Raises:
        PerSimChatError: that is impossible: `newest` is not an id of LangGraph's, or LangGraph has changed its ids.
    """
    if not make_ids_above(newest):
        raise PerSimChatError(
            "no new checkpoint can come after the newest one",
            where=f"checkpoint {newest[:40]!r}",
            remedy="The checkpoints are damaged, or an unknown version of LangGraph made them. Begin a new run, or "
            "install the version of LangGraph that made them.",
        )


def begin_above_kept(checkpointer: Any, config: RunnableConfig | None) -> None:
    """Make new checkpoints come after all checkpoints of a thread, also those of inner graphs; for sync code.

    Args:
        checkpointer: the graph's own; if it has none, the one of the surrounding graph.
        config: with the `thread_id`; without one, no checkpoints are kept.

    Raises:
        PerSimChatError: as `begin_above`.
    """
    saver, thread = _thread(checkpointer, config)
    if saver is not None:
        for found in list(saver.list({"configurable": {"thread_id": thread}}, limit=1)):
            begin_above(found.checkpoint["id"])


async def abegin_above_kept(checkpointer: Any, config: RunnableConfig | None) -> None:
    """As `begin_above_kept`, for async code."""
    saver, thread = _thread(checkpointer, config)
    if saver is not None:
        # The list is read to its end before any other call, because a saver is locked while it lists.
        for found in [one async for one in saver.alist({"configurable": {"thread_id": thread}}, limit=1)]:
            begin_above(found.checkpoint["id"])


def _thread(checkpointer: Any, config: RunnableConfig | None) -> tuple[BaseCheckpointSaver[Any] | None, str]:
    """The saver of a thread's checkpoints, and the thread's id; None if no checkpoints are kept."""
    given = (config or {}).get("configurable", {})
    saver = checkpointer if isinstance(checkpointer, BaseCheckpointSaver) else saver_around(given)
    thread = given.get("thread_id")
    known = isinstance(saver, BaseCheckpointSaver) and thread is not None
    return (saver, str(thread)) if known else (None, "")
