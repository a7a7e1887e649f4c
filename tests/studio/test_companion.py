"""A companion on LangGraph's server: a human message is enough, and the mind is in the server's store."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk.client import LangGraphClient

pytestmark = pytest.mark.proof


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
