"""Effects: known values, their edges, and what holds for all numbers."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random
from statistics import variance

import pytest
import scipy.stats  # noqa: F401  loaded here, so that no test pays for it
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.published.paper import published
from persimchat.evaluation.statistics.effects import (
    Metric,
    Units,
    cliffs_delta,
    cohen,
    krippendorff,
    rank_biserial,
    spearman,
    variance_ratio,
)
from persimchat.evaluation.statistics.intervals import Quartiles, circular_triads, quartiles

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
    assert variance_ratio([0.1, 0.8, 0.1], [0.3, 0.4, 0.3], sizes=(10, 10)) == pytest.approx(1 / 3)
    assert variance_ratio([1, 0, 1], [50, 0, 50], sizes=(2, None)) == pytest.approx(2)  # n − 1 of two answers
    assert variance_ratio([1, 0, 0], [1, 1, 1]) is None
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
    answers = [[place for place, n in enumerate(side) for _ in range(n)] for side in (simulated, human)]
    if min(map(len, answers)) > 1 and len({*answers[1]}) > 1:
        assert ratio == pytest.approx(variance(answers[0]) / variance(answers[1]))
    if ratio and inverse:
        assert ratio * inverse == pytest.approx(1)


# Agreement: known values, Krippendorff's published example, and another program's values


METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval")
PUBLISHED = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
RATINGS = st.lists(st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=4), max_size=8)


def units_of(raters: Sequence[str]) -> list[list[int | None]]:
    rows = [[None if mark == "." else int(mark) for mark in row.split()] for row in raters]
    return [list(unit) for unit in zip(*rows, strict=True)]


@pytest.mark.parametrize(("metric", "alpha"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491)])
def test_krippendorffs_own_example(metric: Metric, alpha: float):
    found = krippendorff(units_of(PUBLISHED), metric)
    assert found.value == pytest.approx(alpha, abs=5e-5)
    assert (found.units, found.dropped, found.ratings) == (11, 1, 40)


def test_alpha_by_hand():
    found = krippendorff([(1, 1), (2, 2), (1, 2)], "nominal")
    assert (found.observed, found.expected, found.value) == pytest.approx((1 / 3, 0.6, 4 / 9))
    found = krippendorff([(1, 2), (3, 3), (4, 5)], "interval")
    assert (found.observed, found.expected, found.value) == pytest.approx((2 / 3, 4, 0.8333), abs=5e-5)
    assert krippendorff([(1, 2), (3, 3), (4, 5)], "ordinal").value == pytest.approx(0.9020, abs=5e-5)


def test_alpha_that_is_undefined():
    for metric in METRICS:
        assert krippendorff([(3, 3), (3, 3, None)], metric).value is None
        assert krippendorff([(1, None), (2,)], metric).value is None
        assert krippendorff([], metric).units == 0
    assert krippendorff([(1, None), (2, 2), (3, 3)], "ordinal").dropped == 1


def test_classes_may_be_text():
    words = [["win", "win"], ["tie", "tie"], ["win", "tie"]]
    assert krippendorff(words, "nominal").value == pytest.approx(4 / 9)
    with pytest.raises(ValueError, match="nominal, not interval"):
        krippendorff(words, "interval")


@pytest.fixture(scope="module")
def compared() -> Callable[[Units], None]:
    """Compare with NLTK, which takes seconds to load, wants raters by name, and has no ordinal distance."""
    from nltk.metrics import binary_distance, interval_distance
    from nltk.metrics.agreement import AnnotationTask

    distances: dict[Metric, Callable[[object, object], float]] = {
        "nominal": binary_distance,
        "interval": interval_distance,
    }

    def compare(units: Units) -> None:
        rated = [(u, r, value) for u, unit in enumerate(units) for r, value in enumerate(unit) if value is not None]
        data = [(f"rater {r}", f"unit {u}", v) for u, r, v in rated if sum(other == u for other, _, _ in rated) > 1]
        for metric, distance in distances.items():
            if (mine := krippendorff(units, metric).value) is not None:
                assert mine == pytest.approx(AnnotationTask(data, distance=distance).alpha(), abs=1e-10)

    return compare


@pytest.mark.proof
def test_another_program_finds_the_same_in_the_published_example(compared: Callable[[Units], None]):
    compared(units_of(PUBLISHED))


@pytest.mark.long
@pytest.mark.proof
@given(units=RATINGS)
@hypothesis_settings(max_examples=300)
def test_another_program_finds_the_same(compared: Callable[[Units], None], units: list[list[int | None]]):
    compared(units)


@pytest.mark.proof
@given(RATINGS, st.randoms(use_true_random=False), st.sampled_from(METRICS))
@hypothesis_settings(max_examples=40)
def test_alpha_does_not_care_for_names(units: list[list[int | None]], chance: Random, metric: Metric):
    """Neither the raters' order, nor the units', nor whether the nominal values have other names."""
    found = krippendorff(units, metric)
    shuffled = [chance.sample(unit, len(unit)) for unit in chance.sample(units, len(units))]
    again = krippendorff(shuffled, metric)
    assert again.value == (None if found.value is None else pytest.approx(found.value))
    assert found.value is None or found.value <= 1 + 1e-12
    assert found.units + found.dropped == len(units)
    renamed = [[None if value is None else "decab"[value - 1] for value in unit] for unit in units]
    wanted = krippendorff(units, "nominal").value
    assert krippendorff(renamed, "nominal").value == (None if wanted is None else pytest.approx(wanted))


@given(RATINGS)
@hypothesis_settings(max_examples=40)
def test_scales(units: list[list[int | None]]):
    """Interval α stays with another unit of measurement, ordinal α with anything that keeps the order."""

    def changed(function: Callable[[int], float]) -> list[list[float | None]]:
        return [[None if value is None else function(value) for value in unit] for unit in units]

    for metric, function in (("interval", lambda v: 3 * v - 7), ("ordinal", lambda v: v**3)):
        chosen: Metric = "interval" if metric == "interval" else "ordinal"
        wanted = krippendorff(units, chosen).value
        assert krippendorff(changed(function), chosen).value == (None if wanted is None else pytest.approx(wanted))


@given(st.lists(st.integers(1, 5), min_size=2, max_size=6).filter(lambda values: len(set(values)) > 1))
@hypothesis_settings(max_examples=50)
def test_full_agreement_is_one(values: list[int]):
    for metric in METRICS:
        assert krippendorff([[value, value, value] for value in values], metric).value == pytest.approx(1)


def test_alpha_with_its_interval():
    units = units_of(PUBLISHED) * 2
    found = krippendorff(units, "ordinal")
    assert found.value is not None
    low, high = found.interval.low, found.interval.high
    assert low is not None and high is not None
    assert low < found.value < high <= 1
    assert found.interval.n == found.units == 22
    few = krippendorff(units[:3], "ordinal").interval
    assert (few.low, few.note) == (None, "fewer than 20 units have no interval")
    assert krippendorff([], "ordinal").value is None


@pytest.mark.long
def test_many_units_with_real_values_need_little_memory():
    chance = random.Random(1)
    units = [[chance.random(), chance.random()] for _ in range(400)]
    tracemalloc.start()
    found = krippendorff(units, "interval")
    greatest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value is not None and abs(found.value) < 0.2 and greatest < 20_000_000


def test_kappa():
    first = ["a"] * 25 + ["b"] * 25
    second = ["a"] * 20 + ["b"] * 5 + ["a"] * 10 + ["b"] * 15
    found = cohen([*first, None, "a"], [*second, "a", None])
    assert (found.value, found.observed, found.expected) == pytest.approx((0.4, 0.7, 0.5))
    assert (found.n, found.dropped) == (50, 2)


def test_kappa_that_is_undefined():
    alike = cohen(["a", "a"], ["a", "a"])
    assert (alike.value, alike.observed, alike.expected) == (None, 1, 1)
    assert cohen([], []).observed is None
    with pytest.raises(ValueError, match="shorter"):
        cohen(["a"], [])


@given(st.lists(st.tuples(st.sampled_from("wtl"), st.sampled_from("wtl")), min_size=1, max_size=20))
@hypothesis_settings(max_examples=50)
def test_kappa_is_symmetric(pairs: list[tuple[str, str]]):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    value = cohen(first, second).value
    assert value is None or -1 <= value <= 1
    assert cohen(second, first).value == (None if value is None else pytest.approx(value))
    assert cohen(first, first).value in (None, 1)


# Circles: found, named in the order of who beats whom, and none where one thing wins against all


def test_a_circle_is_named_in_the_order_of_who_beats_whom():
    assert circular_triads("abc", [("a", "b"), ("b", "c"), ("c", "a")]) == [("a", "b", "c")]
    assert circular_triads("abc", [("b", "a"), ("c", "b"), ("a", "c")]) == [("a", "c", "b")]
    assert circular_triads("abc", [("a", "b"), ("b", "c"), ("a", "c")]) == []
    assert circular_triads("abc", [("a", "b"), ("b", "c")]) == []


def test_the_final_result_of_the_thesis_is_one():
    (table,) = (table for table in published("thesis").pairs if table.table == "6.10")
    beats = [(r.first, r.second) if r.counts[0] > r.counts[2] else (r.second, r.first) for r in table.rows]
    assert circular_triads(["Base", "SA", "AG"], beats) == [("Base", "AG", "SA")]


@given(st.sampled_from([3, 6, 10, 15, 21]).flatmap(lambda n: st.lists(st.booleans(), min_size=n, max_size=n)))
def test_the_number_is_that_of_kendall(outcomes: list[bool]):
    """Of n(n−1)(2n−1)/12 − Σ w²/2, where w are the wins of each and everybody met everybody."""
    n = round((1 + (1 + 8 * len(outcomes)) ** 0.5) / 2)
    pairs = list(combinations(range(n), 2))
    beats = [pair if won else pair[::-1] for pair, won in zip(pairs, outcomes, strict=True)]
    wins = [sum(winner == one for winner, _ in beats) for one in range(n)]
    assert len(circular_triads(range(n), beats)) == n * (n - 1) * (2 * n - 1) / 12 - sum(w * w for w in wins) / 2


# Quartiles: values by hand, and what must hold of any


def test_by_hand():
    assert quartiles([1, 2, 3, 4]) == Quartiles(low=1.75, median=2.5, high=3.25, n=4)
    assert quartiles([7, None]) == Quartiles(low=7, median=7, high=7, n=1, dropped=1)
    assert quartiles([None]) == Quartiles(low=None, median=None, high=None, n=0, dropped=1)
    with pytest.raises(ValueError, match="not a number"):
        quartiles([math.nan])


@given(st.lists(st.integers(1, 10), min_size=1), st.integers(-5, 5))
def test_any(values: list[int], shift: int):
    found, moved = quartiles(values), quartiles([value + shift for value in values][::-1])
    assert found.low is not None and found.median is not None and found.high is not None
    assert min(values) <= found.low <= found.median <= found.high <= max(values)
    assert (moved.low, moved.median, moved.high) == pytest.approx(
        (found.low + shift, found.median + shift, found.high + shift)
    )
