"""Distances between distributions: known values, their edges, and what holds for all of them."""

from __future__ import annotations

from math import comb, sqrt

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.distributions import (
    Answered,
    Distance,
    flip_excess,
    flip_rate,
    floor,
    jensen_shannon,
    total_variation,
    wasserstein,
)

P, Q = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
ALL: tuple[Distance, ...] = (total_variation, jensen_shannon, wasserstein)
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


def exact_floor(q: float, n: int) -> float:
    """The mean total variation of two options, by the binomial distribution."""
    return sum(comb(n, k) * q**k * (1 - q) ** (n - k) * abs(k / n - q) for k in range(n + 1))


def test_the_exact_floors():
    assert exact_floor(0.5, 2) == 0.25
    assert exact_floor(0.5, 10) == pytest.approx(0.1230, abs=5e-5)


@pytest.mark.parametrize(("q", "n"), [(0.5, 2), (0.5, 10), (0.2, 7)])
def test_floor(q: float, n: int):
    found = floor(total_variation, (q, 1 - q), n, seed=4)
    assert found is not None
    assert found.mean == pytest.approx(exact_floor(q, n), abs=4 * 0.5 / sqrt(2_000))
    assert found.mean <= found.high <= 1
    assert (found.n, found.draws, found.seed) == (n, 2_000, 4)
    assert found == floor(total_variation, (q, 1 - q), n, seed=4)
    assert found.hides(found.high / 2) and not found.hides(found.high)


def test_every_distance_has_a_floor_that_sinks_with_the_size():
    for measure in ALL:
        small, large = floor(measure, P, 5, draws=100), floor(measure, P, 500, draws=100)
        assert small is not None and large is not None
        assert small.mean > 3 * large.mean


def test_floors_that_do_not_exist():
    assert floor(total_variation, (0, 0), 5) is None
    assert floor(total_variation, P, 0) is None
    assert floor(lambda a, b: wasserstein(a, b, ordered=False), P, 5, draws=3) is None
    certain = floor(total_variation, (1, 0), 5, draws=3)
    assert certain is not None and certain.mean == 0


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
    assert (found.excess.n, found.excess.method) == (4, "t over seeds")
    assert (found.rate, found.floor) == (wording, seed)


def test_one_task_is_resampled_over_its_seeds():
    """By hand: on the axis the four seeds flip 0, 1, 1, 0; of the pairs of each seed, 1/3, 1/3, 1/3 and 1 flip in a,
    and 1, 1/3, 1/3, 1/3 in b."""
    found = flip_excess(EXAMPLE, "wording").excess
    differences = [0 - 4 / 6, 1 - 2 / 6, 1 - 2 / 6, 0 - 4 / 6]
    spread = scipy.stats.tstd(differences) / 2 * scipy.stats.t.ppf(0.975, 3)
    assert (found.low, found.high) == (pytest.approx(-spread), pytest.approx(spread))


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
