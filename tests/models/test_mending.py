"""Answers that nearly fit: what is put right, and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.models.mending import mended, usable_parts
from persimchat.state.minds.judgement import (
    Consolidation,
    Feeling,
    FocalPoints,
    Judgement,
    NeedToTalk,
    Percept,
    Plan,
    Reflection,
)

INSIGHT: dict[str, Any] = {"theme": "Tea", "keywords": ["tea"], "evidence": [1], "importance": 3}


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (12, 10),
        (-3, 0),
        (7.4, 7),
        (6.5, 7),
        (10.6, 10),
        ("7", 7),
        ("7/10", 7),
        (" 12 / 10 ", 10),
        ("-2", 0),
        ("7.6", 8),
    ],
)
def test_a_number_is_moved_into_its_range(given: Any, level: int) -> None:
    found = mended({"reasoning": "r", "need_to_talk": given}, NeedToTalk)
    assert found is not None
    assert found.need_to_talk == level


@pytest.mark.parametrize(
    "given", ["high", "", "7 or 8", "seven", "7/5", True, None, [7], {"level": 7}, float("nan"), float("inf")]
)
def test_what_is_no_number_is_not_made_one(given: Any) -> None:
    assert mended({"reasoning": "r", "need_to_talk": given}, NeedToTalk) is None


def test_what_is_missing_is_not_made_up() -> None:
    assert mended({"need_to_talk": 12}, NeedToTalk) is None
    assert mended({"reasoning": "r", "happiness": 12}, Feeling) is None
    assert mended({"reasoning": "", "need_to_talk": 5}, NeedToTalk) is None
    assert mended({"reasoning": "r", "keep": "perhaps"}, Consolidation) is None


def test_lists_are_cut_and_what_is_of_no_use_in_them_is_left_out() -> None:
    percept = mended({"theme": "t", "keywords": [*"abcdefghij"], "importance": "11"}, Percept)
    assert percept is not None
    assert (percept.keywords, percept.importance) == ([*"abcdefgh"], 10)
    percept = mended({"theme": "t", "keywords": ["a", 5, "", "b"], "importance": 1}, Percept)
    assert percept is not None
    assert percept.keywords == ["a", "b"]
    assert mended({"theme": "t", "keywords": [], "importance": 1}, Percept) is None
    assert mended({"theme": "t", "keywords": ["", " "], "importance": 1}, Percept) is None


@pytest.mark.parametrize("count", range(8))
def test_one_item_is_enough_where_several_are_asked_for(count: int) -> None:
    points = mended({"questions": [f"Why {n}?" for n in range(count)]}, FocalPoints)
    insights = mended({"insights": [dict(INSIGHT) for _ in range(count)]}, Reflection)
    if not count:
        assert points is None and insights is None
        return
    assert points is not None and insights is not None
    assert len(points.questions) == min(count, 3)
    assert len(insights.insights) == min(count, 5)
    assert isinstance(insights, Reflection)


def test_numbers_of_memories_are_no_levels() -> None:
    """An insight rests on none that was not named: the number goes, and where none is left, the insight."""
    answer = {"insights": [{**INSIGHT, "evidence": [0, 2], "importance": 99}, {**INSIGHT, "evidence": [-1]}]}
    found = mended(answer, Reflection)
    assert found is not None
    assert [(insight.evidence, insight.importance) for insight in found.insights] == [([2], 10)]


def test_the_answer_itself_is_not_changed() -> None:
    answer = {"insights": [{**INSIGHT, "importance": 99}] * 7}
    before = json.dumps(answer)
    mended(json.loads(before), Reflection)
    assert json.dumps(answer) == before


def test_each_part_of_an_answer_stands_for_itself() -> None:
    answer = {
        "perception": {"theme": "t", "keywords": ["k"], "importance": 3},
        "emotion": ["none"],
        "need_to_talk": {"reasoning": "r", "need_to_talk": "12/10"},
        "openness": {"openness": 3},
    }
    found = usable_parts(answer, ("perception", "emotion", "need_to_talk", "action", "openness"))
    assert {part: outcome for part, (_, outcome) in found.items()} == {
        "perception": "valid",
        "need_to_talk": "corrected",
    }
    assert found["need_to_talk"][0] == NeedToTalk(reasoning="r", need_to_talk=10)
    assert usable_parts({}, ("emotion",)) == {}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["7/10", "3.5"]),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
SCHEMAS: list[type[Judgement]] = [NeedToTalk, Feeling, Percept, FocalPoints, Reflection, Plan]


@pytest.mark.proof
@given(st.data())
def test_whatever_comes_is_valid_but_for_its_length_or_nothing(data: st.DataObject) -> None:
    schema = data.draw(st.sampled_from(SCHEMAS))
    names = list(schema.model_fields)
    answer = {name: data.draw(VALUES | st.lists(st.just(INSIGHT) | VALUES, max_size=7)) for name in names}
    answer = json.loads(json.dumps(answer))  # as a model gives it: no object stands in two places
    found = mended(answer, schema)
    try:
        valid = schema.model_validate(answer)
    except ValidationError:
        if found is not None:
            again = mended(found.model_dump(), schema)
            assert again is not None and again.model_dump() == found.model_dump()
    else:
        assert found is not None and found.model_dump() == valid.model_dump()
