"""A story inside somebody else's graph."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from story_talks import NAMES, scenario
from typing_extensions import TypedDict

from persimchat import Settings, conversation_node
from persimchat.state.errors import InputError

ADA, BO, CY = NAMES[:3]
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


def test_a_story_gives_its_outcome_to_the_graph_around_it() -> None:
    told = around().invoke({"question": "Who leads?"})
    assert told["why"] == "settled"
    assert set(told["outcome"]["winners"]) <= {ADA, BO}


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
        around(ADA, BO, CY)
    with pytest.raises(InputError, match="there is no participant 'Zoe'"):
        conversation_node(Settings(), participants=["Zeynep", "Rowan"], story={"characters": {"Zoe": {}}})
