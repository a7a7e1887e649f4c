"""What people answer when they are asked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.errors import InputError
from persimchat.state.person_answer import person_answer

PRESENT = ["Eva Horáková", "Bo"]

text = st.text(max_size=40) | st.sampled_from(
    ["", "  ", "\x1b[31mred", "\u202e", "²", "٣", "9" * 5000, "x" * 100_000, "\ud800", " 7 ", "11", "-1", "5.0"]
)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
KEYS = ["text", "heard_by", "pass", "passes", "need_to_talk"]
nearly = st.dictionaries(st.sampled_from(KEYS) | text, json_value, max_size=4)


@given(json_value | nearly, st.sampled_from(["utterance", "need_to_talk"]))
def test_any_value_is_an_answer_or_refused_in_one_line(value: Any, what: str):
    try:
        answer = person_answer(value, what, PRESENT)
    except InputError as error:
        message = str(error)
        assert message.isprintable() and len(message) < 400, message
        assert error.where and error.remedy
        return
    assert person_answer(answer, what, PRESENT) == answer, "a checked answer is one"
    if answer.get("passes"):
        assert answer == {"passes": True}
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
