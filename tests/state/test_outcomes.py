"""Counting how judgements came out, and telling when a module is of no use to anybody."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
