"""What a program gives in place of settings, lists and mappings: refused in words, before anybody speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph

from persimchat import as_tool, build_conversation, conversation_node
from persimchat.state.settings import Settings

ADA, BO = {"name": "Ada Lind", "description": "A baker."}, {"name": "Bo Říha", "description": "A bus driver."}
SETTINGS = Settings(model="offline", max_messages=1)


@pytest.mark.parametrize("make", [conversation_node, as_tool, lambda given: build_conversation(settings=given)])
@pytest.mark.parametrize(
    ("given", "words"),
    [(5, ["int", "argument settings"]), ({"max_messages": 0}, ["max_messages", "argument settings"])],
)
def test_what_is_no_settings(
    refused: Callable[..., str], make: Callable[[Any], Any], given: Any, words: list[str]
) -> None:
    refused(lambda: make(given), *words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"participants": "Jarmila"}, ["str", "argument participants"]),
        ({"participants": 5}, ["int", "argument participants"]),
        ({"relationships": 5}, ["int", "argument relationships"]),
        ({"rules": "Be kind."}, ["str", "argument rules"]),
        ({"social_goals": ["Be heard."]}, ["list", "argument social_goals"]),
        ({"social_goals": {"Ada Lind": "Be heard."}}, ["str", "argument social_goals, Ada Lind"]),
        ({"topic_from": 5}, ["int", "argument topic_from"]),
        ({"into": ["messages"]}, ["list", "argument into"]),
    ],
)
def test_a_node_is_given_lists_and_mappings(
    refused: Callable[..., str], options: dict[str, Any], words: list[str]
) -> None:
    refused(lambda: conversation_node(SETTINGS, **{"participants": [ADA, BO], **options}), *words)


def test_a_baseline_with_a_person_is_refused_when_the_node_is_made(refused: Callable[..., str]) -> None:
    settings = Settings(model="offline", mode="debate", baseline="mad")
    refused(lambda: conversation_node(settings, participants=[ADA, {"name": "Petr", "human": True}]), "Petr", "mad")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"participants": "Jarmila"}, ["argument participants"]),
        ({"most_messages": "many"}, ["'many'", "most_messages"]),
        ({"name": "ask us!"}, ["'ask us!'", "argument name"]),
    ],
)
def test_a_tool_is_given_what_it_asks_for(
    refused: Callable[..., str], options: dict[str, Any], words: list[str]
) -> None:
    refused(lambda: as_tool(SETTINGS, **options), *words)


def with_topic(found: Any) -> dict[str, Any]:
    """What a parent holds after a conversation about what stands in its state."""
    builder: Any = StateGraph(dict)
    node = conversation_node(SETTINGS, participants=[ADA, BO], topic_from="asked", into={"read": "transcript"})
    builder.add_node("group", node)
    builder.add_edge(START, "group")
    return builder.compile().invoke({"asked": found})  # type: ignore[no-any-return]


def test_one_message_is_a_topic() -> None:
    assert with_topic(HumanMessage("Tea or coffee?"))["read"] == with_topic("Tea or coffee?")["read"]


@pytest.mark.parametrize("found", [5, {"a": "Tea?"}, {"Tea?"}])
def test_what_is_no_topic(refused: Callable[..., str], found: Any) -> None:
    refused(
        lambda: with_topic(found), f"the topic must be text, not {type(found).__name__}", "key 'asked'", "topic_from"
    )
