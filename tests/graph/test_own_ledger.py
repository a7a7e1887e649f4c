"""Budgets hold however a conversation is held: alone, in other graphs, on a thread; and so does what is told of use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from talks import events_of
from typing_extensions import TypedDict

from persimchat.graph.conversation import build_conversation, graph
from persimchat.graph.subgraph_node import conversation_node
from persimchat.models.ledger import LEDGER, Ledger
from persimchat.state.errors import BudgetExhausted
from persimchat.state.settings import Settings

PEOPLE = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Berg", "Cy Dahl")]
GIVEN: Any = {"topic": "Tea?", "participants": PEOPLE}
BUDGET = 31


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(answer=Scripted()) as running:
        yield running


def frugal(server: LoopbackServer, **more: Any) -> Settings:
    return Settings(**{"model": server.model(), "max_messages": 9, "budget_calls": BUDGET, **more})


def used(output: Any) -> int:
    return sum(row["calls"] for row in output["usage"].values())


def check(output: Any, server: LoopbackServer) -> None:
    assert (output["stop_reason"], output["stop_source"]) == ("budget", "budget_calls")
    assert output["stop_detail"].startswith(f"The budget of {BUDGET} calls is used up")
    assert used(output) == BUDGET >= len(server.bodies()), "not one more, although many ask at once"
    assert 1 <= len(output["messages"]) < 9


@pytest.mark.proof
async def test_a_conversation_alone(server: LoopbackServer) -> None:
    check(await graph.ainvoke(GIVEN, context=frugal(server)), server)


@pytest.mark.proof
def test_a_conversation_alone_in_synchronous_code(server: LoopbackServer) -> None:
    check(graph.invoke(GIVEN, context=frugal(server)), server)


class Report(TypedDict, total=False):
    question: str
    why: str
    usage: dict[str, Any]


@pytest.mark.proof
async def test_a_conversation_as_a_node(server: LoopbackServer) -> None:
    into: Any = {"why": "stop_reason", "usage": "usage"}
    builder: Any = StateGraph(Report)
    node = conversation_node(frugal(server), participants=PEOPLE, topic_from="question", into=into)
    builder.add_node("group", node)
    builder.add_edge(START, "group")
    output = await builder.compile(checkpointer=InMemorySaver()).ainvoke(
        {"question": "Tea?"}, {"configurable": {"thread_id": "t"}}
    )
    assert (output["why"], used(output)) == ("budget", BUDGET)
    assert len(server.bodies()) <= BUDGET


@pytest.mark.proof
@pytest.mark.parametrize(
    ("options", "of"),
    [
        ({"stream_mode": "values"}, lambda part: part),
        ({"stream_mode": ["updates", "values"]}, lambda part: part[1]),
        ({"stream_mode": ["messages", "values"], "subgraphs": True}, lambda part: part[2]),
        ({"stream_mode": "values", "version": "v2"}, lambda part: part["data"]),
    ],
)
async def test_whoever_streams_values_gets_the_end_as_the_last(server: LoopbackServer, options: Any, of: Any) -> None:
    *_, last = [part async for part in graph.astream(GIVEN, context=frugal(server), **options)]
    assert (of(last)["stop_reason"], used(of(last))) == ("budget", BUDGET)


async def test_whoever_streams_something_else_gets_the_error(server: LoopbackServer) -> None:
    with pytest.raises(BudgetExhausted):
        await events_of(graph.astream(GIVEN, context=frugal(server), stream_mode="updates"))
    assert len(server.bodies()) <= BUDGET


@pytest.mark.proof
async def test_whoever_brings_a_ledger_gets_the_error_and_has_nothing_in_the_state(server: LoopbackServer) -> None:
    ledger = Ledger()
    with pytest.raises(BudgetExhausted):
        await graph.ainvoke(GIVEN, {"configurable": {LEDGER: ledger}}, context=frugal(server))
    short = frugal(server, budget_calls=None, max_messages=1)
    output = await graph.ainvoke(GIVEN, {"configurable": {LEDGER: ledger}}, context=short)
    assert not output.get("usage")
    assert sum(row["calls"] for row in ledger.rows()) >= len(server.bodies()) > BUDGET - 5


@pytest.mark.proof
async def test_a_thread_knows_what_it_has_used_and_goes_on_with_more(server: LoopbackServer) -> None:
    kept = build_conversation(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    first = await kept.ainvoke(GIVEN, config, context=frugal(server))
    check(first, server)
    known = used((await kept.aget_state(config)).values)
    assert 0 < known <= BUDGET
    second = await kept.ainvoke(None, config, context=frugal(server, budget_calls=known + 30))
    assert second["stop_reason"] == "budget" and used(second) == known + 30
    assert BUDGET < len(server.bodies()) <= BUDGET + 30
    assert len(second["messages"]) > len(first["messages"])


@pytest.mark.parametrize("wait", [True, False])
async def test_a_thread_that_is_not_named_is_asked_for_in_langgraphs_words(server: LoopbackServer, wait: bool) -> None:
    kept = build_conversation(InMemorySaver())
    with pytest.raises(ValueError, match="thread_id"):
        kept.invoke(GIVEN, context=frugal(server)) if wait else await kept.ainvoke(GIVEN, context=frugal(server))
