"""Graphs of somebody's app, each with PerSimChat in it in another way; LangGraph's server loads them by name.

All they keep goes into relative folders, and what they call is named in full, so that much is loaded at its first use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import START, StateGraph

import persimchat

ROOT = Path(__file__).resolve().parents[2]
FEW: dict[str, Any] = {"model": "offline", "max_messages": 2}
STUDY = {
    "name": "study",
    "base": {"topic": "Tea or coffee?", "participants": ["Jarmila", "Zeynep"], "settings": FEW},
    "grid": {"method": ["need_to_talk"]},
    "measures": {"evaluators": ["balance"]},
}


class Asked(TypedDict, total=False):
    """What all these graphs are given and give back."""

    topic: str
    told: str


async def asimulate(topic: str) -> str:
    return (await persimchat.asimulate(topic, 2, out="apps", **FEW)).transcript()


async def aresume(topic: str) -> str:
    run = await persimchat.asimulate(topic, 2, out="apps", **FEW)
    return (await persimchat.aresume(run.folder, max_messages=3)).transcript()


async def abranch(topic: str) -> str:
    run = await persimchat.asimulate(topic, 2, out="apps", **FEW)
    return (await persimchat.abranch(run.folder, 1, say=(run.utterances[0].speaker, "Water."), out="apps")).transcript()


async def debate(topic: str) -> str:
    run = await persimchat.asimulate(topic, 2, out="apps", mode="debate", judge="persona", **FEW)
    return run.transcript()


async def story(_: str) -> str:
    return (await persimchat.asimulate(ROOT / "personas/stories/tiny.yaml", model="offline", out="apps")).transcript()


async def tool(topic: str) -> str:
    asks = persimchat.as_tool(persimchat.Settings(model="offline"), most_messages=2)
    return str(await asks.ainvoke({"topic": topic}))


async def kept_tool(topic: str) -> str:
    asks = persimchat.as_tool(persimchat.Settings(model="offline"), most_messages=2, out="apps")
    return str(await asks.ainvoke({"topic": topic}))


async def companion(topic: str) -> str:
    """A companion that is opened and closed at every call."""
    opened = persimchat.acompanion("Jarmila", person="Petr", world="apps/each", model="offline")
    async with await opened as jarmila:
        async for event in jarmila.asay(topic):
            if event.type == "answer":
                said = event.utterance
        await jarmila.aend()
    return str(said)


TALKS: list[Any] = []


async def open_companion(topic: str) -> str:
    """A companion that stays open, beside the graph."""
    if not TALKS:
        world = "apps/open"
        TALKS.append(await persimchat.acompanion("Jarmila", person="Petr", world=world, model="offline"))
    async for event in TALKS[0].asay(topic):
        if event.type == "answer":
            said = event.utterance
    return str(said)


async def experiment(_: str) -> str:
    """An experiment of one cell; what is finished is not held again."""
    from persimchat.experiments import Experiment, arun_experiment

    results = await arun_experiment(Experiment.model_validate(STUDY), "apps")
    return str(results.rows("measures"))


def asked(work: Callable[[str], Awaitable[str]]) -> Any:
    """A graph of one node."""

    async def node(state: Asked) -> Asked:
        return {"told": await work(state["topic"])}

    return StateGraph(Asked).add_node("ask", node).add_edge(START, "ask").compile()


def _node() -> Any:
    group = persimchat.conversation_node(
        persimchat.Settings(**FEW), participants=["Jarmila", "Zeynep"], topic_from="topic", into={"told": "transcript"}
    )
    return StateGraph(Asked).add_node("group", group).add_edge(START, "group").compile()


class Talk(TypedDict, total=False):
    topic: str
    participants: list[Any]
    messages: list[Any]


def _graph_as_node() -> Any:
    group = persimchat.build_conversation(settings=persimchat.Settings(**FEW))
    return StateGraph(Talk).add_node("group", group).add_edge(START, "group").compile()


GRAPHS = {
    work.__name__: asked(work)
    for work in (asimulate, aresume, abranch, debate, story, tool, kept_tool, companion, open_companion, experiment)
} | {"node": _node(), "graph_as_node": _graph_as_node()}
globals().update({f"app_{name}": graph for name, graph in GRAPHS.items()})
