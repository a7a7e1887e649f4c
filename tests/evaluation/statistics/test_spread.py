"""Quartiles: values by hand, and what must hold of any."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.evaluation.statistics.spread import Quartiles, quartiles


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
