"""Verdicts on pairs: known values, their edges, and what holds for all scores."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.verdicts import Scores, entropy, verdict

SCORES = st.tuples(st.integers(1, 10), st.integers(1, 10))
ORDER = st.lists(st.none() | SCORES, max_size=4)


def test_the_example():
    found = verdict([(8, 6), (7, 7), (9, 6)], [(7, 8), (7, 7), (8, 7)])
    assert (found.outcome, found.missing) == ("win", "")
    assert (found.score_a, found.score_b) == (Fraction(46, 6), Fraction(41, 6))
    assert found.bpde == pytest.approx(1.0114, abs=5e-5)
    assert found.position == Fraction(5, 6)
    assert (found.alone, found.conflict) == (("win", "tie"), True)
    assert (found.n, found.dropped) == (6, 0)


def test_a_judge_that_favours_the_first():
    found = verdict([(8, 6)] * 3, [(6, 8)] * 3)
    assert (found.outcome, found.position, found.conflict, found.bpde) == ("tie", 2, True, pytest.approx(log(2)))
    alone = verdict([(8, 6)] * 3, None)
    assert (alone.outcome, alone.position, alone.conflict, alone.bpde) == ("win", None, None, None)
    assert (alone.score_a, alone.score_b, alone.n) == (8, 6, 3)


def test_both_orders_weigh_the_same():
    """Pooled, A would have 25 of 4 answers against 24; by order, B is ahead."""
    found = verdict([(7, 6), (7, 6), (7, 6)], [(4, 6), None, None])
    assert (found.outcome, found.score_a, found.score_b) == ("loss", Fraction(11, 2), 6)
    assert (found.n, found.dropped) == (4, 2)


def test_one_order_only_is_no_verdict():
    for orders in (([(9, 1)], [None, None]), ([None], [(9, 1)])):
        found = verdict(*orders)
        assert (found.outcome, found.missing, found.score_a, found.bpde) == (None, "one order only", None, None)
        assert "win" in found.alone
    assert verdict([None], [None]).missing == verdict([None], None).missing == verdict([], []).missing == "no answer"


def test_rounding_makes_and_breaks_no_tie():
    found = verdict([(0.1, 0.3), (0.2, 0)], [(7, 7)])
    assert (found.outcome, found.score_a) == ("tie", Fraction(143, 40))


def test_entropy():
    assert entropy(["win"] * 6) == 0
    assert str(entropy(["win"])) == "0.0"
    assert entropy(["win", "tie", "loss"]) == pytest.approx(log(3))


def swapped(order: list[Scores | None]) -> list[Scores | None]:
    return [pair and (pair[1], pair[0]) for pair in order]


@given(ORDER, ORDER)
@hypothesis_settings(max_examples=50)
def test_swapping_the_two_turns_the_verdict_round(first: list[Scores | None], second: list[Scores | None]):
    one, other = verdict(first, second), verdict(swapped(second), swapped(first))
    assert other.outcome == {"win": "loss", "loss": "win", "tie": "tie", None: None}[one.outcome]
    assert (other.score_a, other.score_b) == (one.score_b, one.score_a)
    assert (other.position, other.conflict, other.missing) == (one.position, one.conflict, one.missing)
    assert other.bpde == (None if one.bpde is None else pytest.approx(one.bpde))
    assert one.bpde is None or 0 <= one.bpde <= log(3) + 1e-12


@given(st.lists(SCORES, min_size=3, max_size=3), st.lists(SCORES, min_size=3, max_size=3))
@hypothesis_settings(max_examples=50)
def test_with_nothing_missing_it_is_the_mean_of_all_scores(first: list[Scores], second: list[Scores]):
    found = verdict(first, second)
    total = sum(Fraction(a) - Fraction(b) for a, b in [*first, *second])
    assert found.outcome == ("win" if total > 0 else "loss" if total < 0 else "tie")
    assert found.score_a == sum(Fraction(a) for a, _ in [*first, *second]) / 6
