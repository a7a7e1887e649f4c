"""The conversation's reducers."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from persimchat.state.conversation import add_usage, append_messages, as_message, merge_minds, utterances

MESSAGES = st.lists(
    st.builds(
        lambda content, identity: AIMessage(content=content, id=identity),
        st.text("xyz", max_size=3),
        st.sampled_from([None, "1", "2", "3", "4"]),
    ),
    max_size=6,
)


@given(MESSAGES, st.lists(MESSAGES, max_size=4), st.lists(MESSAGES, max_size=4))
def test_batching_changes_nothing(start: list[AnyMessage], first: list[Any], second: list[Any]):
    state = append_messages([], [start])
    before = list(state)
    assert append_messages(append_messages(state, first), second) == append_messages(state, [*first, *second])
    assert state == before, "the state given is not changed"


@given(MESSAGES)
def test_ids_are_unique_and_the_last_write_holds(messages: list[AnyMessage]):
    result = append_messages([], [messages])
    ids = [m.id for m in result if m.id is not None]
    assert len(ids) == len(set(ids))
    for identity in ids:
        last = [m for m in messages if m.id == identity][-1]
        assert next(m for m in result if m.id == identity) is last
    assert len([m for m in result if m.id is None]) == len([m for m in messages if m.id is None])


def test_single_messages_are_appended_too():
    assert [m.content for m in append_messages([], [AIMessage("a", id="1"), [AIMessage("b")]])] == ["a", "b"]


def test_minds_may_leave_and_come_anew():
    minds = {"Eva": {"turn": 1, "stm": {"a": 1}}, "Bo": {"turn": 1}}
    assert merge_minds(minds, [[{"Eva": None, "Bo": None}, {"Eva": {"turn": 0}}]]) == {"Eva": {"turn": 0}}


def test_messages_may_come_as_a_server_sends_and_stores_them():
    stored = AIMessage("Tea!", name="Eva", id="1", additional_kwargs={"utterance": {"turn": 1}})
    again = append_messages(
        [stored.model_dump()], [[{"role": "user", "content": "Tea?", "id": "0"}], ("user", "Coffee?")]
    )
    assert again[0] == stored
    assert [(type(m).__name__, m.content, m.id) for m in again[1:]] == [
        ("HumanMessage", "Tea?", "0"),
        ("HumanMessage", "Coffee?", None),
    ]
    assert append_messages([stored.model_dump()], [stored]) == [stored]


def test_minds_are_merged_by_name_and_key():
    minds = {"Eva": {"turn": 1, "stm": {"a": 1}}, "Bo": {"turn": 1}}
    before = copy.deepcopy(minds)
    writes = [{"Eva": {"stm": {"b": 2}}}, {"Al": {"turn": 0}}]
    merged = merge_minds(minds, writes)
    assert merge_minds(merge_minds(minds, writes[:1]), writes[1:]) == merged
    assert merged == {"Eva": {"turn": 1, "stm": {"b": 2}}, "Bo": {"turn": 1}, "Al": {"turn": 0}}
    assert list(merged) == ["Eva", "Bo", "Al"]
    assert minds == before


def call(agent: str = "Eva", cost: float | None = 0.5, estimated: bool = False, tokens: int = 3) -> dict[str, Any]:
    return {
        "agent": agent,
        "module": "planning",
        "model": "m",
        "turn": 4,
        "calls": 1,
        "input_tokens": tokens,
        "output_tokens": 1,
        "estimated": estimated,
        "cost_usd": cost,
    }


CALLS = st.lists(
    st.builds(
        call,
        st.sampled_from(["Eva", "Bo"]),
        st.none() | st.integers(0, 100).map(float),
        st.booleans(),
        st.integers(0, 1000),
    ),
    max_size=6,
)


@given(CALLS, CALLS)
def test_usage_adds_up_however_it_is_batched(first: list[Any], second: list[Any]):
    total = add_usage({}, [first, second])
    assert add_usage(add_usage({}, [first]), [second]) == total
    assert add_usage(add_usage({}, [first]), [add_usage({}, [second])]) == total
    for key, row in total.items():
        own = [c for c in [*first, *second] if key == f"planning|{c['agent']}|m"]
        assert row["calls"] == len(own)
        assert row["input_tokens"] == sum(c["input_tokens"] for c in own)
        assert row["estimated"] == any(c["estimated"] for c in own)
        costs = [c["cost_usd"] for c in own]
        assert row["cost_usd"] == (None if None in costs else sum(costs))
        assert "turn" not in row


def test_usage_given_is_not_changed():
    usage = add_usage({}, [[call()]])
    before = copy.deepcopy(usage)
    add_usage(usage, [[call()]])
    assert usage == before


def test_an_utterance_travels_in_a_message():
    said: Any = {"turn": 1, "speaker": "Eva", "text": "Tea!", "addressees": []}
    message = as_message(said, "id-1")
    assert (message.name, message.content, message.id) == ("Eva", "Tea!", "id-1")
    assert utterances([HumanMessage("topic"), message]) == [said]
