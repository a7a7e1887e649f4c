"""What a program gives in place of settings, lists and mappings: refused in words, before anybody speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from fixtures import Refused
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from story_talks import NAMES, scenario
from typing_extensions import TypedDict

from persimchat import Settings, as_tool, build_conversation, conversation_node
from persimchat.state.errors import InputError

ADA, BO = {"name": "Ada Lind", "description": "A baker."}, {"name": "Bo Říha", "description": "A bus driver."}
SETTINGS = Settings(model="offline", max_messages=1)


@pytest.mark.parametrize("make", [conversation_node, as_tool, lambda given: build_conversation(settings=given)])
@pytest.mark.parametrize(
    ("given", "words"),
    [(5, ["int", "argument settings"]), ({"max_messages": 0}, ["max_messages", "argument settings"])],
)
def test_what_is_no_settings(refused: Refused, make: Callable[[Any], Any], given: Any, words: list[str]) -> None:
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
def test_a_node_is_given_lists_and_mappings(refused: Refused, options: dict[str, Any], words: list[str]) -> None:
    refused(lambda: conversation_node(SETTINGS, **{"participants": [ADA, BO], **options}), *words)


def test_a_baseline_with_a_person_is_refused_when_the_node_is_made(refused: Refused) -> None:
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
def test_a_tool_is_given_what_it_asks_for(refused: Refused, options: dict[str, Any], words: list[str]) -> None:
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
def test_what_is_no_topic(refused: Refused, found: Any) -> None:
    refused(
        lambda: with_topic(found), f"the topic must be text, not {type(found).__name__}", "key 'asked'", "topic_from"
    )


# A story inside somebody else's graph


ANN, BEN, CY = NAMES[:3]
STAGES = [{"kind": "private", "exchanges": 1}]


class Around(TypedDict, total=False):
    """The state around a story."""

    question: str
    outcome: dict[str, Any] | None
    why: str


def around(
    *people: str, checkpointer: Any = None, stages: list[Any] = STAGES, settings: Any = None, **more: Any
) -> Any:
    told = scenario(2, 1, stages=stages, **more)
    node = conversation_node(
        settings or Settings(model="offline", rounds=1),
        participants=[p.model_copy(update={"human": p.name in people}) for p in told.participants],
        story=told.story,
        topic_from="question",
        into={"outcome": "outcome", "why": "stop_reason"},
    )
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Around)
    builder.add_node("story", node)
    builder.add_edge(START, "story")
    builder.add_edge("story", END)
    return builder.compile(checkpointer=checkpointer)


@pytest.mark.proof
def test_a_story_gives_its_outcome_to_the_graph_around_it() -> None:
    told = around().invoke({"question": "Who leads?"})
    assert told["why"] == "settled"
    assert set(told["outcome"]["winners"]) <= {ANN, BEN}


@pytest.mark.proof
def test_a_story_without_a_vote_has_no_outcome() -> None:
    told = around(settlement=None).invoke({"question": "Who leads?"})
    assert (told["why"], told["outcome"]) == ("finished", None)


def test_a_player_is_asked_through_the_graph_around_it() -> None:
    graph = around(
        CY, checkpointer=InMemorySaver(), settlement={"voters": "all"}, stages=[{"kind": "group", "exchanges": 1}]
    )
    thread = {"configurable": {"thread_id": uuid4().hex}}
    given: Any = {"question": "Who leads?"}
    asked = []
    while interrupts := graph.invoke(given, thread).get("__interrupt__"):
        (question,) = interrupts
        asked.append((question.value["what"], question.value["story"]["ballot"]))
        given = Command(resume="1" if question.value["what"] == "ballot" else {"text": "So be it."})
    assert asked == [
        ("utterance", ""), ("ballot", "guess"), ("utterance", ""), ("ballot", "open"), ("ballot", "closed")
    ]  # fmt: skip
    assert graph.get_state(thread).values["why"] == "settled"


def test_what_does_not_fit_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="cannot be held as a debate"):
        around(settings=Settings(model="offline", mode="debate"))
    with pytest.raises(InputError, match="all participants are people"):
        around(ANN, BEN, CY)
    with pytest.raises(InputError, match="there is no participant 'Zoe'"):
        conversation_node(Settings(), participants=["Zeynep", "Rowan"], story={"characters": {"Zoe": {}}})


# ── settings in `configurable`, as LangGraph's server takes them ───────────────────────────────────────────────────


@pytest.mark.proof
@pytest.mark.parametrize("own", [None, SETTINGS])
@pytest.mark.parametrize("context", [None, {"model": "offline"}, {"max_messages": 2}])
async def test_settings_in_configurable_count(own: Settings | None, context: dict[str, Any] | None) -> None:
    group = build_conversation(settings=own)
    place: Any = {"configurable": {"model": "offline", "max_messages": 2, "thread_id": "t"}}
    assert group.invoke({"topic": "Tea?"}, place, context=context)["turn"] == 2
    assert (await group.ainvoke({"topic": "Tea?"}, place, context=context))["turn"] == 2
    assert group.with_config(place).invoke({"topic": "Tea?"}, context=context)["turn"] == 2


@pytest.mark.parametrize("context", [{"max_messages": 3}, SETTINGS])
def test_settings_in_two_places_do_not_contradict_each_other(refused: Refused, context: Any) -> None:
    group, place = build_conversation(), {"configurable": {"max_messages": 2}}
    refused(lambda: group.invoke({"topic": "Tea?"}, place, context=context), "max_messages is", "in configurable")


@pytest.mark.proof
def test_on_langgraphs_server_the_context_counts() -> None:
    """Its `configurable` holds what earlier contexts of the thread said."""
    place: Any = {"configurable": {"max_messages": 3, "pattern": "round_robin", "langgraph_request_id": "1"}}
    assert build_conversation().invoke({"topic": "Tea?"}, place, context={"max_messages": 2})["turn"] == 2


def test_a_wrong_setting_in_configurable_is_refused(refused: Refused) -> None:
    group = build_conversation()
    refused(lambda: group.invoke({"topic": "Tea?"}, {"configurable": {"max_messages": 0}}), "max_messages", "not 0")


@pytest.mark.proof
def test_in_a_graph_configurable_is_that_graphs() -> None:
    builder = StateGraph(dict)
    builder.add_node("group", build_conversation(settings=SETTINGS))
    builder.add_edge(START, "group")
    told = builder.compile().invoke({"topic": "Tea?"}, {"configurable": {"max_messages": 3, "seed": "theirs"}})
    assert told["turn"] == 1
