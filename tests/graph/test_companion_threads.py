"""A companion's graph on a server: plain human messages, several threads of a pair, memories that are lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from companion_talks import Scripted
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from persimchat.graph.companion.companion import companion_graph
from persimchat.graph.companion.records import Records
from persimchat.memory.recollection import let_go
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings


class Served:
    """The graph as LangGraph's server runs it: a thread and a human message, nothing else."""

    def __init__(self, **settings: Any) -> None:
        self.store = InMemoryStore()
        self.graph = companion_graph(InMemorySaver(), self.store)
        self.settings = Settings(**{"model": "offline", "cognition": "lean", "ltm_capacity": 2000, **settings})

    async def say(self, text: str, thread: str = "a", **message: Any) -> Any:
        return await self.graph.ainvoke(
            {"messages": [HumanMessage(text, **message)]},
            {"configurable": {"thread_id": thread}},
            context=self.settings,
        )

    async def tie(self) -> Any:
        records = Records("companion", self.store)
        place = await records.place()
        assert place is not None
        return (await records.ties(place.agents[0].name))[0]


async def test_the_first_shipped_persona_talks_with_a_guest() -> None:
    served = Served()
    found = await served.say("Good morning!")
    assert found["answer"]["utterance"] == found["messages"][-1].text
    tie = await served.tie()
    assert (tie.name, tie.talk.exchanges) == ("guest", 1)


async def test_a_talk_goes_on_in_another_thread_after_a_goodbye() -> None:
    served = Served()
    await served.say("My sister is called Mira.", "a")
    await served.say("Goodbye!", "a")
    found = await served.say("What is my sister called?", "b")
    assert "Mira" in found["messages"][-1].text and len(found["messages"]) == 2


async def test_words_of_a_thread_without_a_goodbye_are_kept_by_its_next_run() -> None:
    served = Served()
    await served.say("My sister is called Mira.", "a")
    await served.say("Hello.", "b")
    tie = await served.tie()
    assert [talk.exchanges for talk in tie.over] == [1] and tie.talk is not None
    await served.say("Goodbye!", "b")
    tie = await served.tie()
    assert (len(tie.over), tie.talks, tie.in_force) == (1, 1, [])
    await served.say("Hello again.", "a")
    tie = await served.tie()
    assert (tie.over, tie.talks) == ([], 2)
    assert [fact.statement for fact in tie.in_force] == ["Guest's sister is called Mira."]


async def test_a_message_that_comes_twice_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    first = await served.say("Hello.", id="m1")
    again = await served.say("Hello.", id="m1")
    assert [message.id for message in again["messages"]] == [message.id for message in first["messages"]]
    assert len(model.prompts("companion")) == 1
    more = await served.say("And now?", id="m2")
    assert len(more["messages"]) == 4


async def test_exchanges_without_a_thread_of_their_own_are_digested_each(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    graph = companion_graph(store=served.store)
    for words in ("Hello.", "And now?"):
        await graph.ainvoke({"messages": [HumanMessage(words, id=words)]}, context=served.settings)
    assert len(model.prompts("reaction")) == 2


async def test_an_ephemeral_memory_store_may_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    model, served = Scripted().install(monkeypatch), Served()
    await served.say("My sister is called Mira.")
    await served.say("She is a captain.")
    await asyncio.to_thread(let_go, "ephemeral", "companion")
    await served.say("What is my sister called?")
    assert "They told something." in model.prompts("companion")[-1]


async def test_settings_of_conversations_are_refused() -> None:
    with pytest.raises(InputError, match="cognition does not go with a companion"):
        await Served(cognition="fixed").say("Hello.")
