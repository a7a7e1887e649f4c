"""What a mind keeps, and what it is given for one step."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.memory.retrieval import recency
from persimchat.nodes.assembling import assemble
from persimchat.state.companion.place import Agent, Recall, place_of
from persimchat.state.minds.emotion import EMOTIONS, EmotionalState
from persimchat.state.minds.memory import PINNED, Memory, memory_id, new_memory
from persimchat.state.minds.mind import STORED, Mind, Step, in_step
from persimchat.state.persona import Persona
from persimchat.state.settings import Settings


def test_a_step_has_what_a_mind_keeps_and_what_it_is_given() -> None:
    assert set(Mind.__annotations__) == STORED < set(Step.__annotations__)
    assert {"situation", "heard", "outcomes", "arriving", "keep", "beside"} <= set(Step.__annotations__) - STORED


def test_everything_in_a_mind_that_begins_is_kept() -> None:
    settings = Settings(model="offline", mode="debate", judge="persona", max_messages=3)
    people = [{"name": "Bo", "human": True}, {"name": "Cy", "description": "Likes tea."}]
    minds = assemble({"topic": "Tea?", "participants": people}, settings, "t")["agents"][1]
    assert [mind.get("role") for mind in minds.values()] == [None, None, "judge"]
    for mind in minds.values():
        assert set(mind) <= STORED


def test_a_mind_is_not_changed_by_its_step() -> None:
    mind: Mind = {"name": "Bo", "utterances": 2}
    assert in_step(mind, required=True) == {"name": "Bo", "utterances": 2, "required": True}
    assert mind == {"name": "Bo", "utterances": 2}


# Memories: their ids, and the depth of reflections


CALM = [0] * 6
TEXT = st.text(min_size=1, max_size=20)


def made(theme: str = "t", *, agent: str = "Eva", turn: int = 1, kind="perception", keywords=("k",), **more) -> Memory:
    return new_memory(agent, turn, kind, theme, list(keywords), 5, CALM, **more)


@given(TEXT, st.integers(0, 99), TEXT, TEXT)
def test_an_id_depends_on_its_parts_alone(agent: str, turn: int, module: str, content: str):
    identity = memory_id(agent, turn, module, content)
    assert re.fullmatch(r"[0-9a-f]{24}", identity)
    assert identity == memory_id(agent, turn, module, content)
    others = [
        memory_id(agent + "x", turn, module, content),
        memory_id(agent, turn + 1, module, content),
        memory_id(agent, turn, module + "x", content),
        memory_id(agent, turn, module, content + "x"),
    ]
    assert len({identity, *others}) == 5


def test_parts_do_not_run_into_each_other():
    assert memory_id("a", 1, "bc", "d") != memory_id("a", 1, "b", "cd")
    assert memory_id("a", 1, "b", '","c') != memory_id("a", 1, 'b","', "c")


def test_what_makes_a_memory_another_one():
    assert made() == made()
    assert made().id != made(keywords=("k", "l")).id
    assert made().id != made(index=1).id, "two insights worded alike are two memories"
    assert made().id != made(kind="plan").id
    louder = new_memory("Eva", 1, "perception", "t", ["k"], 9, [1] * 6)
    assert louder.id == made().id, "judged again, it is the same memory"


def test_depth():
    leaf = made()
    first = made("r", kind="reflection", evidence=[leaf])
    second = made("s", kind="reflection", evidence=[leaf, first])
    assert [m.depth for m in (leaf, first, second)] == [0, 1, 2]
    assert second.evidence == [leaf.id, first.id]
    assert made("u", kind="reflection").depth == 1
    assert made("p", kind="plan", evidence=[second]).depth == 0, "only reflections have depth"


def test_form():
    assert made().text == "t (k)"
    assert made(keywords=()).text == "t"
    assert frozenset({"profile", "topic", "social_goals"}) == PINNED
    assert Memory.model_validate(made().model_dump()) == made()
    with pytest.raises(ValidationError):
        made("")
    with pytest.raises(ValidationError):
        new_memory("Eva", 1, "plan", "t", [], 5, [0] * 5)
    with pytest.raises(ValidationError, match="frozen"):
        made().theme = "x"  # type: ignore[misc]


# Emotional states


VECTORS = st.lists(st.integers(0, 10), min_size=6, max_size=6)


def of(vector: list[int]) -> EmotionalState:
    return EmotionalState(**dict(zip(EMOTIONS, vector, strict=True)))


@given(VECTORS)
def test_a_vector_there_and_back(vector: list[int]):
    state = of(vector)
    assert state.vector() == vector
    assert list(state.model_dump()) == list(EMOTIONS)


@given(VECTORS)
def test_dominant_is_the_first_of_the_strongest(vector: list[int]):
    dominant = of(vector).dominant()
    if any(vector):
        assert dominant == EMOTIONS[vector.index(max(vector))]
    else:
        assert dominant == "calm"


def test_order_and_bounds():
    assert EMOTIONS == ("happiness", "sadness", "anger", "fear", "disgust", "surprise")
    for value in (-1, 11, 1.5):
        with pytest.raises(ValidationError):
            EmotionalState(anger=value)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="frozen"):
        EmotionalState().anger = 3  # type: ignore[misc]


# How one agent recalls, where it differs from the settings


def test_only_what_is_given_differs() -> None:
    common = Settings()
    own = Recall(relevance=2, recency_decay=0.9, reflection_trigger=40).settings(common)
    assert own.weights == common.weights.model_copy(update={"relevance": 2})
    assert own.companion == common.companion.model_copy(update={"recency_decay": 0.9, "reflection_trigger": 40})
    assert Recall().settings(common) == common


def test_an_agent_without_it_is_written_as_before() -> None:
    place = place_of(Persona(name="Oda", description="Sells tickets."))
    assert "recall" not in place.model_dump(mode="json")["agents"][0]
    with_it = Agent(persona=place.agents[0].persona, recall=Recall(relevance=2))
    assert Agent.model_validate(with_it.model_dump(mode="json")) == with_it


def test_recency_decays_as_told() -> None:
    assert recency(np.array([10, 9, 8]), 10, 0.5).tolist() == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("decay", [0.0, 1.5, float("nan")])
def test_a_decay_that_is_none_is_refused(decay: float) -> None:
    with pytest.raises(ValueError, match="recency_decay"):
        Recall(recency_decay=decay)
