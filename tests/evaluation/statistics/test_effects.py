"""Effects: known values, their edges, and what holds for all numbers."""

from __future__ import annotations

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.effects import cliffs_delta, rank_biserial, spearman, variance_ratio

SCORES = st.lists(st.integers(0, 10), min_size=1, max_size=12)
STEPS = st.lists(st.none() | st.integers(-5, 5), max_size=12)
COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4)


def test_rank_biserial():
    found = rank_biserial([1, 2, -3, 4, 5, None, 0])
    assert (found.value, found.n, found.dropped, found.name) == (pytest.approx(0.6), 5, 1, "rank-biserial r")
    assert rank_biserial([0, 0]).value is None
    assert rank_biserial([]).value is None
    assert rank_biserial([3, 1]).value == 1


@given(STEPS)
@hypothesis_settings(max_examples=40)
def test_swapping_flips_the_rank_biserial(differences: list[int | None]):
    value = rank_biserial(differences).value
    other = rank_biserial([None if d is None else -d for d in differences]).value
    if value is None:
        assert other is None and not any(differences)
    else:
        assert -1 <= value <= 1
        assert other == pytest.approx(-value)


def test_cliffs_delta():
    found = cliffs_delta([1, 2, 3], [2, 3, 4, None])
    assert (found.value, found.n, found.dropped) == (pytest.approx(-5 / 9), 6, 1)
    assert cliffs_delta([], [1]).value is None


@given(SCORES, SCORES)
@hypothesis_settings(max_examples=40)
def test_cliffs_delta_is_what_it_says(first: list[int], second: list[int]):
    above = sum(a > b for a in first for b in second)
    below = sum(a < b for a in first for b in second)
    assert cliffs_delta(first, second).value == pytest.approx((above - below) / (len(first) * len(second)))
    assert cliffs_delta(second, first).value == pytest.approx((below - above) / (len(first) * len(second)))


def test_spearman():
    found = spearman([1, 2, 3, 4, None], [10, 20, 40, 30, 1])
    assert (found.value, found.n, found.dropped) == (pytest.approx(0.8), 4, 1)
    assert spearman([1, 1, 1], [1, 2, 3]).value is None
    assert spearman([1], [2]).value is None
    with pytest.raises(ValueError, match="shorter"):
        spearman([1, 2], [1])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=10))
@hypothesis_settings(max_examples=40)
def test_spearman_is_symmetric(pairs: list[tuple[int, int]]):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    value = spearman(first, second).value
    assert value is None or -1 - 1e-9 <= value <= 1 + 1e-9
    assert spearman(second, first).value == (None if value is None else pytest.approx(value))
    assert spearman(first, [-b for b in second]).value == (None if value is None else pytest.approx(-value))


def test_variance_ratio():
    assert variance_ratio([0.1, 0.8, 0.1], [0.3, 0.4, 0.3]) == pytest.approx(1 / 3)
    assert variance_ratio([1, 1], [0, 5]) is None
    assert variance_ratio([0, 0], [1, 1]) is None
    assert variance_ratio([5, 0], [1, 1]) == 0
    assert variance_ratio([1, 0, 1], [1, 1, 0], places=[10, 20, 40]) == pytest.approx(9)
    with pytest.raises(ValueError, match="different options"):
        variance_ratio([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="negative"):
        variance_ratio([1, -2], [1, 2])


@given(COUNTS, COUNTS)
@hypothesis_settings(max_examples=50)
def test_the_variance_ratio_is_that_of_the_answers(simulated: list[int], human: list[int]):
    ratio, inverse = variance_ratio(simulated, human), variance_ratio(human, simulated)
    assert ratio is None or ratio >= 0
    if ratio and inverse:
        assert ratio * inverse == pytest.approx(1)
        assert variance_ratio([3 * count for count in simulated], human, [5, 7, 9, 11]) == pytest.approx(ratio)
