"""How functions become nodes: usable from `invoke` and from `ainvoke`, with the simulation's settings at hand.

Cognitive modules are async functions `(mind, settings) -> update`. LangGraph's synchronous `invoke` cannot run those
by itself, so there a node hands its coroutine to one event loop that the process keeps in a thread of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from persimchat.graph.context import PRESET, checked
from persimchat.state.errors import InputError, ModelError
from persimchat.state.mind import GIVEN, Call
from persimchat.state.settings import Settings

Result = TypeVar("Result")


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="persimchat-sync", daemon=True).start()
    return loop


def wait_for(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine from synchronous code, also where the calling thread has a running event loop (Jupyter).

    It runs in the process's background loop with the caller's context variables, so callbacks and tracing go on.
    """
    future = asyncio.run_coroutine_threadsafe(coroutine, _background_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def current_settings() -> Settings:
    """The settings of the simulation that is running: the graph's context, or its defaults where it has none.

    Raises:
        InputError: the context is a mapping that holds no settings.
    """
    runtime: Any = get_runtime(Settings)
    if runtime is None:  # LangGraph's update_state knows no context
        raise InputError(
            "the settings are not known here",
            where="update_state",
            remedy='Write it as_node="intervene", after which the graph looks what comes next.',
        )
    context = runtime.context
    if context is None:
        context = get_config().get("configurable", {}).get(PRESET, {})
    if isinstance(context, dict):
        return checked(context)
    if not isinstance(context, Settings):
        raise InputError(
            f"the graph around this conversation has a context of its own ({type(context).__name__})",
            where="the context",
            remedy="Give it its settings: build_conversation(settings=Settings(…)), or conversation_node(…).",
        )
    return context


class Node(RunnableLambda[Any, Any]):
    """A node that runs in both worlds and adds no run of its own to a trace.

    Args:
        function: what it does in synchronous code.
        afunction: what it does in asynchronous code.
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


def module_node(function: Callable[[Any, Settings], Coroutine[Any, Any, Any]]) -> Node:
    """A cognitive module as a node; the node is named after the function."""

    async def run(state: Any) -> Any:
        return await function(state, current_settings())

    def run_sync(state: Any) -> Any:
        return wait_for(function(state, current_settings()))

    return Node(run_sync, run, function.__name__)


def mind_node(
    graph: CompiledStateGraph[Any, Any, Any, Any], name: str, *, judge: bool = False, may_fail: bool = False
) -> Node:
    """A graph of one mind as a node of the conversation: runs it, and hands back what the mind keeps.

    A child graph called inside a node (and not added as one) costs no checkpoint of its own unless it fails.

    Args:
        graph: of one mind.
        name: the node's.
        judge: whether the mind is the judge's, which is kept apart from the participants' and has the judge's model.
        may_fail: whether an agent whose model fails for good is silent for a turn; else, and where the mind is
            `required`, the error ends the run, which can be resumed.
    """
    channel = "judge_mind" if judge else "agents"

    def options(mind: dict[str, Any]) -> dict[str, Any]:
        checkpointed = get_config().get("configurable", {}).get("__pregel_checkpointer") is not None
        return {
            "config": {"run_name": f"{name}:{mind['name']}", "metadata": {"agent": mind["name"]}},
            "context": current_settings().of_judge() if judge else current_settings(),
            "durability": "exit" if checkpointed else None,
        }

    async def run(mind: dict[str, Any]) -> dict[str, Any]:
        try:
            return _kept(mind, await graph.ainvoke(mind, **options(mind)), channel, name)
        except ModelError as error:
            return _failed(mind, error)

    def run_sync(mind: dict[str, Any]) -> dict[str, Any]:
        try:
            return _kept(mind, graph.invoke(mind, **options(mind)), channel, name)
        except ModelError as error:
            return _failed(mind, error)

    def _failed(mind: dict[str, Any], error: ModelError) -> dict[str, Any]:
        if not may_fail or mind.get("required"):
            raise error
        return silenced(mind, name, error)

    return Node(run_sync, run, name)


def silenced(mind: dict[str, Any], step: str, error: ModelError) -> dict[str, Any]:
    """An update of the conversation: this agent is silent for a turn.

    Args:
        mind: whose model failed.
        step: what it failed at: "hear", "think" or "speak".
        error: as its model's error says.
    """
    turn = mind["situation"]["turn"]
    return {
        "agents": {mind["name"]: {"silent": {"turn": turn + (step != "hear"), "step": step, "why": str(error)}}},
        "usage": [],
    }


def _kept(before: dict[str, Any], after: dict[str, Any], channel: str, step: str) -> dict[str, Any]:
    """What the mind keeps of a step: the keys that changed; what was given for the step is gone."""
    changed = {k: v for k, v in after.items() if k not in GIVEN and (k not in before or before[k] != v)}
    if step.endswith(("think", "thinks")):
        changed["thought"] = before["situation"]["turn"] + 1
    elif before.get("silent"):
        changed["silent"] = None
    calls: list[Call] = after.get("calls", [])
    return {channel: {after["name"]: changed}, "usage": calls}
