"""The messages of a game: both spellings, every field, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from offenders import check_each

from persimchat.state.companion.game_messages import (
    MESSAGES,
    MOST_BYTES,
    id_of,
    read_message,
    read_object,
)
from persimchat.state.errors import InputError

HUT = {"world": "Lake", "sector": "Ferry stage", "arena": "ticket hut"}
STOVE = {
    "action_event_subject": "Lake:Ferry stage:ticket hut:stove",
    "action_event_predicate": "is",
    "action_event_object": "smoking",
    "action_event_description": "smoking badly",
}
DATA: dict[str, Any] = {
    "STARTMESSAGE": {"fork_sim_code": None, "sim_code": "petr-monday"},
    "PROMPTMESSAGE": {"persona_name": "Oda", "user_name": "Petr", "message": "Is the noon boat late again?"},
    "MOVEMESSAGE": [{"name": "Oda", "curr_location": HUT, "events": [STOVE]}],
    "UPDATE_META_MESSAGE": {"curr_time": "March 03, 2025, 11:40:00"},
    "UPDATE_PERSONA_MESSAGE": {"name": "Oda", "scratch_data": {"age": 58, "living_area": HUT, "relevance_w": 2}},
    "UPDATE_USER_MESSAGE": {"old_name": "Player", "name": "Petr"},
    "ADD_PERSONA_MESSAGE": {
        "name": "Tomasz",
        "scratch_data": {"curr_location": HUT, "age": 24, "innate": "chatty, impatient", "recency_decay": 0.995},
        "spatial_data": {"Lake": {"Ferry stage": {"tea stall": ["kettle", "bench"]}}},
    },
}
IN_CODE = {
    "STARTMESSAGE": "StartMessage",
    "PROMPTMESSAGE": "PromptMessage",
    "MOVEMESSAGE": "MoveMessage",
    "UPDATE_META_MESSAGE": "UpdateMetaMessage",
    "UPDATE_PERSONA_MESSAGE": "UpdatePersonaMessage",
    "UPDATE_USER_MESSAGE": "UpdateUserMessage",
    "ADD_PERSONA_MESSAGE": "AddPersonaMessage",
}
"""The paper's spelling of a type, and its code's."""


def read(kind: str, data: Any, **more: Any) -> Any:
    return read_message(read_object(json.dumps({"type": kind, "data": data, **more}).encode()))


def test_every_message_is_read_in_both_spellings() -> None:
    assert list(DATA) == list(MESSAGES) == list(IN_CODE)

    def _same(kind: str) -> None:
        paper, code = read(kind, DATA[kind]), read(IN_CODE[kind], DATA[kind])
        assert paper == code
        assert type(paper) is MESSAGES[kind]

    check_each(DATA, _same)


def test_a_location_has_either_name_and_needs_no_arena() -> None:
    sector = {"world": "Lake", "sector": "Ferry stage"}
    paper, code = (read("MoveMessage", [{"name": "Oda", key: sector}]) for key in ("curr_location", "curr_loc"))
    assert paper == code
    assert paper.data[0].curr_location is not None
    assert paper.data[0].curr_location.arena is None


def test_an_event_without_a_predicate_is_read_as_the_code_sends_it() -> None:
    bare = {"action_event_subject": "Florian", "action_event_predicate": None, "action_event_object": None}
    assert read("MoveMessage", [{"name": "Oda", "events": [bare]}]).data[0].events[0].action_event_predicate == ""


@pytest.mark.parametrize("text", ["March 03, 2025, 11:40:00", "2025-03-03 11:40", "2025-03-03T11:40:00"])
def test_a_time_has_either_form(text: str) -> None:
    message = read("UpdateMetaMessage", {"curr_time": text})
    assert message.data.curr_time == "2025-03-03T11:40:00"


def test_all_of_scratch_data_is_optional_and_unknown_fields_are_passed_over() -> None:
    message = read("AddPersonaMessage", {"name": "Tomasz", "scratch_data": {"vision_r": 8}, "look": "tall"})
    assert set(message.data.scratch_data.model_dump().values()) == {None}


def test_texts_are_made_harmless() -> None:
    message = read("PromptMessage", {"persona_name": "Oda\x1b[2J\n", "user_name": "Petr", "message": "a\x00b\u202e\nc"})
    assert message.data.persona_name == "Oda"
    assert message.data.message == "ab\nc"


REFUSED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "JSON"),
    "no UTF-8": (b'{"type": "\xff"}', "UTF-8"),
    "no JSON": (b"hello", "JSON"),
    "no object": (b"[]", "object"),
    "a key twice": (b'{"type": "a", "type": "b"}', "'type' occurs twice"),
    "NaN": (b'{"type": NaN}', "NaN"),
    "a long number": (b'{"type": ' + b"9" * 5_000 + b"}", "number"),
    "deep": (b'{"data": ' + b"[" * 8 + b"]" * 8 + b"}", "deep"),
    "very deep": (b"[" * 16_000, "deep"),
    "large": (b" " * (MOST_BYTES + 1), "bytes"),
    "no type": (b"{}", "type is missing"),
    "a misspelt type": (b'{"type": "PromptMesage"}', "Did you mean 'PROMPTMESSAGE'?"),
    "a number as type": (b'{"type": 7}', "unknown type 7"),
    "half a letter": (b'{"type": "\\ud800"}', "unknown type"),
}
WRONG: dict[str, tuple[str, Any, str]] = {
    "no data": ("StartMessage", None, "data"),
    "a path": ("StartMessage", {"sim_code": "../elsewhere"}, "data.sim_code"),
    "no words": ("PromptMessage", {"persona_name": "Oda", "user_name": "Petr"}, "data.message"),
    "unseen words": ("PromptMessage", {**DATA["PROMPTMESSAGE"], "message": " \u200b"}, "data.message"),
    "long words": ("PromptMessage", {**DATA["PROMPTMESSAGE"], "message": "a" * 8_001}, "data.message"),
    "a number as name": ("PromptMessage", {**DATA["PROMPTMESSAGE"], "user_name": 7}, "data.user_name"),
    "a path in a location": ("MoveMessage", [{"name": "Oda", "curr_loc": {**HUT, "arena": "a/b"}}], "arena"),
    "nobody moved": ("MoveMessage", [], "data"),
    "no clock": ("UpdateMetaMessage", {}, "data"),
    "no time": ("UpdateMetaMessage", {"curr_time": "soon"}, "data.curr_time"),
    "no age": ("UpdatePersonaMessage", {"name": "Oda", "scratch_data": {"age": "old"}}, "data.scratch_data.age"),
    "endless": ("UpdatePersonaMessage", {"name": "Oda", "scratch_data": {"recency_w": float("1e308") * 10}}, "recency"),
    "growing": ("UpdatePersonaMessage", {"name": "Oda", "scratch_data": {"recency_decay": 2}}, "recency_decay"),
    "no new name": ("UpdateUserMessage", {"old_name": "Petr"}, "data.name"),
    "a number as object": (
        "AddPersonaMessage",
        {"name": "A", "spatial_data": {"L": {"S": {"A": [7]}}}},
        "spatial_data",
    ),
}


def test_what_is_no_message_is_refused_by_what_and_where(refused: Refused) -> None:
    def check(case: str) -> None:
        datagram, word = REFUSED[case]
        refused(lambda: read_message(read_object(datagram)), word)

    check_each(REFUSED, check)


def test_a_wrong_field_is_refused_by_name(refused: Refused) -> None:
    def _case(case: str) -> None:
        kind, data, field = WRONG[case]
        body = json.dumps({"type": kind, "data": data}).replace("Infinity", "1e999")
        refused(lambda: read_message(read_object(body.encode())), field)

    check_each(WRONG, _case)


def test_an_id_is_text_of_at_most_64_characters() -> None:
    assert read("PromptMessage", DATA["PROMPTMESSAGE"], id="a" * 64).id == "a" * 64
    for wrong in (7, "a" * 65):
        with pytest.raises(InputError, match="field id"):
            read("PromptMessage", DATA["PROMPTMESSAGE"], id=wrong)
        assert id_of({"id": wrong}) == ""


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)


@given(st.sampled_from(sorted(DATA)), _VALUES)
def test_whatever_data_holds_it_is_read_or_refused(kind: str, data: Any) -> None:
    try:
        read(kind, data)
    except InputError as error:
        assert error.remedy


@given(st.binary(max_size=200))
def test_whatever_bytes_come_they_are_read_or_refused(datagram: bytes) -> None:
    try:
        read_message(read_object(datagram))
    except InputError as error:
        assert error.remedy
