"""Intervals: known values, their edges, and what holds for all numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics import intervals as library
from persimchat.evaluation.statistics.intervals import (
    SHARE,
    Estimate,
    Kind,
    jackknife,
    mean_over_tasks,
    proportion,
    unpaired_difference,
    win_rate,
)
from persimchat.evaluation.statistics.significance import verdict
from persimchat.state.errors import MissingExtraError

SCORES = st.integers(0, 100).map(lambda tenths: tenths / 10)
MAYBE = st.none() | SCORES
COUNTS = st.integers(0, 40)


def bounds(found: Estimate) -> tuple[float, float]:
    assert found.low is not None and found.high is not None
    return found.low, found.high


def test_a_share_of_nothing():
    found = proportion(0, 0)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    for successes, n in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match=f"{successes} successes of {n}"):
            proportion(successes, n)


@given(n=st.integers(1, 200), data=st.data())
@hypothesis_settings(max_examples=50)
def test_a_share_lies_in_its_interval(n: int, data: st.DataObject):
    k = data.draw(st.integers(0, n))
    found = proportion(k, n)
    low, high = bounds(found)
    assert (found.value, found.method, found.n) == (k / n, "Clopper–Pearson", n)
    assert 0 <= low <= k / n + 1e-12 and k / n - 1e-12 <= high <= 1
    assert bounds(proportion(n - k, n)) == pytest.approx((1 - high, 1 - low))


def test_mean_over_tasks():
    found = mean_over_tasks([6, 7, 8, 9])
    assert found.value == 7.5
    assert found.sd == pytest.approx(1.2910, abs=5e-5)
    assert bounds(found) == pytest.approx((5.446, 9.554), abs=5e-4)
    assert (found.method, found.n, found.dropped, found.note) == ("t", 4, 0, "")


def test_an_interval_ends_where_the_measure_does():
    assert bounds(mean_over_tasks([10, 10, 9]))[1] > 10
    assert bounds(mean_over_tasks([10, 10, 9], Kind(low=0, high=10)))[1] == 10
    assert bounds(mean_over_tasks([1.0, -1.0], Kind(low=0, high=1).of_differences)) == (-1, 1)


def test_what_does_not_vary_has_no_interval():
    found = mean_over_tasks([0.275, 0.275])
    assert (found.value, found.low, found.note) == (0.275, None, "nothing varies, so there is no interval")
    assert mean_over_tasks([0.1 + 0.2, 0.3]).low is None


def test_the_kind_decides_and_not_the_values():
    assert mean_over_tasks([0, 1, 0, 1], SHARE).method == "Clopper–Pearson"
    assert mean_over_tasks([0, 1, 0, 0.5], SHARE).method == "Clopper–Pearson"
    assert mean_over_tasks([0, 1, 0, 1]).method == mean_over_tasks([0, 1, 0, 2]).method == "t"


def test_what_is_too_great_is_refused():
    with pytest.raises(ValueError, match="give it in a greater unit"):
        mean_over_tasks([1e308, 1.0])


def test_one_task_has_no_interval():
    found = mean_over_tasks([7, None])
    assert (found.value, found.low, found.high, found.sd, found.n, found.dropped) == (7, None, None, None, 1, 1)
    assert found.note == "one unit has no interval"
    assert mean_over_tasks([None]).value is None
    assert mean_over_tasks([]).note == "there are no values"


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_is_refused(wrong: float):
    with pytest.raises(ValueError, match="a missing value is None"):
        mean_over_tasks([1.0, wrong])


@given(st.lists(MAYBE, max_size=30))
@hypothesis_settings(max_examples=50)
def test_means(values: Sequence[float | None]):
    found, there = mean_over_tasks(values), [value for value in values if value is not None]
    assert found.n + found.dropped == len(values)
    assert found.value == (pytest.approx(fmean(there)) if there else None)
    negated = mean_over_tasks([None if value is None else -value for value in values])
    if len({*there}) > 1:
        low, high = bounds(found)
        assert low <= fmean(there) + 1e-12 and fmean(there) - 1e-12 <= high
        assert found.sd == pytest.approx(stdev(there), abs=1e-12)
        assert bounds(negated) == pytest.approx((-high, -low))


def test_win_rate():
    found = win_rate(17, 11, 16)
    assert found.value == pytest.approx(0.5114, abs=5e-5)
    assert bounds(found) == pytest.approx((0.3562, 0.6649), abs=5e-5)
    assert bounds(win_rate(2, 0, 0)) == pytest.approx((0.1581, 1), abs=5e-5)
    with pytest.raises(ValueError, match="negative"):
        win_rate(1, -1, 1)


@given(COUNTS, COUNTS, COUNTS)
@hypothesis_settings(max_examples=50)
def test_the_win_rates_of_two_sides_make_one(wins: int, ties: int, losses: int):
    one, other = win_rate(wins, ties, losses), win_rate(losses, ties, wins)
    if wins + ties + losses:
        assert one.value is not None and other.value is not None
        assert one.value + other.value == pytest.approx(1)
        assert 0 <= one.value <= 1


def test_unpaired_difference():
    first, second = [6, 7, 8, 9, None], [4.0, 5.0, 5.0]
    found = unpaired_difference(first, second)
    wanted = scipy.stats.ttest_ind([6, 7, 8, 9], second, equal_var=False).confidence_interval()
    assert bounds(found) == pytest.approx((wanted.low, wanted.high))
    assert (found.value, found.n, found.dropped, found.method) == (pytest.approx(7.5 - 14 / 3), 7, 1, "Welch")


def test_unpaired_difference_of_little():
    assert unpaired_difference([], [1]).value is None
    assert unpaired_difference([2], [1, 1]).note == "a group of one unit has no interval"
    assert unpaired_difference([2, 2], [1, 3]).low is None


@given(st.lists(SCORES, min_size=2, max_size=12), st.lists(SCORES, min_size=2, max_size=12))
@hypothesis_settings(max_examples=50)
def test_swapping_groups_flips_the_difference(first: list[float], second: list[float]):
    one, other = unpaired_difference(first, second), unpaired_difference(second, first)
    assert one.value == pytest.approx(-(other.value or 0))
    if one.low is not None:
        low, high = bounds(one)
        assert bounds(other) == pytest.approx((-high, -low))


def test_the_jackknife_of_a_mean_is_students_interval():
    units = [3.0, 5, 6, 6, 7, 9, 9, 10]
    assert bounds(jackknife(units, fmean)) == pytest.approx(bounds(mean_over_tasks(units)))
    assert bounds(jackknife(units, fmean, Kind(high=7)))[1] == 7


def test_the_jackknife_of_little():
    found = jackknife([1, 2, 3, 4, 5], fmean)
    assert (found.value, found.low, found.note) == (3, None, "fewer than 6 units have no interval")
    assert jackknife([], fmean).value is None
    assert jackknife([2] * 6, fmean).note == "nothing varies, so there is no interval"

    def ratio(units: Sequence[int]) -> float | None:
        return fmean(units) / max(units) if max(units) else None

    assert jackknife([0, 0, 0, 0, 0, 1], ratio).note == "the statistic is undefined without some of the units"
    assert jackknife([0] * 6, ratio).note == "the statistic is undefined"


# scipy comes with an extra, and a statistic that needs it says so


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    library.stats.cache_clear()
    library.distance.cache_clear()

    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(library, "import_module", missing)
    yield
    library.stats.cache_clear()
    library.distance.cache_clear()


@pytest.mark.usefixtures("without_scipy")
def test_a_missing_scipy_is_named_with_its_remedy():
    for call in (library.stats, library.distance, lambda: mean_over_tasks([1, 2])):
        with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[evaluation\]'"):
            call()


@pytest.mark.usefixtures("without_scipy")
def test_what_is_mere_arithmetic_needs_no_scipy():
    assert verdict([(2, 1)], [(2, 1)]).outcome == "win"
    assert mean_over_tasks([1]).value == 1


def test_another_missing_module_is_no_missing_extra(monkeypatch: pytest.MonkeyPatch):
    library.stats.cache_clear()

    def missing(name: str) -> object:
        raise ModuleNotFoundError("No module named 'numpy.core'", name="numpy.core")

    monkeypatch.setattr(library, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        library.stats()
    library.stats.cache_clear()
