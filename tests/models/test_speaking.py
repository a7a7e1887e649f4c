from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from fixtures import Serve
from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from ledgers import RIGHT, WORDS, question, words, words_of
from loopback.answering import Reply
from loopback.server import LoopbackServer
from typing_extensions import TypedDict

from persimchat.state.errors import ModelError
from persimchat.state.settings import Settings


async def test_words_come_with_message_time_and_accounting(serve: Serve) -> None:
    server = serve(lambda _: WORDS, delay_s=0.05)
    spoken = await words_of(server)
    assert spoken.text == WORDS
    assert spoken.message.content == WORDS
    assert isinstance(spoken.message, AIMessage)
    assert spoken.message.id
    assert 0.05 <= spoken.response_time_s < 5
    assert spoken.call["calls"] == 1
    assert spoken.call["output_tokens"] == len(WORDS.split())
    assert spoken.call["estimated"] is False
    assert server.bodies()[0]["stream_options"] == {"include_usage": True}


async def test_thinking_is_not_spoken(serve: Serve) -> None:
    spoken = await words_of(serve(lambda _: f"<think>What do they want?</think>\n\n{WORDS}"))
    assert spoken.text == spoken.message.content == WORDS


async def test_stream_options_that_are_refused_are_left_out_from_then_on(serve: Serve) -> None:
    server = serve(lambda _: WORDS, refuses={"stream_options"})
    first, second = await words_of(server), await words_of(server)
    assert (first.call["calls"], second.call["calls"]) == (2, 1)
    assert second.call["estimated"] is True
    assert ["stream_options" in b for b in server.bodies()] == [True, False, False]


@pytest.mark.parametrize("wrong", ["", None, "<think>only thinking", Reply("It is cut", finish_reason="length")])
async def test_no_words_are_asked_for_once_more_with_another_seed(wrong: Any, serve: Serve) -> None:
    server = serve([wrong, WORDS])
    spoken = await words_of(server)
    assert spoken.text == WORDS
    assert spoken.call["calls"] == 2
    assert [b["seed"] for b in server.bodies()] == [0, 1]


async def test_no_words_twice_is_an_error(serve: Serve) -> None:
    with pytest.raises(ModelError, match="no words twice: the answer was empty.*agent Ann.*turn 3"):
        await words_of(serve([None, ""]))
    with pytest.raises(ModelError, match="length limit"):
        await words_of(serve([Reply("", finish_reason="length")] * 2))


async def test_the_message_carries_the_id_that_was_asked_for(serve: Serve) -> None:
    assert (await words_of(serve([WORDS]), message_id="ann-4")).message.id == "ann-4"
    assert (await words_of(serve([None, WORDS]), message_id="ann-4")).message.id == "ann-4-again"


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


def conversation(server: LoopbackServer) -> Any:
    settings = Settings(model=server.model())

    async def node(_: State) -> State:
        await question(settings)
        spoken = await words(settings, message_id="ann-4")
        return {"messages": [spoken.message]}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile()


def both(body: dict[str, Any]) -> Any:
    return WORDS if body.get("stream") else RIGHT


async def test_in_a_graph_only_spoken_words_stream_and_the_message_is_shown_once(serve: Serve) -> None:
    server = serve(both)
    shown = [
        (message, data)
        async for message, data in conversation(server).astream({"messages": []}, stream_mode="messages")
    ]
    assert "".join(str(m.content) for m, _ in shown) == WORDS
    assert {m.id for m, _ in shown} == {"ann-4"}
    assert all(isinstance(m, AIMessageChunk) for m, _ in shown), "the whole message is not shown again"
    assert len(shown) >= 6
    _, data = shown[0]
    assert (data["agent"], data["turn"], data["module"]) == ("Ann", 3, "natural_language")
    assert data["langgraph_node"] == "node"
    assert [bool(b.get("stream")) for b in server.bodies()] == [False, True]


async def test_runs_are_named_and_tagged_below_the_nodes_run(serve: Serve) -> None:
    events = [
        e
        async for e in conversation(serve(both)).astream_events(
            {"messages": []}, version="v2", config={"tags": ["mine"]}
        )
        if e["event"] == "on_chat_model_start"
    ]
    assert [e["name"] for e in events] == ["need_to_talk:Ann", "natural_language:Ann"]
    assert [sorted(set(e["tags"]) & {"nostream", "persimchat", "mine", "need_to_talk"}) for e in events] == [
        ["mine", "need_to_talk", "nostream", "persimchat"],
        ["mine", "persimchat"],
    ]
    assert all(e["parent_ids"] for e in events)


async def test_words_stream_as_they_come(serve: Serve) -> None:
    server = serve(both, token_delay_s=0.03)
    loop = asyncio.get_running_loop()
    times = [
        loop.time()
        async for m, _ in conversation(server).astream({"messages": []}, stream_mode="messages")
        if m.content
    ]
    assert times[-1] - times[0] > 0.1
