"""Interventions: whatever comes is a valid one, or is refused in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.errors import InputError
from persimchat.state.intervention import LONGEST_WORDS, Say, Stop, intervention, words
from persimchat.state.person_answer import person_answer

PRESENT = ["Eva Horáková", "Bo", "李雷"]
PEOPLE = ["Bo"]

text = st.text(max_size=40) | st.sampled_from(
    ["", "   ", "\x1b[31mred", "\u202e\u202e", "\u200d", "\u0301", "a\x00b", "x" * 100_000, "\ud800", "Bo", "{{ x }}"]
)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
KEYS = ["do", "text", "speaker", "heard_by", "topic", "agent", "raised", "avoid"]
nearly = st.dictionaries(st.sampled_from(KEYS) | text, json_value, max_size=4)
known = st.builds(
    lambda do, rest: {**rest, "do": do}, st.sampled_from(["say", "topic", "hand", "floor", "stop"]), nearly
)


def plain(shown: str) -> bool:
    return shown.isprintable() and len(shown) < 400


@given(json_value | nearly | known)
def test_any_value_is_valid_or_refused_in_one_line(value: Any):
    try:
        made = intervention(value, PRESENT, PEOPLE)
    except InputError as error:
        assert plain(str(error)), str(error)
        assert error.where == "intervention"
        assert error.remedy
        return
    assert intervention(made.model_dump(), PRESENT, PEOPLE) == made, "it stands in a checkpoint as it was"
    if isinstance(made, Say):
        assert made.text.strip() == made.text != ""
        assert len(made.text) <= LONGEST_WORDS
        assert {made.speaker, *(made.heard_by or [])} <= {"", *PRESENT}
        assert made.heard_by is None or made.heard_by


@given(json_value)
def test_words_are_words_or_refused(value: Any):
    try:
        said = words(value)
    except InputError as error:
        assert plain(str(error))
        return
    assert isinstance(value, str)
    assert said
    assert words(said) == said
    assert not any(c in said for c in "\x1b\x00\u202e\r")


def test_words_are_cleaned_and_keep_their_lines():
    assert words("  \x1b]0;title\x07Hello\r\n\u202eworld\t! ") == "Hello\nworld !"
    assert words("שלום") == "שלום"
    assert len(words("x" * LONGEST_WORDS)) == LONGEST_WORDS


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("", "there are no words in it"),
        (" \t\n", "there are no words in it"),
        ("\u202e\u200f\u2066", "there are no words in it"),
        ("\u200d\u0301", "there are no words in it"),
        ("x" * 100_000, "100,000 characters are too many: at most 8,000"),
        (b"bytes", "it is not text"),
        (None, "it is not text"),
    ],
)
def test_what_is_wrong_with_words(value: Any, what: str):
    with pytest.raises(InputError) as caught:
        words(value)
    assert caught.value.what == what


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ({"do": "say", "text": "Hi", "speaker": "Eva"}, ["'Eva' does not take part", "Eva Horáková"]),
        ({"do": "say", "text": "Hi", "speaker": "x" * 100_000}, ["xxx…", "does not take part"]),
        ({"do": "say", "text": "Hi", "heard_by": []}, ["heard_by", "at least 1 item"]),
        ({"do": "say", "text": "Hi", "heard_by": [" "]}, ["heard_by", "a name is missing"]),
        ({"do": "say", "text": "Hi", "heard_by": ["Bob"]}, ["'Bob' does not take part"]),
        ({"do": "say", "text": "Hi", "heard_by": ["Bo"], "speaker": "Bo"}, ["nobody but the speaker"]),
        ({"do": "say"}, ["field required"]),
        ({"do": "say", "text": "Hi", "\x1b[2J": 1}, ["extra inputs"]),
        ({"do": "\x1b[2J" + "x" * 100_000}, ["no such intervention"]),
        ({}, ["no such intervention"]),
        ({"do": "topic", "topic": "\u202e"}, ["topic: there are no words in it"]),
        ({"do": "topic", "topic": "x" * 100_000}, ["topic: 100,000 characters", "at most 8,000"]),
        (
            {"do": "hand", "agent": "李雷"},
            ["李雷 is an agent, and only people raise a hand", "give the agent the floor"],
        ),
        ({"do": "floor", "agent": "Moderator"}, ["'Moderator' does not take part"]),
    ],
)
def test_mistakes(value: Any, parts: list[str]):
    with pytest.raises(InputError) as caught:
        intervention(value, PRESENT, PEOPLE)
    message = str(caught.value)
    assert plain(message), message
    for part in parts:
        assert part in message


def test_a_whisper_names_everybody_once():
    made = intervention({"do": "say", "text": "Hi", "heard_by": ["Bo", "李雷", "Bo"]}, PRESENT)
    assert isinstance(made, Say)
    assert made.heard_by == ["Bo", "李雷"]
    assert intervention(Stop(), PRESENT) == Stop()


# What people answer when they are asked


SEATED = ["Eva Horáková", "Bo"]
CANDIDATES = ["Eva Horáková", "Bo", "Bo Vik", "2"]
STORY: dict[str, Any] = {"candidates": CANDIDATES}

any_text = text | st.sampled_from(["²", "٣", "9" * 5000, " 7 ", "11", "-1", "5.0"])
ANSWERED = ["text", "heard_by", "pass", "passes", "need_to_talk", "choice"]
nearly_an_answer = st.dictionaries(st.sampled_from(ANSWERED) | text, json_value | any_text, max_size=4)


@given(
    json_value | any_text | nearly_an_answer | st.sampled_from(["eva", "1", 2, "Bo"]),
    st.sampled_from(["utterance", "need_to_talk", "choice", "ballot"]),
    st.booleans(),
)
def test_any_value_is_an_answer_or_refused_in_one_line(value: Any, what: str, in_story: bool):
    story = STORY if in_story or what in ("choice", "ballot") else None
    try:
        answer = person_answer(value, what, SEATED, story)
    except InputError as error:
        message = str(error)
        assert message.isprintable() and len(message) < 400, message
        assert error.where and error.remedy
        return
    assert person_answer(answer, what, SEATED, story) == answer, "a checked answer is one"
    if answer.get("passes"):
        assert answer == {"passes": True}
    elif what in ("choice", "ballot"):
        assert answer["choice"] in CANDIDATES
    elif what == "need_to_talk":
        assert 0 <= answer["need_to_talk"] <= 10
    else:
        assert answer["text"].strip()
        assert set(answer.get("heard_by", [])) <= set(SEATED)


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
    assert person_answer(value, what, SEATED) == answer


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
        person_answer(value, what, SEATED)


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
        assert person_answer(value, what, SEATED, STORY) == {"choice": chosen}


@pytest.mark.parametrize("value", [0, 5, -1, 10**60, "9", "Zoe", "", None, True, 1.0, [], {}, {"choice": None}])
def test_no_candidate(value: Any):
    with pytest.raises(InputError, match="cannot be chosen now") as found:
        person_answer(value, "choice", SEATED, STORY)
    assert "1 Eva Horáková, 2 Bo, 3 Bo Vik" in found.value.remedy


def test_what_a_story_refuses():
    with pytest.raises(InputError, match="nobody whispers"):
        person_answer({"text": "Psst.", "heard_by": ["Bo"]}, "utterance", SEATED, STORY)
    with pytest.raises(InputError, match="no field 'text'"):
        person_answer({"choice": "Eva", "text": "Why not."}, "ballot", SEATED, STORY)
    with pytest.raises(InputError, match="may mean several"):
        person_answer("Vik", "ballot", SEATED, {"candidates": ["Ann Vik", "Bo Vik"]})
    assert person_answer({"text": "Yes."}, "utterance", SEATED, STORY) == {"text": "Yes."}
    assert person_answer({"pass": True}, "ballot", SEATED, STORY) == {"passes": True}
