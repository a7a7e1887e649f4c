"""What each module of a mind makes of an answer that is of no use: things stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback.scripted import ANSWERS

from persimchat.nodes.action import choose_action
from persimchat.nodes.emotion import feel
from persimchat.nodes.focal_points import wonder
from persimchat.nodes.need_to_talk import judge_need_to_talk
from persimchat.nodes.openness import judge_openness
from persimchat.nodes.perception import as_heard, perceive
from persimchat.nodes.planning import plan
from persimchat.nodes.reflection import reflect
from persimchat.state.emotion import EmotionalState
from persimchat.state.judgement import FocalPoints

CALM = EmotionalState().model_dump()
FIXED = [
    "What do I know and think of this: Tea?",
    "What do I know about Bo Říha?",
    "What do I want, and what matters to me?",
]


@pytest.mark.parametrize(
    ("node", "before", "left"),
    [
        (feel, {}, {"emotion": CALM}),
        (feel, {"emotion": {**CALM, "anger": 7}}, {"emotion": {**CALM, "anger": 7}}),
        (judge_need_to_talk, {}, {"need_to_talk": 5, "need_reasoning": ""}),
        (judge_need_to_talk, {"need_to_talk": 8, "emotion": CALM}, {"need_to_talk": 8, "need_reasoning": ""}),
        (judge_openness, {}, {}),
        (choose_action, {}, {"action": "plan"}),
        (choose_action, {"action": "reflect"}, {"action": "reflect"}),
        (plan, {"plan": ANSWERS["planning"], "emotion": CALM}, {"arriving": []}),
        (reflect, {"emotion": CALM}, {"arriving": [], "insights": []}),
        (wonder, {}, {"focal_points": FIXED}),
        (
            perceive,
            {},
            {"percept": {"theme": "Bo Říha: Tea warms.", "keywords": ["warms"], "importance": 5}},
        ),
    ],
)
async def test_things_stay_as_they_were(
    alone: Callable[..., Any], node: Any, before: dict[str, Any], left: dict[str, Any]
) -> None:
    update = await alone(node, None, **before)
    assert {key: value for key, value in update.items() if key != "outcomes"} == left


async def test_fixed_questions_fill_up(alone: Callable[..., Any]) -> None:
    own = FocalPoints.model_construct(questions=["Who likes tea?"])
    assert (await alone(wonder, own))["focal_points"] == ["Who likes tea?", *FIXED[:2]]


@given(st.text(min_size=1))
def test_whatever_was_said_is_a_percept(text: str) -> None:
    percept = as_heard({"speaker": "Bo", "text": text})  # type: ignore[typeddict-item]
    assert 4 <= len(percept["theme"]) <= 4 + 200
    assert "\n" not in percept["theme"]
    assert len(percept["keywords"]) <= 5
    assert all(word in " ".join(text.split()) for word in percept["keywords"])


def test_a_percept_without_a_model_is_a_sentence_and_its_longest_words() -> None:
    said = "I have never liked the bitter, bitter coffee of my grandmother's kitchen! But tea?"
    percept = as_heard({"speaker": "Bo", "text": said})  # type: ignore[typeddict-item]
    assert percept["theme"] == f"Bo: {said.split('!')[0]}!"
    assert percept["keywords"] == ["never", "bitter", "coffee", "grandmother", "kitchen"]
