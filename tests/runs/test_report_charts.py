"""The arithmetic of the report's plots, and who is who in it."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.runs.reports.charts import Scale, area, bin_size, binned, path, spread, step_for, ticks
from persimchat.runs.reports.report_insights import Series, level_plot
from persimchat.runs.reports.report_people import initials, people


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_a_scale_keeps_order_and_ends(low: float, length: float, one: float, other: float) -> None:
    scale = Scale(low, low + length, 200.0, 10.0)
    assert (scale(low), scale(low + length)) == (200.0, 10.0)
    first, second = sorted((one, other))
    assert scale(low + first * length) >= scale(low + second * length)


def test_a_scale_of_one_value_has_it_in_the_middle() -> None:
    assert Scale(3, 3, 0, 100)(3) == 50


@given(st.floats(1e-6, 1e9), st.integers(1, 12))
def test_steps_are_round_and_few(length: float, most: int) -> None:
    step = step_for(length, most)
    assert length / step <= most * (1 + 1e-6)
    digits = round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6)
    assert digits in (1, 2, 5)


@given(st.integers(-500, 500), st.integers(0, 5000), st.integers(1, 12))
def test_ticks_lie_within(low: int, length: int, most: int) -> None:
    found = ticks(low, low + length, most, least_step=1)
    assert len(found) <= most + 1
    assert all(low <= value <= low + length and value == int(value) for value in found)
    assert found == sorted(set(found))


POINTS = st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 10)), min_size=1, max_size=400)


@given(POINTS, st.integers(1, 50))
def test_thinning_keeps_to_the_limit_and_to_the_mean(points: list[tuple[float, float]], most: int) -> None:
    size = bin_size(len(points), most)
    thin = binned(points, size)
    assert len(thin) <= most
    assert (thin == points) == (len(points) <= most) or size > 1
    if len(points) % size == 0:
        assert sum(y for _, y in thin) / len(thin) == pytest.approx(sum(y for _, y in points) / len(points))
    assert all(min(y for _, y in points) - 1e-9 <= y <= max(y for _, y in points) + 1e-9 for _, y in thin)


@given(st.lists(st.floats(0, 100), max_size=8))
def test_labels_do_not_overlap(places: list[float]) -> None:
    moved = spread(places, 12, 0, 100)
    order = sorted(range(len(places)), key=lambda n: places[n])
    assert all(moved[b] - moved[a] >= 12 - 0.11 for a, b in zip(order, order[1:], strict=False))
    assert all(-0.1 <= place <= 100 for place in moved)


def test_labels_that_are_apart_stay_where_they_are() -> None:
    assert spread([50, 10, 90], 12, 0, 100) == [50, 10, 90]


def test_paths() -> None:
    assert path([(0, 1.5), (2, 3)]) == "M0 1.5L2 3"
    assert area([(0, 1), (2, 3)], 9) == "M0 9L0 1L2 3L2 9Z"
    assert path([]) == area([], 9) == ""


@given(st.lists(st.integers(0, 10), min_size=1, max_size=500), st.integers(1, 24))
def test_every_plot_stays_within_its_picture(levels: list[int], lines: int) -> None:
    series = [Series(f"S{n}", f"S{n}", "p0", list(enumerate(levels))) for n in range(lines)]
    plot = level_plot("T", series)
    for line in plot.lines:
        numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", line.path)]
        assert all(plot.left - 0.1 <= x <= plot.right + 0.1 for x in numbers[::2])
        assert all(plot.top - 5 <= y <= plot.bottom + 5 for y in numbers[1::2])
        assert plot.top <= line.label_y <= plot.height


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Eva Horáková", "EH"), ("Bo", "B"), ("李雷", "李"), ("Anna Maria dos Santos", "AS"), ("*** !", "?"), ("", "?")],
)
def test_initials(name: str, expected: str) -> None:
    assert initials(name) == expected


@given(st.lists(st.text("ABab ", min_size=1, max_size=5), unique=True, max_size=20))
def test_everybody_has_initials_of_their_own(names: list[str]) -> None:
    found = people(names)
    assert len({person.initials for person in found.values()}) == len(names)
    assert [person.place for person in found.values()] == list(range(len(names)))
