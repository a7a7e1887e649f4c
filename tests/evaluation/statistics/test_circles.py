"""Circles: found, named in the order of who beats whom, and none where one thing wins against all."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from persimchat.evaluation.published.paper import published
from persimchat.evaluation.statistics.circles import circular_triads


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
