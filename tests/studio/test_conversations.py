"""Conversations on LangGraph's server: streaming, people, interventions, forks, cancelling, errors, isolation."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient
from loopback.server import LoopbackServer
from studio.serving import Server

pytestmark = pytest.mark.proof
TEA, PET = "Tea or coffee?", "Is the wombat a good pet?"
BETWEEN = ["end_check"]
"""Where a conversation stops between two turns."""


async def state_of(client: LangGraphClient, thread: str) -> Any:
    return await client.threads.get_state(thread)


def said(values: Any) -> list[dict[str, Any]]:
    return [message["additional_kwargs"]["utterance"] for message in values["messages"]]


async def until_turn(client: LangGraphClient, thread: str, turn: int, given: Any, **settings: Any) -> None:
    """Hold a conversation until so many utterances were heard, and let it stand there."""
    for _ in range(turn + 1):
        await client.runs.wait(thread, "discussion", input=given, context=settings, interrupt_before=BETWEEN)
        given = None
    assert (await state_of(client, thread))["values"]["turn"] == turn


@pytest.mark.long
async def test_an_assistant_with_settings_of_its_own(client: LangGraphClient, thread: str, topic: dict[str, Any]):
    short = await client.assistants.create("discussion", context={"max_messages": 3, "pattern": "round_robin"})
    assert short["context"] == {"max_messages": 3, "pattern": "round_robin"}
    ended: Any = await client.runs.wait(thread, short["assistant_id"], input=topic)
    assert [m["name"].split()[0] for m in ended["messages"]] == ["Jarmila", "Inés", "Jarmila"]
    changed = await client.assistants.update(short["assistant_id"], context={"max_messages": 2})
    assert changed["version"] == 2
    again: Any = await client.runs.wait(thread, short["assistant_id"], input=topic)
    assert (again["turn"], len(again["messages"])) == (2, 5), "a second conversation on the thread follows the first"


async def test_the_next_message_in_the_chat_is_the_next_topic(client: LangGraphClient, thread: str):
    for text in ("Cats or dogs?", TEA):
        given = {"messages": [{"role": "user", "content": text}], "participants": ["Jarmila", "Inés"]}
        await client.runs.wait(thread, "discussion", input=given, context={"max_messages": 1})
        assert (await state_of(client, thread))["values"]["topic"] == text


async def test_tokens_and_updates_of_inner_graphs_are_streamed(
    client: LangGraphClient, thread: str, topic: dict[str, Any]
):
    tokens: dict[str, str] = defaultdict(str)
    steps, told = set(), []
    stream = client.runs.stream(
        thread,
        "discussion",
        input=topic,
        context={"max_messages": 2},
        stream_mode=["messages-tuple", "updates", "custom"],
        stream_subgraphs=True,
    )
    async for part in stream:
        kind, _, inside = part.event.partition("|")
        if kind == "messages":
            chunk, metadata = part.data
            assert metadata["langgraph_node"] == "speak", "only what people hear is streamed word by word"
            if chunk["type"] == "AIMessageChunk":
                tokens[chunk["id"]] += chunk["content"]
        elif kind == "updates":
            steps |= {(inside.partition(":")[0], step) for step in part.data}
        elif kind == "custom":
            told.append(part.data["speaker"])
    assert {("", "publish"), ("hear", "perceive"), ("hear", "remember_utterance"), ("hear", "feel")} <= steps
    assert {("awaken", "feel"), ("think", "remember_thoughts")} <= steps
    messages = (await state_of(client, thread))["values"]["messages"]
    assert [m["name"] for m in messages] == told
    assert dict(tokens) == {m["id"]: m["content"] for m in messages}


async def test_a_person_is_asked_and_answers(client: LangGraphClient, thread: str):
    given = {"topic": "Tea or coffee?", "participants": [{"name": "Petr", "human": True}, "Inés"]}
    context: Any = {"pattern": "round_robin", "max_messages": 3}
    await client.runs.wait(thread, "discussion", input=given, context=context)
    assert (await client.threads.get(thread))["status"] == "interrupted"
    (asked,) = (await state_of(client, thread))["interrupts"]
    assert asked["value"] == {"agent": "Petr", "what": "utterance", "turn": 0, "problem": ""}

    await client.runs.wait(thread, "discussion", command={"resume": {"text": " "}}, context=context)
    (asked,) = (await state_of(client, thread))["interrupts"]
    assert "there are no words in it" in asked["value"]["problem"]

    await client.runs.wait(thread, "discussion", command={"resume": {"text": "Tea, Inés?"}}, context=context)
    values = (await state_of(client, thread))["values"]
    first, second = values["messages"]
    assert (first["type"], first["name"], first["content"]) == ("human", "Petr", "Tea, Inés?")
    assert (second["type"], second["name"]) == ("ai", "Inés Quiroga")
    ended: Any = await client.runs.wait(thread, "discussion", command={"resume": {"pass": True}}, context=context)
    assert ended["turn"] == 3
    assert {u["speaker"] for u in said(ended)[1:]} == {"Inés Quiroga"}


async def test_words_and_whispers_from_outside(client: LangGraphClient, thread: str):
    given = {"topic": "Tea or coffee?", "participants": ["Jarmila", "Inés", "Łukasz"]}
    await until_turn(client, thread, 1, given, max_messages=4, closing="off")
    wanted = [
        {"do": "say", "text": "Please think of the price, too."},
        {"do": "say", "text": "Mention the xylophone.", "heard_by": ["Inés Quiroga"]},
    ]
    await client.threads.update_state(thread, {"interventions": wanted}, as_node="intervene")
    heard: list[set[str]] = []
    stream = client.runs.stream(
        thread, "discussion", context={"max_messages": 4, "closing": "off"}, stream_mode="updates"
    )
    async for part in stream:
        if "publish" in (part.data or {}):
            heard.append(set())
        for update in (part.data or {}).values() if "hear" in (part.data or {}) else ():
            heard[-1] |= {key.split("|")[1] for key in (update or {}).get("usage", {})}
    _, aloud, whispered, _ = said((await state_of(client, thread))["values"])
    assert (aloud["speaker"], aloud["text"]) == ("Moderator", "Please think of the price, too.")
    assert whispered["heard_by"] == ["Inés Quiroga"]
    everybody = {"Jarmila Dvořáčková", "Inés Quiroga", "Łukasz Żórawski"}
    assert heard == [everybody, {"Inés Quiroga"}, everybody]


async def test_history_and_a_fork_from_an_earlier_turn(client: LangGraphClient, thread: str, topic: dict[str, Any]):
    context: Any = {"max_messages": 4, "closing": "off"}
    ended: Any = await client.runs.wait(thread, "discussion", input=topic, context=context)
    history = await client.threads.get_history(thread, limit=100)
    assert [state["values"].get("turn", 0) for state in history] == sorted(
        (state["values"].get("turn", 0) for state in history), reverse=True
    )
    earlier = next(s for s in history if s["values"].get("turn") == 2 and s["next"] == ["end_check"])
    assert said(earlier["values"]) == said(ended)[:2]
    wanted = {"interventions": [{"do": "say", "text": "What about cocoa?"}]}
    fork: Any = await client.threads.update_state(thread, wanted, as_node="intervene", checkpoint=earlier["checkpoint"])
    forked: Any = await client.runs.wait(thread, "discussion", checkpoint=fork["checkpoint"], context=context)
    assert said(forked)[:2] == said(ended)[:2]
    assert (said(forked)[2]["speaker"], said(forked)[2]["text"]) == ("Moderator", "What about cocoa?")
    assert forked["turn"] == 4
    before: Any = await client.threads.get_state(thread, checkpoint=history[0]["checkpoint"])
    assert said(before["values"]) == said(ended), "the conversation as it was is still there"


async def test_a_run_is_cancelled_and_goes_on(client: LangGraphClient, thread: str, topic: dict[str, Any]):
    context: Any = {"max_messages": 100_000, "closing": "off", "pattern": "round_robin"}
    run = await client.runs.create(thread, "discussion", input=topic, context=context, stream_mode=["updates"])
    async for part in client.runs.join_stream(thread, run["run_id"], stream_mode=["updates"]):
        if part.event == "updates" and "publish" in part.data:
            break
    await client.runs.cancel(thread, run["run_id"], wait=True)
    assert (await client.runs.get(thread, run["run_id"]))["status"] == "interrupted"
    stopped = (await state_of(client, thread))["values"]
    assert 1 <= stopped["turn"] < 100_000
    limit = stopped["turn"] + 1
    ended: Any = await client.runs.wait(thread, "discussion", context={**context, "max_messages": limit})
    assert ended["turn"] == limit
    assert said(ended)[: stopped["turn"]] == said(stopped)


@pytest.mark.parametrize(
    ("graph", "context", "what", "remedy"),
    [
        ("discussion", {"max_messages": 0}, "max_messages should be greater", "a whole number from 1 to 100000"),
        ("debate", {"pattern": "loudest"}, "pattern should be", "need_to_talk, round_robin, selector"),
        ("mad", {"mode": "discussion"}, "baseline=mad, which is a debate", "Set mode=debate"),
        ("debate", {"baseline": "mad"}, "baseline=mad", "Leave it out"),
        ("discussion", {"weights": {"recency": -1}}, "weights.recency", "0 to 100"),
    ],
)
async def test_wrong_settings_are_refused_in_plain_words(
    client: LangGraphClient, thread: str, topic: dict[str, Any], graph: str, context: Any, what: str, remedy: str
):
    parts = [part async for part in client.runs.stream(thread, graph, input=topic, context=context)]
    error = parts[-1]
    assert (error.event, error.data["error"]) == ("error", "InputError")
    message = error.data["message"]
    assert what in message and remedy in message and "the context, field" in message
    assert "\n" not in message and "pydantic" not in message
    assert (await client.threads.get(thread))["status"] == "error"


async def test_wrong_input_is_refused_in_plain_words(client: LangGraphClient, thread: str):
    given = {"topic": "Tea or coffee?", "participants": ["Jarmila", "Nobody"]}
    parts = [part async for part in client.runs.stream(thread, "discussion", input=given)]
    assert parts[-1].data["error"] == "InputError"
    assert "Nobody" in parts[-1].data["message"]


@pytest.mark.long
async def test_conversations_at_once_share_no_memories(client: LangGraphClient):
    """What somebody recalls decides what they say, so the same conversation has the same course in any company."""

    async def held(text: str) -> Any:
        thread = (await client.threads.create())["thread_id"]
        given = {"topic": text, "participants": ["Jarmila", "Inés"]}
        await client.runs.wait(thread, "discussion", input=given, context={"max_messages": 5})
        return (await state_of(client, thread))["values"]

    def recalled(values: Any) -> dict[str, list[str]]:
        return {name: [memory["id"] for memory in mind["recalled"]] for name, mind in values["agents"].items()}

    first, other, again = await asyncio.gather(*(held(text) for text in (TEA, PET, TEA)))
    assert len({values["simulation"] for values in (first, other, again)}) == 3
    assert (said(first), recalled(first)) == (said(again), recalled(again))
    assert recalled(first) != recalled(other)
    for values in (first, other, again):
        for name, mind in values["agents"].items():
            assert recalled(values)[name], name
            assert set(recalled(values)[name]) <= set(mind["alive"]), "somebody recalls what is no memory of theirs"


def test_the_documents_example_runs(server: Server, root: Path):
    text = (root / "docs/studio.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert "http://127.0.0.1:2024" in code
    code = code.replace("http://127.0.0.1:2024", server.url)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=server.folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1] == "Moderator: What about cocoa?"
    assert (len(lines), lines[-1]) == (5, "3 messages in the fork")


async def test_nothing_is_asked_of_other_machines_and_no_files_are_left(
    client: LangGraphClient, server: Server, root: Path, thread: str, topic: dict[str, Any]
):
    with LoopbackServer() as models:
        how: Any = {"max_messages": 1, "model": models.model()}
        ended: Any = await client.runs.wait(thread, "discussion", input=topic, context=how)
        assert (ended["turn"], models.requests != []) == (1, True)
    called = [line.split() for line in server.addresses.read_text(encoding="utf-8").splitlines()]
    assert ["socket.connect", "127.0.0.1"] in called, "the record holds what it should: a model's server here"
    assert {address for _, address in called} <= {"127.0.0.1", "::1", "localhost", "None"}
    assert {path.name for path in server.folder.iterdir()} <= {"langgraph.json", ".langgraph_api", "apps"}
    assert ".langgraph_api/" in (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    log = server.log.read_text(encoding="utf-8")
    assert [words for words in ("Blocking", "Connection refused", "ConnectError") if words in log] == []
