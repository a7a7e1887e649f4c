"""What models may answer: ranges, lengths, and the reason before the verdict."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from persimchat.state import judgement as j
from persimchat.state.emotion import EMOTIONS

INSIGHT = {"theme": "t", "keywords": ["k"], "evidence": [1], "importance": 5}
GOOD: dict[type[j.Judgement], dict[str, Any]] = {
    j.Percept: {"theme": "t", "keywords": ["k"], "importance": 5},
    j.FocalPoints: {"questions": ["a", "b", "c"]},
    j.Consolidation: {"reasoning": "r", "keep": True},
    j.NeedToTalk: {"reasoning": "r", "need_to_talk": 5},
    j.Action: {"reasoning": "r", "action": "plan"},
    j.Feeling: {"reasoning": "r", **dict.fromkeys(EMOTIONS, 5)},
    j.Reflection: {"insights": [INSIGHT] * 5},
    j.Plan: {
        "progress": "p",
        "identity": "i",
        "react": True,
        "reaction": "r",
        "goals": [],
        "theme": "t",
        "keywords": ["k"],
        "importance": 5,
    },
}


@pytest.mark.parametrize("schema", GOOD, ids=lambda s: s.__name__)
def test_good_answers_pass_and_additions_are_ignored(schema: type[j.Judgement]):
    answer = schema.model_validate({**GOOD[schema], "thoughts": "more"})
    assert answer.model_dump() == GOOD[schema]


@pytest.mark.parametrize(
    ("schema", "field"),
    [(s, f) for s, good in GOOD.items() for f in good if f != "goals"],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_nothing_is_filled_in_silently(schema: type[j.Judgement], field: str):
    for given in (
        {k: v for k, v in GOOD[schema].items() if k != field},
        {**GOOD[schema], field: None},
        {**GOOD[schema], field: ""},
    ):
        with pytest.raises(ValidationError):
            schema.model_validate(given)


@pytest.mark.parametrize(
    ("schema", "field"),
    [(s, f) for s, good in GOOD.items() for f, value in good.items() if value == 5 and value is not True],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_scores_are_whole_numbers_from_0_to_10(schema: type[j.Judgement], field: str):
    for value in (0, 10):
        assert getattr(schema.model_validate({**GOOD[schema], field: value}), field) == value
    for value in (-1, 11, 5.5, "high"):
        with pytest.raises(ValidationError):
            schema.model_validate({**GOOD[schema], field: value})


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        (j.FocalPoints, {"questions": ["a", "b"]}),
        (j.FocalPoints, {"questions": ["a", "b", "c", "d"]}),
        (j.FocalPoints, {"questions": ["a", " ", "c"]}),
        (j.Percept, {"keywords": []}),
        (j.Percept, {"keywords": ["k"] * 9}),
        (j.Action, {"action": "sleep"}),
        (j.Reflection, {"insights": [INSIGHT] * 4}),
        (j.Reflection, {"insights": [INSIGHT] * 6}),
        (j.Reflection, {"insights": [*[INSIGHT] * 4, {**INSIGHT, "evidence": []}]}),
        (j.Reflection, {"insights": [*[INSIGHT] * 4, {**INSIGHT, "evidence": [0]}]}),
        (j.Plan, {"goals": ["g"] * 6}),
    ],
)
def test_out_of_shape(schema: type[j.Judgement], wrong: dict[str, Any]):
    with pytest.raises(ValidationError):
        schema.model_validate({**GOOD[schema], **wrong})


def test_texts_that_are_too_long_are_cut_and_not_wrong():
    percept = j.Percept.model_validate({**GOOD[j.Percept], "theme": "word " * 100, "keywords": ["x" * 81]})
    assert len(percept.theme) <= j.LONGEST_SENTENCE
    assert percept.theme.endswith("word…")
    assert percept.keywords == ["x" * 79 + "…"]
    assert j.Action.model_validate({**GOOD[j.Action], "reasoning": f"  {'x' * 200}  "}).reasoning == "x" * 200


def test_the_reason_comes_before_the_verdict():
    for schema, good in GOOD.items():
        if "reasoning" in good:
            assert next(iter(schema.model_fields)) == "reasoning"


def test_a_feeling_as_a_state():
    feeling = j.Feeling.model_validate({**GOOD[j.Feeling], "anger": 7})
    assert feeling.state().vector() == [5, 5, 7, 5, 5, 5]
