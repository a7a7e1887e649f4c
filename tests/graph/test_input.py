"""What the graph refuses as input, and that input opens no files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from persimchat.graph.baselines import baseline_graph
from persimchat.graph.conversation import build_conversation, graph
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

ADA = {"name": "Ada Lind", "description": "A baker."}
SETTINGS = Settings(model="offline", max_messages=1)


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
def test_bad_input_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        graph.invoke(given, context=SETTINGS)
    assert "\n" not in str(caught.value)


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
        graph.invoke({"topic": "Tea?", "participants": [ADA, entry]}, context=SETTINGS)
    assert "Nobody may read" not in str(caught.value)


def test_participants_may_be_first_names_of_shipped_personas() -> None:
    output = graph.invoke({"topic": "Tea?", "participants": ["Zeynep", "lukasz"]}, context=SETTINGS)
    assert output["messages"][-1].name in ("Zeynep Aydoğan", "Łukasz Żórawski")


MAD = Settings(model="offline", mode="debate", baseline="mad", max_messages=2)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("settings", [SETTINGS, MAD], ids=["minds", "mad"])
async def test_the_next_message_on_a_thread_is_the_next_topic(settings: Settings, asynchronous: bool) -> None:
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "t"}}
    held = baseline_graph(settings, saver) if settings.baseline else build_conversation(saver)
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
