"""What models may answer: ranges, lengths, and the reason before the verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from persimchat.state.minds import judgement as j
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.minds.listening import (
    Concern,
    Listening,
    faded,
    importance_unasked,
    most_concerned,
    need_unasked,
    noticed,
    was_asked,
)
from persimchat.state.outcomes import (
    OUTCOMES,
    add_outcomes,
    add_to_streaks,
    by_module,
    first_try,
    hopeless,
    judged,
    weak_judgements,
)

INSIGHT = {"theme": "t", "keywords": ["k"], "evidence": [1], "importance": 5}
GOOD: dict[type[j.Judgement], dict[str, Any]] = {
    j.Percept: {"theme": "t", "keywords": ["k"], "importance": 5},
    j.FocalPoints: {"questions": ["a", "b", "c"]},
    j.Consolidation: {"reasoning": "r", "keep": True},
    j.NeedToTalk: {"reasoning": "r", "need_to_talk": 5},
    j.Action: {"reasoning": "r", "action": "plan"},
    j.Feeling: {"reasoning": "r", **dict.fromkeys(EMOTIONS, 5)},
    j.Reflection: {"insights": [INSIGHT] * 5},
    j.BriefReflection: {"insights": [INSIGHT]},
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
    for wrong in (
        {k: v for k, v in GOOD[schema].items() if k != field},
        {**GOOD[schema], field: None},
        {**GOOD[schema], field: ""},
    ):
        with pytest.raises(ValidationError):
            schema.model_validate(wrong)


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
        (j.BriefReflection, {"insights": []}),
        (j.BriefReflection, {"insights": [INSIGHT] * 6}),
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


# Who listens, and what silence does: the arithmetic of the setting `listeners`


NEAR = st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0])
CONCERNS = st.lists(st.tuples(st.booleans(), NEAR, st.integers(0, 3)), max_size=12).map(
    lambda rows: [Concern(f"p{place}", *row) for place, row in enumerate(rows)]
)
LEVELS = st.fixed_dictionaries({name: st.integers(0, 10) for name in EMOTIONS})


@given(CONCERNS, st.integers(1, 15))
def test_nobody_who_is_asked_is_concerned_less_than_somebody_who_is_not(concerns: list[Concern], count: int) -> None:
    asked = most_concerned(concerns, count)
    assert len(asked) == min(count, len(concerns))
    assert asked == [concern.name for concern in concerns if concern.name in asked]
    order = {concern.name: place for place, concern in enumerate(concerns)}

    def rank(concern: Concern) -> tuple[bool, float, int, int]:
        return (not concern.named, -concern.nearness, concern.asked, order[concern.name])

    chosen = [rank(concern) for concern in concerns if concern.name in asked]
    left = [rank(concern) for concern in concerns if concern.name not in asked]
    assert not chosen or not left or max(chosen) < min(left)


def test_who_is_named_goes_before_who_is_near_and_who_was_asked_longest_ago_before_who_is_listed_first() -> None:
    named = [Concern("a", False, 1.0, 0), Concern("b", True, -1.0, 9)]
    assert most_concerned(named, 1) == ["b"]
    equal = [Concern("a", False, 0.5, 3), Concern("b", False, 0.5, 2), Concern("c", False, 0.5, 2)]
    assert most_concerned(equal, 1) == ["b"]
    assert most_concerned(equal, 2) == ["b", "c"]


@given(CONCERNS, st.integers(1, 5))
def test_in_a_talk_that_concerns_all_alike_everybody_is_asked_in_turn(concerns: list[Concern], count: int) -> None:
    asked = dict.fromkeys((concern.name for concern in concerns), 0)
    rounds = -(-len(asked) // count)
    for turn in range(1, rounds + 1):
        for name in most_concerned([Concern(name, False, 0.5, last) for name, last in asked.items()], count):
            asked[name] = turn
    assert all(asked.values())


@given(st.lists(st.booleans(), max_size=30), LEVELS)
def test_what_a_mind_keeps_of_its_listening(history: list[bool], emotion: dict[str, int]) -> None:
    listening: Listening | None = None
    for turn, asked in enumerate(history, start=1):
        now = emotion if turn == 1 else dict.fromkeys(EMOTIONS, turn % 11)
        listening = noticed(listening, turn, now, asked=asked)
        assert was_asked({"listening": listening}, turn) is asked
        assert was_asked({"listening": listening}, turn + 1) is None
        assert listening["temper"] == emotion
        assert listening["missed"] == next((n for n, a in enumerate(history[:turn][::-1]) if a), turn)
    assert was_asked({}, 1) is None and was_asked({"listening": listening}, 0) is None


@given(st.integers(0, 10), st.integers(2, 100), st.integers(1, 100))
def test_nobody_is_silent_for_ever(need: int, agents: int, listeners: int) -> None:
    period = max(1, round(agents / listeners))
    course = [need]
    for missed in range(1, 10 * period + 1):
        course.append(need_unasked(course[-1], missed, agents, listeners))
    assert all(0 <= now - before <= 1 for before, now in zip(course, course[1:], strict=False))
    assert course[period] == min(10, need + 1)
    assert course[-1] == 10


@given(LEVELS, LEVELS)
def test_feelings_fade_to_the_temper_and_stay_there(emotion: dict[str, int], temper: dict[str, int]) -> None:
    now = emotion
    for _ in range(10):
        before, now = now, faded(now, temper)
        for name in EMOTIONS:
            assert abs(now[name] - before[name]) == min(1, abs(temper[name] - before[name]))
            assert abs(now[name] - temper[name]) <= abs(before[name] - temper[name])
    assert now == temper


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_what_is_nearer_is_no_less_important(one: float, other: float) -> None:
    least, most = sorted([one, other])
    assert 5 <= importance_unasked(least) <= importance_unasked(most) <= 10


# Counting how judgements came out, and telling when a module is of no use to anybody


def call(module: str, outcome: str | None, turn: int = 1, model: str = "m") -> dict[str, Any]:
    made = {"module": module, "model": model, "turn": turn}
    return made if outcome is None else {**made, "outcome": outcome}


def turns(module: str, *each: str) -> dict[str, Any]:
    """The streaks after turns in which the module's judgements came out so: "ff" for two that failed."""
    kinds = {"f": "failed", "v": "valid", "c": "corrected"}
    streaks: dict[str, Any] = {}
    for turn, outcomes in enumerate(each):
        for outcome in outcomes:
            streaks = add_to_streaks(streaks, [[call(module, kinds[outcome], turn)]])
    return streaks


@pytest.mark.parametrize(
    ("each", "stops"),
    [
        (("ff", "ff"), True),
        (("fff", "fff"), True),
        (("ff",), False),
        (("fff", "ffv"), False),
        (("ff", "cf", "ff"), False),
        (("ff", "vv", "ff", "ff"), True),
        (("f", "f"), False),  # one agent alone was asked: bad luck
        (("f", "", "ff", "f"), True),  # it was not asked in between
        (("ffff", "v"), False),
        (("ffff",), False),
    ],
)
def test_a_module_is_of_no_use_where_it_fails_for_everybody_turn_after_turn(each: tuple[str, ...], stops: bool) -> None:
    assert hopeless(turns("emotion", *each)) == ("emotion" if stops else None)


def test_streaks_end_and_are_taken_over() -> None:
    known = turns("emotion", "ff", "ff")
    assert add_to_streaks({}, [known]) == known
    assert add_to_streaks(known, [None]) == {}
    assert add_to_streaks(known, [[call("emotion", None, 9)]]) == known


OUTCOME = st.sampled_from([None, *OUTCOMES])
CALLS = st.lists(st.builds(call, st.sampled_from(["emotion", "planning"]), OUTCOME, st.just(1), st.sampled_from("ab")))


@pytest.mark.proof
@given(st.lists(CALLS))
def test_counts_are_sums_in_whatever_parts_they_come(writes: list[list[dict[str, Any]]]) -> None:
    whole = add_outcomes({}, writes)
    parts: Any = {}
    for write in writes:
        parts = add_outcomes(parts, [write])
    assert parts == whole == add_outcomes({}, [whole])
    calls = [made for write in writes for made in write if "outcome" in made]
    assert sum(row["asked"] for row in by_module(whole).values()) == len(calls)
    for module in ("emotion", "planning"):
        rates = first_try(whole, module)
        assert sum(valid for valid, _ in rates.values()) == calls.count(call(module, "valid", model="a")) + calls.count(
            call(module, "valid", model="b")
        )
    assert add_outcomes(whole, [None]) == {}


def test_what_was_weak_in_a_turn_is_gathered_over_its_steps() -> None:
    thought = weak_judgements(None, judged([call("planning", "failed")]), 3)
    assert thought == {"turn": 3, "failed": ["planning"], "corrected": []}
    heard = weak_judgements(thought, judged([call("emotion", "corrected"), call("perception", "failed")]), 3)
    assert heard == {"turn": 3, "failed": ["perception", "planning"], "corrected": ["emotion"]}
    assert weak_judgements(heard, judged([call("emotion", "valid")]), 4) is None
    assert weak_judgements(heard, [], 3) == heard


def test_an_answer_with_several_parts_is_a_judgement_of_each_of_their_modules() -> None:
    whole = {**call("reaction", None), "outcomes": {"emotion": "failed", "action": "again"}}
    found = judged([call("planning", "valid"), call("judge", None), whole])
    assert found == [call("planning", "valid"), call("emotion", "failed"), call("action", "again")]


def test_a_schema_says_no_field_again_and_keeps_every_name():
    class Odd(j.Percept):
        title: str = Field(description="said in the prompt")
        description: str = Field(description="said in the prompt")

    schema = Odd.model_json_schema()
    assert list(schema["properties"])[-2:] == schema["required"][-2:] == ["title", "description"]
    assert "said in the prompt" not in str(schema)
