"""Distances between distributions: known values, their edges, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.distributions import (
    Answered,
    flip_excess,
    flip_rate,
    jensen_shannon,
    total_variation,
    wasserstein,
)

P, Q = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
ALL: tuple[Callable[..., float | None], ...] = (total_variation, jensen_shannon, wasserstein)
COUNTS = st.lists(st.integers(0, 20), min_size=3, max_size=3)


def test_distances():
    assert total_variation(P, Q) == pytest.approx(0.3)
    distance = jensen_shannon(P, Q)
    assert distance == pytest.approx(0.3095, abs=5e-5)
    assert distance is not None and distance**2 == pytest.approx(0.0958, abs=5e-5)
    assert wasserstein(P, Q) == pytest.approx(0.3)


def test_counts_are_shares():
    for measure in ALL:
        assert measure([5, 3, 2], [4, 6, 10]) == pytest.approx(measure(P, Q))


def test_edges():
    for measure in ALL:
        assert measure([0, 0], [1, 2]) is None
        assert measure([1, 2], [0, 0]) is None
        assert measure([3, 4], [3, 4]) == 0
        assert measure([1, 0], [0, 1]) == pytest.approx(1)
        assert measure([1], [7]) == 0
        with pytest.raises(ValueError, match="different options"):
            measure([1, 2], [1, 2, 3])
        with pytest.raises(ValueError, match="negative"):
            measure([1, -1], [1, 1])
    assert wasserstein(P, Q, ordered=False) is None


@given(COUNTS, COUNTS, COUNTS)
@hypothesis_settings(max_examples=40)
def test_they_are_distances(first: list[int], second: list[int], third: list[int]):
    for measure in ALL:
        found = measure(first, second)
        assert (found is None) == (not any(first) or not any(second))
        if found is not None:
            assert 0 <= found <= 1 + 1e-9
            assert found == pytest.approx(measure(second, first), abs=1e-9)
            to, on = measure(first, third), measure(third, second)
            assert to is None or on is None or found <= to + on + 1e-7


@given(COUNTS.filter(any), COUNTS.filter(any))
@hypothesis_settings(max_examples=50)
def test_a_scale_may_be_turned_round(first: list[int], second: list[int]):
    assert total_variation(first[::-1], second[::-1]) == pytest.approx(total_variation(first, second))
    assert wasserstein(first[::-1], second[::-1]) == pytest.approx(wasserstein(first, second), abs=1e-9)
    assert jensen_shannon(first[::-1], second[::-1]) == pytest.approx(jensen_shannon(first, second), abs=1e-9)


def test_places_have_a_unit():
    assert wasserstein([1, 0, 0], [0, 0, 1], places=[10, 20, 1000]) == pytest.approx(990)
    assert wasserstein([3, 1], [1, 3], places=[0, 0.0008]) == pytest.approx(0.0004)


# Flip rates: known values, their edges, and what holds for all answers


def answers(task: str, **by_wording: str) -> list[Answered]:
    """`answers("t", a="yyyn", b="ynnn")`: two wordings, four seeds; a dot is no answer."""
    return [
        Answered({"task": task, "wording": wording, "seed": seed}, None if answer == "." else answer)
        for wording, given in by_wording.items()
        for seed, answer in enumerate(given)
    ]


EXAMPLE = answers("town", a="yyyn", b="ynnn")


def test_flip_rates():
    wording, seed = flip_rate(EXAMPLE, "wording"), flip_rate(EXAMPLE, "seed")
    assert (wording.value, wording.flipped, wording.pairs) == (0.5, 2, 4)
    assert (seed.value, seed.flipped, seed.pairs) == (0.5, 6, 12)
    found = flip_excess(EXAMPLE, "wording")
    assert found.excess.value == pytest.approx(0)
    assert (found.excess.n, found.excess.low) == (1, None)  # one task has no interval
    assert (found.rate, found.floor) == (wording, seed)


def test_no_answer_is_an_answer():
    assert flip_rate(answers("t", a="y.", b=".."), "wording").value == 0.5


def test_one_level_has_no_rate():
    found = flip_rate(answers("t", a="yyn"), "wording")
    assert (found.value, found.pairs) == (None, 0)
    assert flip_excess(answers("t", a="yyn"), "wording").excess.value is None
    with pytest.raises(ValueError, match="no level of 'order'"):
        flip_rate(EXAMPLE, "order")


def test_tasks_are_never_compared_with_each_other():
    both = [*answers("one", a="yy", b="yy"), *answers("two", a="nn", b="nn")]
    assert flip_rate(both, "wording").value == flip_rate(both, "seed").value == 0


def test_the_excess_is_a_mean_over_tasks():
    three = [*answers("one", a="yy", b="nn"), *answers("two", a="yy", b="yy"), *answers("none", a="y")]
    found = flip_excess(three, "wording").excess
    assert (found.value, found.n, found.dropped) == (0.5, 2, 1)
    assert found.low is not None and found.high is not None


@given(st.text("yn.", min_size=2, max_size=5), st.data())
@hypothesis_settings(max_examples=50)
def test_rates_do_not_care_for_names(first: str, data: st.DataObject):
    second = data.draw(st.text("yn.", min_size=len(first), max_size=len(first)))
    given_, swapped = answers("t", a=first, b=second), answers("t", a=second, b=first)
    renamed = [Answered(one.levels, {"y": "ja", "n": "nein"}.get(one.answer or "")) for one in reversed(given_)]
    for axis in ("wording", "seed"):
        rate = flip_rate(given_, axis)
        assert rate.value is not None and 0 <= rate.value <= 1
        assert flip_rate(swapped, axis) == rate == flip_rate(renamed, axis)
    excess = flip_excess(given_, "wording").excess.value
    assert excess is not None and -1 <= excess <= 1
