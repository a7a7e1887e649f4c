"""What people answer when they are asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.errors import InputError
from persimchat.state.person_answer import person_answer

PRESENT = ["Eva Horáková", "Bo"]
CANDIDATES = ["Eva Horáková", "Bo", "Bo Vik", "2"]
STORY: dict[str, Any] = {"candidates": CANDIDATES}

text = st.text(max_size=40) | st.sampled_from(
    ["", "  ", "\x1b[31mred", "\u202e", "²", "٣", "9" * 5000, "x" * 100_000, "\ud800", " 7 ", "11", "-1", "5.0"]
)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
KEYS = ["text", "heard_by", "pass", "passes", "need_to_talk", "choice"]
nearly = st.dictionaries(st.sampled_from(KEYS) | text, json_value, max_size=4)


@given(
    json_value | nearly | st.sampled_from(["eva", "1", 2, "Bo"]),
    st.sampled_from(["utterance", "need_to_talk", "choice", "ballot"]),
    st.booleans(),
)
def test_any_value_is_an_answer_or_refused_in_one_line(value: Any, what: str, in_story: bool):
    story = STORY if in_story or what in ("choice", "ballot") else None
    try:
        answer = person_answer(value, what, PRESENT, story)
    except InputError as error:
        message = str(error)
        assert message.isprintable() and len(message) < 400, message
        assert error.where and error.remedy
        return
    assert person_answer(answer, what, PRESENT, story) == answer, "a checked answer is one"
    if answer.get("passes"):
        assert answer == {"passes": True}
    elif what in ("choice", "ballot"):
        assert answer["choice"] in CANDIDATES
    elif what == "need_to_talk":
        assert 0 <= answer["need_to_talk"] <= 10
    else:
        assert answer["text"].strip()
        assert set(answer.get("heard_by", [])) <= set(PRESENT)


@pytest.mark.parametrize(
    ("value", "what", "answer"),
    [
        ("  Yes.\x1b[31m ", "utterance", {"text": "Yes."}),
        ({"text": "Yes.", "heard_by": ["Bo", "Bo"]}, "utterance", {"text": "Yes.", "heard_by": ["Bo"]}),
        ({"text": "Yes.", "heard_by": None}, "utterance", {"text": "Yes."}),
        ({"pass": True}, "utterance", {"passes": True}),
        ({"pass": True}, "need_to_talk", {"passes": True}),
        (" 7 ", "need_to_talk", {"need_to_talk": 7}),
        (0, "need_to_talk", {"need_to_talk": 0}),
        ({"need_to_talk": "10"}, "need_to_talk", {"need_to_talk": 10}),
        ("7", "utterance", {"text": "7"}),
    ],
)
def test_answers(value: Any, what: str, answer: dict[str, Any]):
    assert person_answer(value, what, PRESENT) == answer


@pytest.mark.parametrize(
    ("value", "what", "words"),
    [
        ("", "utterance", "there are no words in it"),
        ("   \u202e", "utterance", "there are no words in it"),
        ("x" * 100_000, "utterance", "100,000 characters"),
        ({"text": "Yes.", "to": "Bo"}, "utterance", "an answer has no field 'to'"),
        ({"text": "Yes.", "x" * 100_000: 1}, "utterance", "xxx…"),
        ({"text": "Yes.", "heard_by": "Bo"}, "utterance", "a list of one or more names"),
        ({"text": "Yes.", "heard_by": []}, "utterance", "a list of one or more names"),
        ({"text": "Yes.", "heard_by": ["Eva"]}, "utterance", "'Eva' does not take part"),
        ({"heard_by": ["Bo"]}, "utterance", "it is not text"),
        ({"pass": "yes"}, "utterance", "no field 'pass'"),
        ("²", "need_to_talk", "from 0 to 10"),
        ("9" * 5000, "need_to_talk", "from 0 to 10"),
        (True, "need_to_talk", "from 0 to 10"),
        (7.0, "need_to_talk", "from 0 to 10"),
        (11, "need_to_talk", "from 0 to 10"),
        (None, "need_to_talk", "from 0 to 10"),
    ],
)
def test_refused(value: Any, what: str, words: str):
    with pytest.raises(InputError, match=words):
        person_answer(value, what, PRESENT)


@pytest.mark.parametrize(
    ("value", "chosen"),
    [
        ("Eva", "Eva Horáková"),
        (" eva horakova ", "Eva Horáková"),
        ({"choice": "Eva"}, "Eva Horáková"),
        ("1", "Eva Horáková"),
        ({"choice": 1}, "Eva Horáková"),
        (3, "Bo Vik"),
        ("Bo", "Bo"),
        ("2", "2"),
        (2, "Bo"),
    ],
)
def test_a_candidate_by_name_or_number(value: Any, chosen: str):
    for what in ("choice", "ballot"):
        assert person_answer(value, what, PRESENT, STORY) == {"choice": chosen}


@pytest.mark.parametrize("value", [0, 5, -1, 10**60, "9", "Zoe", "", None, True, 1.0, [], {}, {"choice": None}])
def test_no_candidate(value: Any):
    with pytest.raises(InputError, match="cannot be chosen now") as found:
        person_answer(value, "choice", PRESENT, STORY)
    assert "1 Eva Horáková, 2 Bo, 3 Bo Vik" in found.value.remedy


def test_what_a_story_refuses():
    with pytest.raises(InputError, match="nobody whispers"):
        person_answer({"text": "Psst.", "heard_by": ["Bo"]}, "utterance", PRESENT, STORY)
    with pytest.raises(InputError, match="no field 'text'"):
        person_answer({"choice": "Eva", "text": "Why not."}, "ballot", PRESENT, STORY)
    with pytest.raises(InputError, match="may mean several"):
        person_answer("Vik", "ballot", PRESENT, {"candidates": ["Ann Vik", "Bo Vik"]})
    assert person_answer({"text": "Yes."}, "utterance", PRESENT, STORY) == {"text": "Yes."}
    assert person_answer({"pass": True}, "ballot", PRESENT, STORY) == {"passes": True}
