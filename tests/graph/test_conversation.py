"""The whole graph with the offline model: both ways of calling it, its channels, its determinism."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from talks import words_in
from typing_extensions import TypedDict

from persimchat.graph import build_conversation
from persimchat.graph.conversation import graph
from persimchat.graph.kinds import graph_for
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

PEOPLE = [
    {"name": "Ada Lind", "description": "A baker who gets up at three.", "traits": ["talkative"]},
    {"name": "Bo Říha", "description": "A bus driver near retirement.", "traits": ["reserved"]},
    {"name": "李雷", "description": "A student of chemistry.", "traits": ["curious"]},
]
TOPIC = {"topic": "Tea or coffee?", "participants": PEOPLE, "simulation": "test"}
SETTINGS = Settings(max_messages=4, model="offline", closing="off")


@pytest.mark.proof
def test_invoke_and_ainvoke_give_the_same_conversation() -> None:
    one = graph.invoke(TOPIC, context=SETTINGS)
    two = asyncio.run(graph.ainvoke(TOPIC, context=SETTINGS))
    assert words_in(one) == words_in(two)
    assert len(words_in(one)) == one["turn"] == 4
    assert one["stop_reason"] == "message_limit"


@pytest.mark.proof
async def test_invoke_works_where_an_event_loop_is_running() -> None:
    assert len(words_in(graph.invoke(TOPIC, context=SETTINGS))) == 4


@pytest.mark.proof
def test_seeds_and_only_seeds_change_a_conversation() -> None:
    runs = [graph.invoke(TOPIC, context=SETTINGS.model_copy(update={"seed": s})) for s in (0, 0, 1)]
    assert words_in(runs[0]) == words_in(runs[1]) != words_in(runs[2])


@pytest.mark.proof
def test_nobody_speaks_twice_in_a_row() -> None:
    speakers = [s for s, _ in words_in(graph.invoke(TOPIC, context=SETTINGS.model_copy(update={"max_messages": 8})))]
    assert all(a != b for a, b in zip(speakers, speakers[1:], strict=False))


@pytest.mark.proof
def test_round_robin() -> None:
    settings = SETTINGS.model_copy(update={"pattern": "round_robin"})
    assert [s for s, _ in words_in(graph.invoke(TOPIC, context=settings))] == [
        "Ada Lind",
        "Bo Říha",
        "李雷",
        "Ada Lind",
    ]


@pytest.mark.proof
def test_the_last_human_message_is_the_topic() -> None:
    output = graph.invoke({"messages": [HumanMessage("Tea or coffee?")], "participants": PEOPLE}, context=SETTINGS)
    assert output["messages"][0].text == "Tea or coffee?"
    assert len(words_in(output)) == 4


@pytest.mark.proof
def test_messages_are_langchain_messages_with_stable_ids_and_plain_data() -> None:
    first, second = (graph.invoke(TOPIC, context=SETTINGS)["messages"] for _ in range(2))
    assert [m.id for m in first] == [m.id for m in second]
    assert all(isinstance(m, AIMessage) and m.name for m in first)
    json.dumps([m.additional_kwargs for m in first])


@pytest.mark.proof
async def test_every_utterance_streams_once_and_appears_once() -> None:
    pieces: dict[str, str] = {}
    whole: list[str] = []
    async for message, metadata in graph.astream(TOPIC, context=SETTINGS, stream_mode="messages"):
        assert metadata["langgraph_node"] == "speak"
        if isinstance(message, AIMessageChunk):
            pieces[message.id or ""] = pieces.get(message.id or "", "") + str(message.text)
        else:
            whole.append(message.id or "")
    final = (await graph.ainvoke(TOPIC, context=SETTINGS))["messages"]
    assert not [i for i in whole if i in pieces], "a streamed message appeared again"
    assert {m.id: m.text for m in final} == pieces


@pytest.mark.proof
async def test_a_checkpointed_conversation_keeps_plain_values() -> None:
    checkpointed = build_conversation(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    output = await checkpointed.ainvoke(TOPIC, config, context=SETTINGS)
    state = (await checkpointed.aget_state(config)).values
    json.dumps(state["agents"])
    assert words_in(output) == words_in(await graph.ainvoke(TOPIC, context=SETTINGS))
    assert set(state["agents"]) == {p["name"] for p in PEOPLE}
    for mind in state["agents"].values():
        assert "situation" not in mind
        assert "heard" not in mind
        assert mind["unsaved"] == []


@pytest.mark.proof
async def test_a_second_conversation_on_one_thread_begins_anew() -> None:
    checkpointed = build_conversation(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await checkpointed.ainvoke({**TOPIC, "participants": PEOPLE}, config, context=SETTINGS)
    output = await checkpointed.ainvoke(
        {"topic": "Cats or dogs?", "participants": PEOPLE[:2]}, config, context=SETTINGS
    )
    assert len(words_in(output)) == 8
    assert set((await checkpointed.aget_state(config)).values["agents"]) == {"Ada Lind", "Bo Říha"}


@pytest.mark.proof
async def test_embedded_in_another_graph_its_recursion_limit_does_not_end_it() -> None:
    class Parent(TypedDict, total=False):
        topic: str
        participants: list[Any]
        answer: int

    async def ask_the_group(state: Parent) -> Parent:
        output = await graph.ainvoke({"topic": state["topic"], "participants": PEOPLE}, context=long)
        return {"answer": len(output["messages"])}

    long = SETTINGS.model_copy(update={"max_messages": 12})
    parent = StateGraph(Parent)
    parent.add_node("ask", ask_the_group)
    parent.add_edge(START, "ask")
    parent.add_edge("ask", END)
    output = await parent.compile().ainvoke({"topic": "Tea?"}, {"recursion_limit": 25})
    assert output["answer"] == 12


@pytest.mark.proof
@pytest.mark.parametrize(
    "switch", ["planning_and_reflection", "memory_filtering", "emotional_retrieval", "stm_retrieval"]
)
def test_every_switch_changes_the_calls_or_the_scores(switch: str) -> None:
    def outcome(value: bool) -> str:
        settings = SETTINGS.model_copy(update={switch: value})
        checkpointed = build_conversation(InMemorySaver())
        config: Any = {"configurable": {"thread_id": switch}}
        checkpointed.invoke(TOPIC, config, context=settings)
        state = checkpointed.get_state(config).values
        return json.dumps([state["usage"], [mind["recalled"] for mind in state["agents"].values()]], sort_keys=True)

    assert outcome(True) != outcome(False)


@pytest.mark.proof
def test_usage_is_kept_per_module_and_agent() -> None:
    usage = graph.invoke(TOPIC, context=SETTINGS)["usage"].values()
    calls = {(row["module"], row["agent"]): row["calls"] for row in usage}
    for person in PEOPLE:
        assert calls["perception", person["name"]] == 4
        assert calls["focal_points", person["name"]] == 4
        assert calls["need_to_talk", person["name"]] == 5  # at the start, too
        assert calls["emotion", person["name"]] == 5
    assert sum(n for (module, _), n in calls.items() if module == "natural_language") == 4
    thoughts = sum(n for (module, _), n in calls.items() if module in ("reflection", "planning"))
    assert thoughts == 3 * 2  # from the second utterance on, everybody but the speaker


# What the graph refuses as input, and that input opens no files


ADA = {"name": "Ada Lind", "description": "A baker."}
OF_MINDS = Settings(model="offline", max_messages=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no topic"),
        ({"topic": "  "}, "topic is empty"),
        ({"topic": "Tea?", "participants": [ADA]}, "two participants"),
        ({"topic": "Tea?", "participants": [ADA, ADA]}, "two participants are called"),
        ({"topic": "Tea?", "participants": [ADA, "Nobody Known"]}, "no persona 'Nobody Known'"),
        ({"topic": "Tea?", "participants": [ADA, {"name": "Bo", "descripton": "x"}]}, "description"),
        ({"topic": "Tea?", "participants": [ADA, 7]}, "int"),
        ({"topic": "Tea?", "participants": 3}, "not int"),
        ({"topic": "Tea?", "social_goals": ["win"]}, "not list"),
        ({"topic": "Tea?", "relationships": [{"from": "A", "to": "B", "type": "friend"}]}, "A"),
    ],
)
def test_bad_input_is_refused(given: dict[str, Any], said: str, refused: Refused) -> None:
    refused(lambda: graph.invoke(given, context=OF_MINDS), said)


@pytest.mark.parametrize("key", ["path", "include", "persona"])
def test_input_opens_no_files(tmp_path: Path, key: str) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text("name: Secret\ndescription: Nobody may read this.\n")
    entry: Any = {
        "path": str(file),
        "include": {"name": "Bo", "description": "x", "include": [str(file)]},
        "persona": {"persona": str(file)},
    }[key]
    with pytest.raises(InputError) as caught:
        graph.invoke({"topic": "Tea?", "participants": [ADA, entry]}, context=OF_MINDS)
    assert "Nobody may read" not in str(caught.value)


def test_participants_may_be_first_names_of_shipped_personas() -> None:
    output = graph.invoke({"topic": "Tea?", "participants": ["Zeynep", "lukasz"]}, context=OF_MINDS)
    assert output["messages"][-1].name in ("Zeynep Aydoğan", "Łukasz Żórawski")


MAD = Settings(model="offline", mode="debate", baseline="mad", max_messages=2)


@pytest.mark.proof
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("settings", [OF_MINDS, MAD], ids=["minds", "mad"])
async def test_the_next_message_on_a_thread_is_the_next_topic(settings: Settings, asynchronous: bool) -> None:
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "t"}}
    held = graph_for(settings, saver)
    people = ["Zeynep", "Łukasz"]
    for given, topic in (
        ({"messages": [("user", "Cats or dogs?")], "participants": people}, "Cats or dogs?"),
        ({"messages": [("user", "Tea or coffee?")]}, "Tea or coffee?"),
        ({"topic": "Boats or trains?"}, "Boats or trains?"),
        ({"messages": [("user", "Rain or snow?")], "topic": ""}, "Rain or snow?"),
        ({"messages": [("user", "Begin, please.")], "topic": "Sun or shade?"}, "Sun or shade?"),
    ):
        if asynchronous:
            await held.ainvoke(given, thread, context=settings)
        else:
            held.invoke(given, thread, context=settings)
        values = held.get_state(thread).values
        assert values["topic"] == topic
        assert set(values["agents"]) == {"Zeynep Aydoğan", "Łukasz Żórawski"}, "who takes part stays"
