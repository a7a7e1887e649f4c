"""Which pieces of information go: the paper's algorithm by hand, its properties, and the settings."""

from __future__ import annotations

import math
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from persimchat.state.configuration import load_settings, parse_assignment
from persimchat.state.minds.pruning import Pruned, Pruning, rounded, select
from persimchat.state.settings import Settings

SCORES = st.lists(st.just(0.0) | st.floats(1e-6, 100).map(rounded), max_size=40)
LAMBDA = st.floats(0, 1)


@pytest.mark.parametrize(
    ("scores", "strength", "gone"),
    [
        ([0.60, 0.20, 0.25], 0.5, [2, 1]),  # units A, B, C of the paper's equation by hand
        ([0.60, 0.20, 0.25], 0.6, [0]),
        ([0.60, 0.20, 0.25], 1, [0, 2, 1]),
        ([5, 3, 1, 1], 0, []),
        ([5, 3, 1, 1], 0.05, []),
        ([5, 3, 1, 1], 0.1, [2]),
        ([5, 3, 1, 1], 0.4, [1, 2]),
        ([5, 3, 1, 1], 0.5, [0]),
        ([5, 3, 1, 1], 1, [0, 1, 2, 3]),
        ([0.1] * 10, 0.3, [0, 1, 2]),
        ([0.1, 0.2], 1, [1, 0]),
        ([], 0.5, []),
        ([0, 0], 0.5, []),
        ([0, 0], 1, [0, 1]),
        ([5, 0, 1, 0], 0.2, [2]),  # what has no score goes only with everything
        ([5, 0, 1, 0], 1, [0, 2, 1, 3]),
    ],
)
def test_algorithm_1_by_hand(scores: list[float], strength: float, gone: list[int]) -> None:
    assert select(scores, strength) == gone


def test_a_third_of_equal_scores_does_not_fail_at_the_last_digit() -> None:
    assert select([0.1, 0.2, 0.7], 0.1 + 0.2) == [1, 0]


@given(SCORES, LAMBDA)
def test_no_more_goes_than_the_share(scores: list[float], strength: float) -> None:
    gone = select(scores, strength)
    assert len(set(gone)) == len(gone)
    total = math.fsum(scores)
    if strength < 1:
        assert math.fsum(scores[unit] for unit in gone) <= strength * total + 2e-9 * total
    taken = [(-scores[unit], unit) for unit in gone]
    assert taken == sorted(taken)


@given(SCORES)
def test_0_leaves_everything_and_1_takes_everything(scores: list[float]) -> None:
    assert select(scores, 0) == []
    assert sorted(select(scores, 1)) == list(range(len(scores)))


@given(SCORES, LAMBDA, st.integers(-8, 8))
def test_other_units_of_the_scores_change_nothing(scores: list[float], strength: float, power: int) -> None:
    assert select([score * 2.0**power for score in scores], strength) == select(scores, strength)


@given(SCORES, LAMBDA)
def test_reaching_takes_the_greatest_until_the_share_is_reached(scores: list[float], strength: float) -> None:
    gone = select(scores, strength, fill="reach")
    whole = select(scores, 1)
    assert gone == whole[: len(gone)]
    total = math.fsum(scores)
    if total > 0 and 0 < strength < 1:
        assert math.fsum(scores[unit] for unit in gone) >= strength * total - 2e-9 * total
        assert math.fsum(scores[unit] for unit in gone[:-1]) <= strength * total
        greater = select(scores, min(1.0, strength * 1.5), fill="reach")
        assert set(gone) <= set(greater)


@given(SCORES, LAMBDA, st.integers())
def test_the_other_orders_go_from_the_least_and_by_a_draw(scores: list[float], strength: float, seed: int) -> None:
    least = select(scores, strength, order="ascending")
    assert [scores[unit] for unit in least] == sorted(scores[unit] for unit in least)
    drawn = select(scores, strength, order="random", seed=seed)
    assert drawn == select(scores, strength, order="random", seed=seed)


@pytest.mark.parametrize("hostile", [{"turn": 10**15}, {"items": [{"score": 1.7e308}]}, {"items": [{"score": -1}]}])
def test_a_record_with_figures_that_cannot_be_is_damaged(hostile: dict[str, Any]) -> None:
    item = {"block": "b", "kind": "trait", "id": "trait:1", "text": "calm", "words": 1, "score": 1, "removed": True}
    whole = {"turn": 1, "lambda": 0.5, "method": "length", "units": 1, "removed": 1, "words": 1, "words_removed": 1}
    items = [{**item, **given} for given in hostile.get("items", [{}])]
    assert Pruned.model_validate({**whole, "items": [item]})
    with pytest.raises(ValidationError):
        Pruned.model_validate({**whole, **hostile, "items": items})


def test_scores_have_six_digits_and_are_not_negative() -> None:
    assert [rounded(score) for score in (0.123456789, 12345678.9, -0.5, 0.0)] == [0.123457, 12345700.0, 0.0, 0.0]


def test_the_setting_is_called_lambda_in_files_and_variables() -> None:
    name, value = parse_assignment("pruning.lambda=0.6")
    by_argument = load_settings(environment={}, **{name: value})
    by_variable = load_settings(environment={"PERSIMCHAT_PRUNING__LAMBDA": "0.6"})
    assert by_argument.pruning == by_variable.pruning == Pruning(strength=0.6)
    written = by_argument.model_dump(mode="json")["pruning"]
    assert written["lambda"] == 0.6
    assert "strength" not in written
    assert Settings.model_validate(by_argument.model_dump(mode="json")) == by_argument


def test_without_pruning_nothing_is_written() -> None:
    assert "pruning" not in Settings().model_dump(mode="json")
    assert "pruning" not in Settings(pruning={"lambda": 0}).model_dump(mode="json")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pruning.lambda": 1.5}, "less than or equal to 1"),
        ({"pruning.lambda": "high"}, "should be a valid number"),
        ({"pruning.lambda": math.nan}, "pruning.lambda"),
        ({"pruning.lambda": True}, "should be a number, not true"),
        ({"pruning.method": "attn"}, "attention, embedding, length, random, none"),
        ({"pruning.remove": ["x"]}, "Write one or more of the letters b, n, r, m, p, e"),
        ({"pruning.remove": ["c"]}, "Leave c out"),
        ({"pruning.remove": "mm"}, "names a block twice"),
        ({"pruning.responses": 0}, "from 1 to 10"),
        ({"pruning.strenght": 0.5}, "unknown setting 'pruning.strenght'"),
        ({"pruning.lambda": 0.5, "pruning.method": "none"}, "pruning.method=none prunes nothing"),
        ({"pruning.lambda": 0.5, "baseline": "group_chat"}, "does not go with baseline=group_chat, which has no minds"),
        ({"pruning.lambda": 0.5, "mode": "story"}, "does not go with cognition=strategist"),
        ({"pruning.remove": "m", "baseline": "mad", "mode": "debate"}, "does not go with baseline=mad"),
    ],
)
def test_bad_settings_are_refused_with_field_and_remedy(given: dict[str, Any], said: str, refused: Refused) -> None:
    refused(lambda: load_settings(environment={}, **given), said, "pruning")


def test_first_responses_are_asked_for_only_where_they_are_read() -> None:
    def asked(**given: Any) -> int:
        return Pruning(**{"lambda": 0.5, "query": "response", "responses": 3, **given}).asks_first

    assert asked() == asked(method="embedding") == 3
    assert asked(method="length") == asked(method="random") == asked(query="prompt") == 0
    assert Pruning(query="response").asks_first == 0


def test_a_record_of_another_version_is_read() -> None:
    told = {"turn": 3, "lambda": 0.5, "method": "length", "units": 0, "removed": 0, "words": 0, "words_removed": 0}
    record = Pruned.model_validate({**told, "items": [], "unknown": 1})
    assert record.strength == 0.5
    assert record.model_dump(mode="json")["lambda"] == 0.5
    assert "checks" not in record.model_dump(mode="json")
