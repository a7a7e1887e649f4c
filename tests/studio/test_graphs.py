"""On LangGraph's server: what Studio shows, stories, companions, and the commands of the document."""

from __future__ import annotations

from typing import Any

import pytest
from documents import BLOCKS, NOT_RUN
from langgraph_sdk.client import LangGraphClient
from studio.serving import Server

from persimchat.graph.studio import PRESETS
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof


INPUT = ["topic", "messages", "participants", "relationships", "social_goals", "rules", "guide"]


async def schemas(client: LangGraphClient, graph: str) -> Any:
    (assistant,) = await client.assistants.search(graph_id=graph, limit=1)
    return await client.assistants.get_schemas(assistant["assistant_id"])


async def test_every_graph_has_an_assistant(client: LangGraphClient):
    every = await client.assistants.search(limit=100, metadata={"created_by": "system"})
    found = [one for one in every if not one["graph_id"].startswith("app_")]
    assert {(a["graph_id"], a["name"]) for a in found} == {(name, name) for name in PRESETS}
    assert [a["graph_id"] for a in found if not a["description"]] == []


@pytest.mark.proof(cases="all")
@pytest.mark.parametrize("graph", [name for name in PRESETS if name not in ("story", "companion")])
async def test_a_graph_is_what_its_name_says(client: LangGraphClient, thread: str, topic: dict[str, Any], graph: str):
    ended: Any = await client.runs.wait(thread, graph, input=topic, context={"max_messages": 4, "rounds": 2})
    state = (await client.threads.get_state(thread))["values"]
    assert ended["turn"] == len(ended["messages"]) in (2, 4)
    assert ended["stop_reason"] == ("consensus" if ended["turn"] == 2 else ended["stop_reason"] or "none")
    assert [m["name"] for m in ended["messages"]] == [m["name"] for m in state["messages"]]
    assert {m["name"] for m in ended["messages"]} == {"Jarmila Dvořáčková", "Inés Quiroga"}
    assert all(m["type"] == "ai" and m["content"] for m in ended["messages"])
    preset = PRESETS[graph]
    if preset["mode"] == "debate":
        assert ended["conclusion"]["by"] == preset.get("baseline", "judge")
    else:
        assert ended["conclusion"] is None
    modules = {row["module"] for row in ended["usage"].values()}
    assert ("perception" in modules) == ("baseline" not in preset)
    assert ("script" in modules) == (graph == "single_agent")


async def test_a_story_needs_no_input(client: LangGraphClient, thread: str):
    ended: Any = await client.runs.wait(thread, "story", input={}, context={"rounds": 1})
    assert (ended["turn"], ended["stop_reason"]) == (20, "settled")
    assert ended["outcome"]["winners"]
    properties = (await schemas(client, "story"))["input_schema"]["properties"]
    assert list(properties) == [*INPUT, "story"]


async def test_settings_that_are_given_count(client: LangGraphClient, thread: str, topic: dict[str, Any]):
    wanted = {"mode": "debate", "max_messages": 2}
    ended: Any = await client.runs.wait(thread, "discussion", input=topic, context=wanted)
    assert ended["turn"] == 2
    assert ended["conclusion"]["answer"]


async def test_the_form_of_the_input(client: LangGraphClient):
    properties = (await schemas(client, "discussion"))["input_schema"]["properties"]
    assert list(properties) == INPUT
    assert [name for name, field in properties.items() if not (field["title"] and field["description"])] == []
    assert [name for name in INPUT[2:] if "default" not in properties[name]] == []
    given = Scenario.model_json_schema()["properties"]
    assert properties["topic"]["maxLength"] == given["topic"]["maxLength"]
    assert properties["participants"]["maxItems"] == given["participants"]["maxItems"]
    name, persona = properties["participants"]["items"]["anyOf"]
    assert name == {"type": "string"}
    assert (persona["required"], "human" in persona["properties"]) == (["name"], True)
    assert "mentor_mentee" in properties["relationships"]["items"]["properties"]["type"]["enum"]


@pytest.mark.parametrize("graph", PRESETS)
async def test_the_form_of_the_settings(client: LangGraphClient, graph: str):
    schema = (await schemas(client, graph))["context_schema"]
    properties, meant = schema["properties"], Settings(**PRESETS[graph])
    assert schema["title"] == f"Settings of {graph}"
    shows = {"judge_window": ("debate",), "rounds": ("story", "mad", "mad_judge", "reconcile"), "seed": tuple(PRESETS)}
    assert {name: graph in graphs for name, graphs in shows.items()} == {name: name in properties for name in shows}
    assert list(properties) == [name for name in Settings.model_fields if name in properties]
    assert [name for name, field in properties.items() if not (field.get("title") or "$ref" in field)] == []
    assert [name for name, field in properties.items() if not field["description"]] == []
    shown = {name: field["default"] for name, field in properties.items()}
    assert shown == {name: value for name, value in meant.whole().items() if name in properties}
    if "max_messages" in properties:
        assert shown["max_messages"] == {"debate": 60}.get(PRESETS[graph]["mode"], 10)
        assert (properties["max_messages"]["minimum"], properties["max_messages"]["maximum"]) == (1, 100_000)
    if "pattern" in properties:
        assert properties["pattern"]["enum"] == ["need_to_talk", "round_robin", "selector"]
    assert properties["budget_usd"]["title"] == "Budget (USD)"
    if "weights" in properties:
        assert schema["$defs"]["RetrievalWeights"]["properties"]["recency"]["maximum"] == 100


async def test_the_drawing_shows_hearing_and_thinking_by_their_modules(client: LangGraphClient):
    (assistant,) = await client.assistants.search(graph_id="debate", limit=1)
    drawn: Any = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
    nodes = {str(node["id"]) for node in drawn["nodes"]}
    assert {"hear:perceive", "hear:remember_utterance", "hear:choose_action", "hear:feel"} <= nodes
    assert {"think:reflect", "think:plan", "think:remember_thoughts", "awaken:judge_need_to_talk"} <= nodes
    assert {"speak", "publish", "judge", "end_check", "person_speaks", "intervene"} <= nodes
    ends = {end for edge in drawn["edges"] for end in (str(edge["source"]), str(edge["target"]))}
    assert ends <= nodes


async def test_a_character_is_played_by_resuming(client: LangGraphClient, thread: str) -> None:
    names = ("Ann Lind", "Bo Vik", "Cy Dahl")
    people = [{"name": name, "description": "Somebody.", "human": name == "Ann Lind"} for name in names]
    characters = {
        name: {"main": True, "beliefs": [{"text": "I lead.", "score": 60, "for": name}]} if name != "Cy Dahl" else {}
        for name in names
    }
    stages = [{"kind": "private", "exchanges": 1}]
    story = {"characters": characters, "stages": stages, "settlement": {}, "first_impressions": False}
    given: dict[str, Any] | None = {"topic": "Who leads?", "participants": people, "story": story}
    context: Any = {"model": "offline", "rounds": 1}
    answers: dict[str, list[Any]] = {
        "choice": [{"choice": "Zoe"}, "Bo"],
        "utterance": ["Hello.", {"pass": True}, {"text": "A last word."}],
        "ballot": [1, "Ann", {"choice": 1}],
    }
    asked, command = [], None
    while True:
        await client.runs.wait(thread, "story", input=given, command=command, context=context)
        state: Any = await client.threads.get_state(thread)
        if not state["interrupts"]:
            break
        question = state["interrupts"][0]["value"]
        asked.append((question["what"], bool(question["problem"])))
        given, command = None, {"resume": answers[question["what"]].pop(0)}
    assert asked[:3] == [("choice", False), ("choice", True), ("utterance", False)]
    assert asked[-2:] == [("ballot", False), ("ballot", False)]
    assert state["values"]["stop_reason"] == "settled"
    rooms = [one for one in state["values"]["happenings"] if one["do"] == "met" and one["speaker"] == "Ann Lind"]
    assert [one["others"] for one in rooms] == [["Bo Vik"]]


async def say(client: LangGraphClient, thread: str, text: str, **companion: Any) -> str:
    """The answer to a plain human message."""
    given = {"messages": [{"role": "user", "content": text}]}
    context: Any = {"context": {"companion": companion}} if companion else {}
    ended: Any = await client.runs.wait(thread, "companion", input=given, **context)
    assert ended["answer"]["appraised"]
    assert (ended["messages"][-2]["content"], ended["messages"][-1]["type"]) == (text, "ai")
    return str(ended["messages"][-1]["content"])


async def test_a_message_gets_an_answer_and_the_thread_remembers(client: LangGraphClient, thread: str) -> None:
    assert "guest" in await say(client, thread, "Good morning!")
    await say(client, thread, "My dog is called Kiwi.")
    assert "Kiwi" in await say(client, thread, "What is my dog called?")
    values: Any = (await client.threads.get_state(thread))["values"]
    assert (values["number"], len(values["messages"]), values["pending"]) == (3, 6, [])


async def test_another_thread_of_the_same_person_remembers_and_of_another_does_not(client: LangGraphClient) -> None:
    first, second, third = [str((await client.threads.create())["thread_id"]) for _ in range(3)]
    await say(client, first, "My sister is called Mira.", person="Petr")
    await say(client, first, "Goodbye!", person="Petr")
    assert "Mira" in await say(client, second, "What is my sister called?", person="Petr")
    assert "Mira" not in await say(client, third, "What is my sister called?", person="Eva")


async def test_the_mind_is_in_the_servers_store(client: LangGraphClient, thread: str) -> None:
    await say(client, thread, "I have a cat.", person="Ann", world="studio", agent="Jarmila")
    spaces = (await client.store.list_namespaces(prefix=["studio"]))["namespaces"]
    assert [space[1] for space in spaces] == ["minds", "people", "place", "ties"]
    (mind,) = (await client.store.search_items(("studio", "minds")))["items"]
    kept = {memory["id"] for memory in mind["value"]["unsaved"]}
    short = mind["value"]["stm"]
    assert set(mind["value"]["alive"]) <= kept | {short["id"]}, "no memory is elsewhere only"


async def test_its_form_says_who_talks_with_whom(client: LangGraphClient) -> None:
    (assistant,) = await client.assistants.search(graph_id="companion", limit=1)
    found: Any = await client.assistants.get_schemas(assistant["assistant_id"])
    assert set(found["input_schema"]["properties"]) == {"messages", "occurrence"}
    own = found["context_schema"]["$defs"]["CompanionSettings"]["properties"]
    assert {"world", "agent", "person"} <= set(own)


def test_the_script_runs(server: Server, capsys: pytest.CaptureFixture[str]):
    (script,) = (block for block in BLOCKS if block.document == "docs/studio.md" and block.language == "python")
    assert (script.document, script.first) in NOT_RUN
    assert "http://127.0.0.1:2024" in script.text
    text = script.text.replace("http://127.0.0.1:2024", server.url)
    exec(compile(text, script.where, "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "What about cocoa?" in printed
    assert printed.endswith("3 messages in the fork\n")
