"""What LangGraph and LangChain keep to themselves and the seam rests on; a release that changes it fails here."""

from __future__ import annotations

import asyncio
import re
import threading
import warnings
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain_core.tracers.langchain import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from persimchat.graph import langgraph_compat as seam

ROOT = Path(__file__).resolve().parents[2]


class _State(TypedDict):
    seen: Any


def _graph(node: Any, **more: Any) -> CompiledStateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(_State)
    builder.add_node("look", node)
    builder.add_edge(START, "look")
    builder.add_edge("look", END)
    return builder.compile(**more)


def test_a_node_knows_the_checkpointer_around_it() -> None:
    seen: list[Any] = []

    def look(_: Any) -> dict[str, Any]:
        place = get_config()["configurable"]
        seen.append((seam.saver_around(place), seam.is_inside_node(place)))
        return {"seen": len(seen)}

    inner, saver = _graph(look), InMemorySaver()
    inner.invoke({"seen": None})
    around = _graph(lambda _: inner.invoke({"seen": None}), checkpointer=saver)
    around.invoke({"seen": None}, {"configurable": {"thread_id": "t"}})
    assert seen == [(None, True), (saver, True)]
    assert not seam.is_inside_node({})


@pytest.mark.parametrize("deep", [1, 2])
async def test_a_node_hears_that_a_stream_around_it_is_left(deep: int) -> None:
    told: list[str] = []

    async def look(_: Any) -> dict[str, Any]:
        with seam.stopped_with_parents(lambda: told.append("left")):
            get_stream_writer()("begun")
            await asyncio.Event().wait()
        return {}

    graph = _graph(look)
    for _ in range(deep - 1):
        graph = _graph(graph)
    stream = graph.astream({"seen": None}, stream_mode="custom", subgraphs=True)
    await anext(stream)
    assert not told
    await stream.aclose()
    assert set(told) == {"left"}


def test_a_node_hears_it_in_ordinary_code_too() -> None:
    told = threading.Event()

    def look(_: Any) -> dict[str, Any]:
        with seam.stopped_with_parents(told.set):
            get_stream_writer()("begun")
            return {"seen": told.wait(60)}

    stream = _graph(look).stream({"seen": None}, stream_mode="custom")
    next(stream)
    stream.close()  # waits for the node
    assert told.is_set()


async def test_whoever_reads_to_the_end_is_told_nothing() -> None:
    told: list[str] = []

    async def look(_: Any) -> dict[str, Any]:
        with seam.stopped_with_parents(lambda: told.append("left")):
            return {"seen": 1}

    assert await _graph(look).ainvoke({"seen": None}) == {"seen": 1}
    assert not told


class _Kind(CompiledStateGraph[Any, Any, Any, Any]):
    def __init__(self, *, more: str = "", **parts: Any) -> None:
        super().__init__(**parts)
        self.more = more


def test_a_compiled_graph_becomes_one_of_another_class() -> None:
    made = seam.recompiled(_Kind, _graph(lambda _: {"seen": 3}), more="x")
    assert made.more == "x"
    assert made.invoke({"seen": None}) == {"seen": 3}


def test_new_ids_come_after_those_that_are_kept() -> None:
    newest = seam.new_id()
    assert seam.make_ids_above(newest)
    assert seam.new_id() > newest
    assert not seam.make_ids_above("no id")


async def test_a_graph_without_checkpoints_runs_inside_one_with_them() -> None:
    def graph(node: Any, saver: Any) -> Any:
        builder: Any = StateGraph(dict)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        return builder.compile(saver)

    inner = graph(lambda state: {"done": True}, False)

    async def runs_it(state: dict[str, Any]) -> Any:
        return await inner.ainvoke(state, seam.UNCHECKPOINTED)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = {"configurable": {"thread_id": "t"}}
        found = await graph(runs_it, InMemorySaver()).ainvoke({"done": False}, config, durability="sync")
    assert found == {"done": True}


def test_every_hook_of_the_tracer_takes_the_place_of_something() -> None:
    private = {name for name in vars(seam.Tracer) if name.startswith("_") and not name.startswith("__")}
    private.discard("_abc_impl")
    assert {"_start_trace", "_update_run_single", "_get_stacktrace", "_add_child_run"} <= private
    assert {name for name in private if not hasattr(LangChainTracer, name)} == set()
    assert hasattr(LangChainTracer, "_persist_run_single")


def test_nothing_else_uses_what_is_not_documented() -> None:
    hidden = re.compile(
        r"__pregel|vars\(compiled|_last_v6_timestamp|LangChainTracer\)|langgraph\._internal|RunnableLambda"
    )
    own = {
        "graph/langgraph_compat.py",
        "runs/folder/checkpoint_file.py",  # it names a channel
        "runs/companion/requests.py",  # it runs a function with a configuration, as LangChain documents
    }
    found = {
        str(path.relative_to(ROOT))
        for room in ("nodes", "graph", "runs", "evaluation", "app", "models", "memory", "state")
        for path in (ROOT / room).rglob("*.py")
        if hidden.search(path.read_text(encoding="utf-8"))
    }
    assert found - own - {"graph/redacting.py"} == set()
