"""Tests of significance: known values, their edges, and what holds for all numbers."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from math import log

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from persimchat.evaluation.statistics.effects import signed_ranks
from persimchat.evaluation.statistics.significance import (
    Scores,
    decided_pairs_needed,
    entropy,
    friedman,
    holm,
    mann_whitney,
    mcnemar,
    share_found,
    sign_test,
    sign_test_power,
    verdict,
    wilcoxon,
)

COUNTS = st.integers(0, 60)
STEPS = st.none() | st.integers(-5, 5)
P = st.floats(0, 1)


def test_mcnemar():
    found = mcnemar(8, 2)
    assert found.p == pytest.approx(112 / 1024)
    assert (found.method, found.n, found.statistic) == ("exact binomial", 10, 8)
    assert mcnemar(0, 0).p == 1
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 2)


@pytest.mark.parametrize(("wins", "losses", "p"), [(17, 16, 1.0), (14, 18, 0.5966), (18, 23, 0.5327)])
def test_sign_test(wins: int, losses: int, p: float):
    found = sign_test(wins, losses, ties=11)
    assert found.p == pytest.approx(p, abs=5e-5)
    assert (found.n, found.ties) == (wins + losses, 11)


def test_all_ties():
    found = sign_test(0, 0, ties=9)
    assert (found.p, found.n, found.ties) == (1, 0, 9)


def test_too_few_to_find_anything():
    assert sign_test(5, 0).note == wilcoxon([1, 2, 3, 4, 5]).note == "fewer than 6 differences cannot reach p < 0.05"
    assert sign_test(6, 0).note == wilcoxon([1, 2, 3, 4, 5, 6]).note == ""
    assert (sign_test(5, 0).p or 0) > 0.05 > (sign_test(6, 0).p or 1)
    assert (wilcoxon([1, 2, 3, 4, 5]).p or 0) > 0.05 > (wilcoxon([1, 2, 3, 4, 5, 6]).p or 1)


@given(COUNTS, COUNTS)
@hypothesis_settings(max_examples=50)
def test_the_sign_test_does_not_care_who_is_first(wins: int, losses: int):
    p = sign_test(wins, losses).p
    assert p == sign_test(losses, wins).p
    assert p is not None and 0 <= p <= 1


def test_wilcoxon_without_ties():
    found = wilcoxon([1, 2, -3, 4, 5])
    ranks = signed_ranks([1, 2, -3, 4, 5])
    assert (ranks.positive, ranks.negative) == (12, 3)
    assert (found.statistic, found.p, found.method, found.n) == (12, 0.3125, "exact", 5)
    assert wilcoxon([1, 2, -3, 4, 5], alternative="greater").p == 0.15625


def test_wilcoxon_with_ties():
    found = wilcoxon([1, 1, -1, 2, 2])
    assert found.p == 8 / 32  # the exact distribution without ties would say 0.1875
    assert found.method == "exact"
    hundred = wilcoxon([1, 2, 2, 3, 3, 3, 4, 4] * 3)
    assert (hundred.p, hundred.method) == (2 / 2**24, "exact")


def test_wilcoxon_of_many_without_ties():
    fifty = [i if i % 3 else -i for i in range(1, 51)]
    assert wilcoxon(fifty).method == "exact"
    assert wilcoxon([*fifty, 51]).method == "normal approximation"


def test_wilcoxon_leaves_zeros_and_missing_out():
    found = wilcoxon([1, 0, 2, None, -3, 4, 0, 5])
    assert (found.p, found.n, found.ties, found.dropped) == (0.3125, 5, 2, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = wilcoxon([0, 0, 0])
    assert (nothing.p, nothing.statistic, nothing.note) == (1, None, "every difference is zero")
    assert wilcoxon([None]).p is None


def test_rounding_makes_no_difference():
    """0.1 + 0.2 − 0.3 is no difference, and 0.3 − 0.2 ties with 0.1."""
    found = wilcoxon([0.1 + 0.2 - 0.3, 0.3 - 0.2, 0.1, 0.1, -0.1, 0.2])
    assert (found.n, found.ties) == (5, 1)
    assert found.p == wilcoxon([1, 1, 1, -1, 2]).p


def test_exact_p_of_two_groups_with_ties_is_that_of_counting_everything():
    """scipy counts all divisions, one by one."""
    first, second = [1, 1, 1, -1, 2, 2], [2, 2, 5, 3, 3, 1, 4, 8]
    few = scipy.stats.PermutationMethod(n_resamples=9_999)
    assert mann_whitney(first, second).p == pytest.approx(scipy.stats.mannwhitneyu(first, second, method=few).pvalue)


def test_ranks_do_not_care_for_the_unit():
    differences = [0.1, -0.2, 0.3, 0.3, -0.1, 0.5, 0.7]
    for unit in (1e-12, 1e9):
        assert wilcoxon([unit * one for one in differences]).p == wilcoxon(differences).p


def by_hand(differences: list[int]) -> float:
    """The two-sided p of W⁺ by counting every pattern of signs."""
    sizes = [abs(d) for d in differences if d]
    ranks = [sum(s < size for s in sizes) + (sum(s == size for s in sizes) + 1) / 2 for size in sizes]
    observed = sum(rank for rank, d in zip(ranks, [d for d in differences if d], strict=True) if d > 0)
    all_of_them = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in product((0, 1), repeat=len(ranks))
    ]
    up, down = (sum(w >= observed for w in all_of_them), sum(w <= observed for w in all_of_them))
    return min(1.0, 2 * min(up, down) / len(all_of_them))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=7).filter(any))
@hypothesis_settings(max_examples=25)
def test_wilcoxon_equals_counting_by_hand(differences: list[int]):
    assert wilcoxon(differences).p == pytest.approx(by_hand(differences))


@given(st.lists(STEPS, max_size=9))
@hypothesis_settings(max_examples=25)
def test_wilcoxon_does_not_care_who_is_first(differences: list[int | None]):
    one, other = wilcoxon(differences), wilcoxon([None if d is None else -d for d in differences])
    assert one.p == (None if other.p is None else pytest.approx(other.p))
    assert one.p is None or 0 <= one.p <= 1
    assert one.n + one.ties + one.dropped == len(differences)


def test_mann_whitney():
    found = mann_whitney([1, 2, 3, None], [2, 3, 4])
    assert (found.statistic, found.n, found.dropped) == (2, 6, 1)
    assert found.method == "exact"
    apart = mann_whitney([1, 2, 3], [4, 5, 6])
    assert (apart.p, apart.method) == (pytest.approx(2 / 20), "exact")
    assert mann_whitney([], [1, 2]).p is None
    assert mann_whitney([1, 2], [1, None]).note == "a group has fewer than two values"
    assert mann_whitney([1, 1], [1, 1]).p == 1


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.lists(st.integers(0, 9), min_size=2, max_size=5))
@hypothesis_settings(max_examples=30)
def test_mann_whitney_does_not_care_who_is_first(first: list[int], second: list[int]):
    one, other = mann_whitney(first, second), mann_whitney(second, first)
    assert one.p is not None and 0 <= one.p <= 1
    assert one.p == pytest.approx(other.p)
    assert (one.statistic or 0) + (other.statistic or 0) == len(first) * len(second)


def test_friedman():
    found = friedman([(8, 6, 5), (7, 5, 6), (9, 7, 6), (9, None, 1)])
    assert found.statistic == pytest.approx(4.6667, abs=5e-5)
    assert found.p == pytest.approx(0.0970, abs=5e-5)
    assert found.kendall_w == pytest.approx(0.7778, abs=5e-5)
    assert (found.n, found.dropped, found.systems) == (3, 1, 3)
    assert found.method == "χ² approximation, 2 degrees of freedom"


def test_friedman_of_little():
    assert friedman([]).p is None
    assert friedman([(1, 2), (2, 1)]).p is None
    assert friedman([(1, 2, 3)]).p is None
    alike = friedman([(5, 5, 5), (7, 7, 7)])
    assert (alike.p, alike.kendall_w) == (1, None)
    with pytest.raises(ValueError, match="different systems"):
        friedman([(1, 2, 3), (1, 2)])


@given(st.lists(st.tuples(*[st.integers(1, 10)] * 3), min_size=2, max_size=8), st.permutations([0, 1, 2]))
@hypothesis_settings(max_examples=25)
def test_friedman_does_not_care_for_the_order(ratings: list[tuple[int, ...]], order: list[int]):
    one, other = friedman(ratings), friedman([[row[i] for i in order] for row in reversed(ratings)])
    assert one.p is not None and 0 <= one.p <= 1
    assert one.p == pytest.approx(other.p)
    assert one.kendall_w is None or 0 <= one.kendall_w <= 1


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([None, 0.01, None, 0.04, 0.03]) == [None, pytest.approx(0.03), None, *[pytest.approx(0.06)] * 2]
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([]) == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.5])


@given(st.lists(st.none() | P, max_size=8))
@hypothesis_settings(max_examples=50)
def test_holm_raises_and_keeps_the_order(ps: list[float | None]):
    adjusted = holm(ps)
    both = [(p, q) for p, q in zip(ps, adjusted, strict=True) if p is not None and q is not None]
    assert [p is None for p in ps] == [q is None for q in adjusted]
    assert all(p <= q <= 1 for p, q in both)
    for p, q in both:
        assert all(q <= q2 for p2, q2 in both if p < p2)


def test_what_so_many_pairs_find():
    """The first share, in thousandths, with the power; below six pairs nothing is ever found."""
    found = share_found(199)
    assert found is not None and found <= 0.6
    assert sign_test_power(found, 199) >= 0.8 > sign_test_power(found - 0.001, 199)
    assert share_found(5) is None
    assert share_found(6) == pytest.approx(0.8 ** (1 / 6), abs=1e-3)  # all six have to be won
    with pytest.raises(ValueError, match="a power of 1"):
        share_found(6, 1)


def test_power():
    assert sign_test_power(0.6, 199) == pytest.approx(0.804, abs=5e-4)
    assert sign_test_power(0.5, 5) == 0
    assert sign_test_power(0.5, 0) == 0
    assert sign_test_power(1.0, 6) == 1
    with pytest.raises(ValueError, match="a share of 2"):
        sign_test_power(2, 5)


def test_how_many_decided_pairs_are_needed():
    assert decided_pairs_needed(0.6) == decided_pairs_needed(0.4) == 199
    assert decided_pairs_needed(1.0) == 6
    assert decided_pairs_needed(0.5) is None
    with pytest.raises(ValueError, match="a power of 1"):
        decided_pairs_needed(0.6, 1)


@given(st.integers(0, 1000).map(lambda thousandths: thousandths / 1000), st.integers(0, 80))
@hypothesis_settings(max_examples=25)
def test_power_is_a_share_and_the_same_from_both_sides(share: float, decided: int):
    power = sign_test_power(share, decided)
    assert 0 <= power <= 1
    assert power == pytest.approx(sign_test_power(1 - share, decided), abs=1e-9)
    assert sign_test_power(0.5, decided) <= 0.05


# Verdicts on pairs: known values, their edges, and what holds for all scores


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
