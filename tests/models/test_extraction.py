from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.models.answers import find_object, whole_fields
from persimchat.models.spoken import without_thinking

FIELDS = ("reasoning", "need_to_talk")
RIGHT = {"reasoning": "because", "need_to_talk": 7}


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "because", "need_to_talk": 7}',
        '```json\n{"reasoning": "because", "need_to_talk": 7}\n```',
        'Sure! Here it is:\n```\n{"reasoning": "because", "need_to_talk": 7}\n```\nAnything else?',
        '{"reasoning": "because", "need_to_talk": 7,}',
        "{'reasoning': 'because', 'need_to_talk': 7}",
        '{"reasoning": "because", // why\n "need_to_talk": 7}',
        '{reasoning: "because", need_to_talk: 7}',
        '<think>{"reasoning": "draft", "need_to_talk": 1}</think>{"reasoning": "because", "need_to_talk": 7}',
        'they want {"need_to_talk": 2}? no.</think>\n{"reasoning": "because", "need_to_talk": 7}',
        '{"answer": {"reasoning": "because", "need_to_talk": 7}}',
        '{"name": "NeedToTalk", "arguments": {"reasoning": "because", "need_to_talk": 7}}',
        '[{"reasoning": "because", "need_to_talk": 7}]',
        '{"type": "object", "properties": {}} {"reasoning": "because", "need_to_talk": 7}',
        '{"reasoning": "draft", "need_to_talk": 1}\nNo:\n{"reasoning": "because", "need_to_talk": 7}',
        'a {smile} and {"reasoning": "because", "need_to_talk": 7}',
    ],
)
def test_the_answer_is_found_in_what_is_around_it(text: str) -> None:
    assert find_object(text, FIELDS) == RIGHT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Seven, I think.",
        "{}",
        "[]",
        "null",
        '{"other": 1}',
        '{"reasoning": "because", "need_to_talk": 1',
        "}{",
        "{{{{",
    ],
)
def test_no_answer_is_made_up(text: str) -> None:
    assert find_object(text, FIELDS) is None


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ('{"reasoning": "because", "need_to_talk": 7', {"reasoning": "because"}),
        ('{"reasoning": "because", "need_to_talk": 7.', {"reasoning": "because"}),
        ('{"reasoning": "because", "need_to_talk": 7\n', RIGHT),
        ('Well: {\n "need_to_talk" : 7 ,\n "reasoning": "bec', {"need_to_talk": 7}),
        ('{"a": {"b": 1}, "c": {"d": 2', {"a": {"b": 1}}),
        ('{"a": [1, 2], "c": [3, ', {"a": [1, 2]}),
        ('{"a": ' + "[" * 30 + "]" * 30 + ', "b": 1, ', None),
        ('{"a": ' + "[" * 100_000, None),
        ('{"a": ' + "9" * 5_000 + ", ", None),
        ('{"reas', None),
        ("Seven, I th", None),
        ("", None),
    ],
)
def test_what_is_whole_of_an_answer_that_was_cut_off(text: str, whole: dict[str, object] | None) -> None:
    assert whole_fields(text) == whole


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>hm</think>Hello", "Hello"),
        ("<THINKING>a\nb</THINKING> Hello", "Hello"),
        ("hm, hm</think>Hello", "Hello"),
        ("<think>never ends", ""),
        ("<reasoning>x</reasoning>Hello <think>more</think>there", "Hello there"),
        ("I think <b>so</b>", "I think <b>so</b>"),
    ],
)
def test_thinking_is_left_out(text: str, left: str) -> None:
    assert without_thinking(text) == left


SCALARS = st.none() | st.booleans() | st.integers(-100, 100) | st.text(max_size=20)
OBJECTS = st.fixed_dictionaries({"reasoning": st.text(max_size=40), "need_to_talk": SCALARS})
AROUND = st.text(alphabet=st.characters(blacklist_characters="{}[]<>", blacklist_categories=["Cs"]), max_size=40)


@given(OBJECTS.filter(lambda o: "<" not in o["reasoning"] and "<" not in str(o["need_to_talk"])), AROUND, AROUND)
def test_any_object_is_found_whole_between_any_words(value: dict[str, object], before: str, after: str) -> None:
    assert find_object(f"{before}{json.dumps(value)}{after}", FIELDS) == value


@given(st.text(alphabet=st.sampled_from("{}[]\",:'`\\ \n<>/abthinkreasoning0175_"), max_size=80))
def test_garbage_never_breaks_the_search(text: str) -> None:
    found = find_object(text, FIELDS)
    assert found is None or set(found) & set(FIELDS)
