"""Turns functions into nodes that work with `invoke` and `ainvoke` and get the simulation's settings.

Cognitive modules are async functions `(mind, settings) -> update`. LangGraph's synchronous `invoke` cannot run these,
so a node then passes its coroutine to one event loop, which the process keeps in a separate thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Command, RetryPolicy

from ..models.asking import UselessAnswer
from ..models.failures import is_transient
from ..models.ledger import current_ledger
from ..models.limits import prepares_alone
from ..prompts import templates
from ..state.errors import InputError, ModelError
from ..state.minds.mind import STORED, Mind, Step
from ..state.outcomes import Judged, weak_judgements
from ..state.settings import Settings
from . import phases
from .context import PRESET, checked
from .langgraph_compat import Node, Route, saver_around

TRANSIENT = RetryPolicy(
    initial_interval=0.5, backoff_factor=2.0, max_interval=20.0, max_attempts=5, jitter=True, retry_on=is_transient
)
"""Five attempts, waiting about 0.5, 1, 2 and 4 seconds in between."""


def last_attempt() -> bool:
    """Whether this is the last attempt of the running node."""
    info = get_runtime().execution_info
    return info is None or info.node_attempt >= TRANSIENT.max_attempts


Result = TypeVar("Result")


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="persimchat-sync", daemon=True).start()
    return loop


def background(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Begin a coroutine in the process's background loop, with the caller's context variables."""
    return asyncio.run_coroutine_threadsafe(coroutine, _background_loop())


def wait_for(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine from synchronous code, even if the calling thread has a running event loop (Jupyter).

    It runs in the process's background loop with the caller's context variables, so callbacks and tracing work.
    """
    future = background(coroutine)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def current_settings() -> Settings:
    """The settings of the running simulation: the graph's context, or the graph's defaults without a context.

    Raises:
        InputError: the context is not settings, or there is none (`update_state`).
    """
    runtime: Any = get_runtime(Settings)
    if runtime is None:  # LangGraph's update_state knows no context
        raise InputError(
            "LangGraph's update_state gives this node no settings",
            where="update_state",
            remedy=f'Call update_state with as_node="{phases.OUTSIDE}"; the graph then decides what comes next.',
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


def module_node(function: Callable[[Any, Settings], Coroutine[Any, Any, Any]], *, tells: bool = False) -> Node:
    """A cognitive module as a node; the node is named after the function.

    Args:
        function: the module.
        tells: whether its update also reports the use of requests (`accounted`): for nodes of a conversation.
    """

    async def work(state: Any) -> Any:
        settings = current_settings()
        with templates(settings.prompts):
            update = await function(state, settings)
        return accounted(update) if tells else update

    def run_sync(state: Any) -> Any:
        return wait_for(work(state))

    return Node(run_sync, work, function.__name__)


def accounted(update: dict[str, Any]) -> dict[str, Any]:
    """An update of the conversation that also reports the requests since the last update.

    It reports none if a run's ledger records them.
    """
    ledger = current_ledger()
    news = ledger.news() if ledger is not None else {}
    return {**update, "usage": news} if news else update


def route(function: Callable[[Any], Any]) -> Route:
    """A conditional edge from a function of the state that returns the next nodes; without a thread or a trace."""
    return Route(function)


def mind_node(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    name: str,
    *,
    leads: Callable[[Step, bool, Settings], str] | None = None,
    otherwise: Callable[[Any, Settings], Coroutine[Any, Any, Any]] | None = None,
) -> Node:
    """A graph of one mind as a node of the conversation: runs the graph, and returns the mind's changes.

    A participant whose model fails permanently is silent for a turn. If the mind is `required` or the judge's, the
    error ends the run, which can be resumed. A judge's mind uses the judge's model.

    A child graph that a node calls (instead of being a node itself) costs no checkpoint of its own unless it fails.

    Args:
        graph: of one mind.
        name: the node's name.
        leads: chooses the next node for each mind's step, from its input, whether its model failed, and the settings.
            An edge after the node would not know whose step it is. None if the node has an edge.
        otherwise: makes the update of a mind whose model failed; None for no update. It cannot replace unusable answers
            (`strict_answers`), so these end the run.
    """

    def options(mind: Step) -> dict[str, Any]:
        checkpointed = saver_around(get_config().get("configurable", {})) is not None
        return {
            "config": {"run_name": f"{name}:{mind['name']}", "metadata": {"agent": mind["name"]}},
            "context": current_settings().of_judge() if _is_judge(mind) else current_settings(),
            "durability": "exit" if checkpointed else None,
        }

    async def run(mind: Step) -> Any:
        try:
            async with prepares_alone(mind["situation"]["simulation"]):
                after = await graph.ainvoke(mind, **options(mind))
            return led(mind, _kept(mind, after, name), False)
        except ModelError as error:
            check(mind, error)
            left = await otherwise(mind, current_settings()) if otherwise is not None else {}
            return led(mind, silenced(mind, name, error, left), True)

    def run_sync(mind: Step) -> Any:
        try:
            return led(mind, _kept(mind, graph.invoke(mind, **options(mind)), name), False)
        except ModelError as error:
            check(mind, error)
            left = wait_for(otherwise(mind, current_settings())) if otherwise is not None else {}
            return led(mind, silenced(mind, name, error, left), True)

    def check(mind: Step, error: ModelError) -> None:
        useless = otherwise is not None and isinstance(error, UselessAnswer)
        if _is_judge(mind) or mind.get("required") or useless:
            raise error

    def led(mind: Step, update: dict[str, Any], failed: bool) -> Any:
        told = accounted(update)
        return told if leads is None else Command(update=told, goto=leads(mind, failed, current_settings()))

    return Node(run_sync, run, name)


def _is_judge(mind: Mind) -> bool:
    return mind.get("role") == "judge"


def silenced(mind: Step, step: str, error: ModelError, left: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An update of the conversation: this agent is silent for a turn.

    Args:
        mind: the agent's, with its situation.
        step: the step that failed: "awaken", "hear", "think" or "speak".
        error: the error of its model.
        left: changes of the mind that are kept in spite of the failure.
    """
    turn = mind["situation"]["turn"] + (step in (phases.THINK, phases.SPEAK))
    ledger = current_ledger()
    why = str(error) if ledger is None else ledger.failure_of(error)
    act = {"act": mind["act"]} if "act" in mind else {}
    silent = {"turn": turn, "step": step, "why": why, **act}
    return {"agents": {mind["name"]: {**(left or {}), "silent": silent}}}


def _kept(before: Step, after: dict[str, Any], step: str) -> dict[str, Any]:
    """The update after a step: the mind's stored keys that changed, without the step's input."""
    given: dict[str, Any] = {**before}
    changed = {k: v for k, v in after.items() if k in STORED and (k not in given or given[k] != v)}
    outcomes: list[Judged] = after.get("outcomes", [])
    turn = before["situation"]["turn"]
    if step == phases.THINK:
        turn += 1
        changed["thought"] = turn
    elif before.get("silent"):
        changed["silent"] = None
    weak = weak_judgements(before.get("weak"), outcomes, turn)
    if weak is not None:
        changed["weak"] = weak
    streaks = {} if _is_judge(before) else {"streaks": outcomes}
    return {"agents": {after["name"]: changed}, "judgements": outcomes, **streaks}
