"""The graphs of langgraph.json as LangGraph's server shows them: what they are, their forms, their drawing."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

from persimchat.graph.studio import PRESETS
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof
INPUT = ["topic", "messages", "participants", "relationships", "social_goals", "rules", "guide"]


async def schemas(client: LangGraphClient, graph: str) -> Any:
    (assistant,) = await client.assistants.search(graph_id=graph, limit=1)
    return await client.assistants.get_schemas(assistant["assistant_id"])


async def test_every_graph_has_an_assistant(client: LangGraphClient):
    found = await client.assistants.search(limit=100, metadata={"created_by": "system"})
    assert {(a["graph_id"], a["name"]) for a in found} == {(name, name) for name in PRESETS}
    assert [a["graph_id"] for a in found if not a["description"]] == []


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
    assert list(properties) == list(Settings.model_fields)
    assert [name for name, field in properties.items() if not (field.get("title") or "$ref" in field)] == []
    assert [name for name, field in properties.items() if not field["description"]] == []
    shown = {name: field["default"] for name, field in properties.items()}
    assert shown == meant.whole()
    assert shown["max_messages"] == {"debate": 60, "story": 100_000}.get(PRESETS[graph].get("mode", "discussion"), 10)
    assert (properties["max_messages"]["minimum"], properties["max_messages"]["maximum"]) == (1, 100_000)
    assert properties["pattern"]["enum"] == ["need_to_talk", "round_robin", "selector"]
    assert properties["budget_usd"]["title"] == "Budget (USD)"
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
