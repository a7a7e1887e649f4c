"""Distances between distributions: known values, their edges, and what holds for all of them."""

from __future__ import annotations

from math import comb, sqrt

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.distributions import (
    Distance,
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
