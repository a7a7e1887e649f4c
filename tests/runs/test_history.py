"""The states that a run has passed through, from real checkpoints of real conversations with the offline model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from persimchat.graph.baselines import graph_for
from persimchat.runs.folder.checkpoints import opened
from persimchat.runs.run.history import Graph, complete_turn, is_between, state_at, states_at
from persimchat.state.conversation import utterances
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


@pytest.fixture
def simulation(tmp_path: Path) -> str:
    """A simulation's id that nobody else uses."""
    return str(tmp_path)


PEOPLE = [{"name": name, "description": "Likes tea."} for name in ("Ada Lind", "Bo Berg", "Cy Dahl")]


@asynccontextmanager
async def conversation(
    folder: Path, simulation: str, **more: Any
) -> AsyncIterator[tuple[Graph, RunnableConfig, dict[int, Any]]]:
    """A conversation that has ended: its graph, its thread, and its values whenever an end check was over, by turn."""
    settings = Settings(**{"model": "offline", "max_messages": 6, "store": "ephemeral", **more})
    config: RunnableConfig = {"configurable": {"thread_id": simulation}}
    seen: dict[int, Any] = {}
    async with opened("run", folder) as saver:
        graph = graph_for(settings, saver)
        given = {"topic": "Tea?", "participants": PEOPLE, "simulation": simulation}
        step: set[str] = set()
        async for mode, payload in graph.astream(given, config, context=settings, stream_mode=["updates", "values"]):
            if mode == "updates":
                step |= set(payload)  # type: ignore[arg-type]
            else:
                if "end_check" in step:
                    seen[payload["turn"]] = payload  # type: ignore[index,call-overload]
                step = set()
        yield graph, config, seen


@pytest.mark.proof
async def test_every_turn_of_a_conversation_can_be_gone_back_to(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation) as (graph, config, seen):
        found = await states_at(graph, config, range(7), first=True)
        assert list(found) == list(range(7))
        for turn, snapshot in found.items():
            assert len(utterances(snapshot.values["messages"])) == turn
            assert is_between(snapshot)
            assert complete_turn(snapshot) == turn
            assert snapshot.values["agents"] == seen[turn]["agents"]
            assert snapshot.values["messages"] == seen[turn].get("messages", [])
        assert found[6].next == ()


async def test_the_newest_state_of_a_turn(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation, pattern="selector", max_messages=3) as (graph, config, _):
        assert (await states_at(graph, config, {1}, first=True))[1].next == ("select",)
        assert "speak" in (await state_at(graph, config, 1)).next
        assert (await state_at(graph, config, 3)).next == ()


async def test_states_in_between_say_how_far_everybody_is(tmp_path: Path, simulation: str) -> None:
    async with conversation(tmp_path, simulation, max_messages=2, analysis=True) as (graph, config, _):
        history = [snapshot async for snapshot in graph.aget_state_history(config)][::-1]
    complete = [complete_turn(snapshot) for snapshot in history]
    assert complete == sorted(complete)
    assert set(complete) == {-1, 0, 1, 2}
    for snapshot, turn in zip(history, complete, strict=True):
        if "publish" in snapshot.next:
            assert not is_between(snapshot)
            assert turn == snapshot.values["turn"]
        if "hear" in snapshot.next:
            assert turn == snapshot.values["turn"] - 1
        if is_between(snapshot):
            assert turn == snapshot.values["turn"]


@pytest.mark.proof
async def test_what_channels_are_made_of_is_what_langgraph_finds_itself(tmp_path: Path, simulation: str) -> None:
    channels = ["messages", "agents", "judge_mind", "carried_out", "usage", "streaks"]
    async with conversation(tmp_path, simulation, max_messages=7) as (graph, config, _):
        saver, whole = graph.checkpointer, 0
        assert isinstance(saver, AsyncSqliteSaver)
        for place in [found.config async for found in saver.alist(config)]:
            history = await saver.aget_delta_channel_history(config=place, channels=channels)
            plainly = await AsyncSqliteSaver.aget_delta_channel_history(saver, config=place, channels=channels)
            assert dumpd(history) == dumpd(plainly)
            whole += "seed" in history["agents"]
        assert whole > 5


@pytest.mark.parametrize(("turn", "said"), [(7, "has 6 utterances; there is no turn 7"), (-1, "no turn -1")])
async def test_a_turn_that_is_not_there(tmp_path: Path, simulation: str, turn: int, said: str) -> None:
    async with conversation(tmp_path, simulation) as (graph, config, _):
        with pytest.raises(InputError, match=said) as caught:
            await state_at(graph, config, turn)
    assert "from 0 to 6" in caught.value.remedy


async def test_a_thread_that_is_not_there(tmp_path: Path) -> None:
    async with opened("run", tmp_path) as saver:
        graph = graph_for(Settings(model="offline"), saver)
        with pytest.raises(InputError, match="no states of this run are kept"):
            await state_at(graph, {"configurable": {"thread_id": "nowhere"}}, 0)


async def test_a_baseline_goes_in_whole_rounds(tmp_path: Path, simulation: str) -> None:
    more = {"mode": "debate", "baseline": "mad", "rounds": 2}
    async with conversation(tmp_path, simulation, **more) as (graph, config, _):
        assert len((await state_at(graph, config, 3)).values["messages"]) == 3
        with pytest.raises(InputError, match="cannot continue after utterance 2|there is no turn"):
            await state_at(graph, config, 2)


async def test_a_graph_without_checkpoints_has_no_history() -> None:
    with pytest.raises(TypeError):
        await state_at(graph_for(Settings(model="offline")), {"configurable": {"thread_id": "x"}}, 0)
    assert graph_for(Settings(model="offline")) is graph_for(Settings(model="offline"))
    mad = Settings(model="offline", mode="debate", baseline="mad")
    assert graph_for(mad) is graph_for(mad)
