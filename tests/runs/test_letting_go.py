"""A run that is over lets go of what it held in the process."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter
from pathlib import Path

import pytest
from chromadb.api.shared_system_client import SharedSystemClient
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import persimchat
from persimchat.app.web.live_runs import ENDED_KEPT, LiveRuns
from persimchat.memory import recollection
from persimchat.memory import store as stores
from persimchat.memory.utterance_vectors import utterance_vectors
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.settings import Settings


def hold(seed: int, out: Path | None) -> persimchat.Result:
    return persimchat.simulate("Tea or coffee?", 3, model="offline", max_messages=2, seed=seed, out=out)


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.mark.parametrize("kept", [False, True])
def test_nothing_of_a_run_stays_at_hand(kept: bool, tmp_path: Path) -> None:
    result = hold(1, tmp_path if kept else None)
    assert len(result.utterances) == 2
    assert result.minds
    assert not [key for key in recollection._mirrors._mirrors if key[2] == result.run]
    assert not [key for key in utterance_vectors._kept if key[1] == result.run]
    if not kept:
        assert stores.store("ephemeral").agents(result.run) == []


def test_an_empty_ephemeral_store_is_closed_and_opens_again() -> None:
    store = stores.MemoryStore("ephemeral")
    store.forget("nobody")
    others = store._open is not None  # whoever else keeps memories in this process
    assert store.agents("nobody") == []
    assert others or store._open is not None
    store.close()  # or Chroma would keep its indexes for the tests that follow


def left_behind() -> dict[str, int]:
    """What a conversation may leave in the process, counted."""
    gc.collect()
    names = ("Running", "LiveRun", "Collection", "FileSaver", "Ledger", "RunResources", "Mirror", "MemoryStore")
    kinds = Counter(type(found).__name__ for found in gc.get_objects())
    own = [thread for thread in threading.enumerate() if not thread.name.startswith(("asyncio_", "persimchat-sync"))]
    return {
        **{name: kinds[name] for name in names},
        "clients": len(SharedSystemClient._identifier_to_system),
        "stores": len(stores._stores),
        "mirrors": len(recollection._mirrors),
        "vectors": len(utterance_vectors),
        "threads": len(own),
    }


def test_a_kept_run_with_an_ephemeral_store_lets_go(tmp_path: Path) -> None:
    settings = {"max_messages": 1, "store": "ephemeral"}
    result = persimchat.simulate("Tea or coffee?", 2, model="offline", out=tmp_path, **settings)
    assert stores.store("ephemeral").agents(result.run) == []


@pytest.mark.parametrize("alone", [True, False])
async def test_a_graph_without_checkpoints_lets_go(alone: bool) -> None:
    settings = Settings(model="offline", max_messages=1)
    before = left_behind()
    if alone:
        graph, given = persimchat.build_conversation(), {"topic": "Tea or coffee?"}
        heard = await graph.ainvoke(given, context=settings)
    else:
        builder = StateGraph(MessagesState)
        builder.add_node("group", persimchat.conversation_node(settings))
        builder.add_edge(START, "group")
        heard = await builder.compile().ainvoke({"messages": [("user", "Tea or coffee?")]})
    assert heard["messages"]
    after = left_behind()
    assert {name: after[name] for name in ("mirrors", "vectors", "Collection")} == {
        name: before[name] for name in ("mirrors", "vectors", "Collection")
    }


async def test_a_conversation_with_checkpoints_keeps_its_memories() -> None:
    graph = persimchat.build_conversation(InMemorySaver())
    place: RunnableConfig = {"configurable": {"thread_id": "letting-go"}}
    await graph.ainvoke({"topic": "Tea or coffee?"}, place, context=Settings(model="offline", max_messages=1))
    simulation = (await graph.aget_state(place)).values["simulation"]
    assert stores.store("ephemeral").agents(simulation)
    recollection.let_go("ephemeral", simulation)


@pytest.mark.proof
async def test_ten_conversations_at_once_let_go_and_end() -> None:
    async def one(seed: int) -> persimchat.Result:
        return await persimchat.asimulate("Tea or coffee?", 2, model="offline", max_messages=1, seed=seed)

    for _ in range(2):
        results = await asyncio.wait_for(asyncio.gather(*map(one, range(10))), 120)  # a lock cycle would never end
        assert [len(result.utterances) for result in results] == [1] * 10
        for result in results:
            assert stores.store("ephemeral").agents(result.run) == []


@pytest.mark.proof
async def test_a_server_keeps_no_more_than_its_last_runs(tmp_path: Path) -> None:
    live, counts = LiveRuns(tmp_path), []
    scenario = make_scenario("Tea or coffee?", default_participants(2))
    for seed in range(14):
        run = await live.start(scenario, Settings(model="offline", max_messages=1, seed=seed))
        await run.ended()
        await live.board(run.run)
        del run
        if seed in (9, 13):
            counts.append({**left_behind(), "boards": len(live._boards), "live": len(live._live)})
    assert counts[0] == counts[1]
    assert counts[1]["LiveRun"] <= ENDED_KEPT + 1


@pytest.mark.proof
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="reads /proc")
@pytest.mark.parametrize("kept", [False, True])
def test_memory_stays_flat_over_many_conversations(kept: bool, tmp_path: Path) -> None:
    out, sizes, counts = tmp_path if kept else None, [], []
    stores.store("ephemeral").close()  # a store in which other tests have left memories never is
    for seed in range(24):
        hold(seed, out)
        if seed % 8 == 7:
            counts.append(left_behind())
            sizes.append(resident_mb())
    assert counts[0] == counts[1] == counts[2]
    assert sizes[2] - sizes[1] < 32, sizes  # with three agents it was 64 MB for eight conversations
