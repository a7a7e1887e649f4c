"""The conversation's reducers."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from persimchat.state.conversation import append_messages, as_message, latest_usage, merge_minds, utterances
from persimchat.state.visibility import heard_by, is_heard, is_public, last_heard

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


ROWS = st.dictionaries(st.sampled_from(["planning|Eva|m", "planning|Bo|m"]), st.integers(0, 9))


def rows(counts: dict[str, int]) -> dict[str, dict[str, Any]]:
    return {key: {"agent": key.split("|")[1], "calls": calls} for key, calls in counts.items()}


@given(ROWS, st.lists(ROWS))
def test_of_what_was_used_the_row_that_counts_most_stays(first: dict[str, int], later: list[dict[str, int]]) -> None:
    usage = latest_usage(rows(first), [rows(counts) for counts in later])
    assert usage == latest_usage(latest_usage({}, map(rows, reversed(later))), [rows(first)]), "in any order"
    every = [first, *later]
    assert {key: row["calls"] for key, row in usage.items()} == {
        key: max(counts[key] for counts in every if key in counts) for key in set().union(*every)
    }


def test_what_an_earlier_version_wrote_of_usage_says_nothing() -> None:
    assert latest_usage(rows({"a|b|c": 2}), [[{"calls": 1}], [], {}]) == rows({"a|b|c": 2})


def test_an_utterance_travels_in_a_message():
    said: Any = {"turn": 1, "speaker": "Eva", "text": "Tea!", "addressees": []}
    message = as_message(said, "id-1")
    assert (message.name, message.content, message.id) == ("Eva", "Tea!", "id-1")
    assert utterances([HumanMessage("topic"), message]) == [said]


# Who hears what


NAMES = ["Eva", "Bo", "Cleo", "Eva Nová"]
names = st.sampled_from(NAMES)
utterance = st.builds(
    lambda speaker, hearers, silent: {"speaker": speaker} | ({} if silent else {"heard_by": hearers}),
    names,
    st.none() | st.lists(names, max_size=3),
    st.booleans(),
)
said = st.lists(utterance, max_size=12)


@given(utterance)
def test_a_whisper_reaches_its_hearers_its_speaker_and_nobody_else(one: dict[str, Any]):
    hearers = {name for name in NAMES if is_heard(one, name)}
    if is_public(one):
        assert hearers == set(NAMES)
        assert is_heard(one, "")
    else:
        assert hearers == {*one["heard_by"], one["speaker"]}
        assert not is_heard(one, ""), "onlookers hear no whisper"


def test_part_of_a_name_hears_nothing():
    assert not is_heard({"speaker": "Bo", "heard_by": ["Eva Nová"]}, "Eva")
    assert not is_heard({"speaker": "Bo", "heard_by": ["Eva"]}, "Eva Nová")


@given(said, names | st.just(""), st.integers(0, 15))
def test_the_last_are_the_end_of_all(utterances: list[dict[str, Any]], name: str, count: int):
    everything = heard_by(utterances, name)
    assert all(is_heard(one, name) for one in everything)
    assert len(everything) == sum(is_heard(one, name) for one in utterances)
    assert last_heard(reversed(utterances), name, count) == (everything[-count:] if count else [])
