"""Tests: how often chance alone would bring a difference at least as large as the one observed.

All are two-sided unless asked otherwise. A p-value never comes without its method and the number of units, and says
nothing of how large a difference is: effects and intervals do. Permutations are exact where all of them can be counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from persimchat.evaluation.statistics.effects import signed_ranks
from persimchat.evaluation.statistics.library import stats
from persimchat.evaluation.statistics.values import Numbers, have_ties, known, ranked_alike

Alternative = Literal["two-sided", "greater", "less"]
PERMUTATIONS: Final = 9_999
"""Permutations are all counted up to this number; of more, so many are drawn."""
_EXACT_UP_TO: Final = 50
"""Units up to which a rank test without ties is exact; beyond, the normal approximation is as good."""
_REACHES: Final = 6
"""The fewest differences with which a two-sided p can be below 0.05: 2/2⁶ = 0.03125."""
_TOO_FEW: Final = f"fewer than {_REACHES} differences cannot reach p < 0.05"


@dataclass(frozen=True, kw_only=True)
class Significance:
    """The outcome of a test.

    Attributes:
        test: its name.
        statistic: of the test; None where there is none.
        p: 0–1; None where there is nothing to test.
        method: how p is computed.
        n: the units that count in the test.
        ties: the units without a difference, which are left out.
        dropped: the units left out because a value is missing.
        note: what a reader must know; empty where that is nothing.
    """

    test: str
    statistic: float | None
    p: float | None
    method: str
    n: int
    ties: int = 0
    dropped: int = 0
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Ranking(Significance):
    """The outcome of Friedman's test.

    Attributes:
        systems: how many were compared.
        kendall_w: how far the raters agree on the order, 0–1; None where it is undefined.
    """

    systems: int
    kendall_w: float | None


def sign_test(wins: int, losses: int, ties: int = 0) -> Significance:
    """Whether wins and losses are equally likely: the exact binomial test, ties left out.

    All ties give p = 1. Source: Dixon and Mood 1946; `scipy.stats.binomtest`.

    Raises:
        ValueError: a count is negative.
    """
    return _binomial("sign test", wins, losses, ties)


def mcnemar(first_only: int, second_only: int) -> Significance:
    """Whether two methods are right equally often on the same items: McNemar's exact test.

    Only items count that exactly one of the two answered rightly; where there are none, p = 1. Source: McNemar 1947;
    `scipy.stats.binomtest`.

    Args:
        first_only: items that only the first method answered rightly.
        second_only: items that only the second did.

    Raises:
        ValueError: a count is negative.
    """
    return _binomial("McNemar", first_only, second_only, 0)


def wilcoxon(
    differences: Sequence[float | None], *, alternative: Alternative = "two-sided", seed: int = 0
) -> Significance:
    """Whether differences lie around zero: Wilcoxon's signed-rank test; its statistic is W⁺.

    Zeros are left out. Without ties, p is exact up to 50 differences, and from the normal approximation beyond. With
    ties, the exact distribution does not hold: then all 2ⁿ patterns of signs are counted, or 9,999 drawn where there
    are more. p = 1 where every difference is zero. Source: Wilcoxon 1945; `scipy.stats.wilcoxon`.

    Args:
        differences: one a unit, first minus second; None where one of the two is missing.
        alternative: "greater" tests whether the first is greater.
        seed: of the permutations that are drawn.
    """
    ranks = signed_ranks(differences)
    used = ranks.differences
    n = len(used)
    told: dict[str, Any] = {"test": "Wilcoxon signed-rank", "n": n, "ties": ranks.zeros, "dropped": ranks.missing}
    if not n:
        p = 1.0 if ranks.zeros else None
        note = "every difference is zero" if ranks.zeros else "there are no differences"
        return Significance(statistic=None, p=p, method="none", note=note, **told)
    tied, told["statistic"] = have_ties(np.abs(used)), ranks.positive
    if tied:
        p, method = _permuted((ranks.signed,), 2**n, "patterns of signs", alternative, seed)
    else:
        how, method = _untied(n)
        p = stats().wilcoxon(used, alternative=alternative, method=how).pvalue
    note = _TOO_FEW if n < _REACHES and alternative == "two-sided" else ""
    return Significance(p=_share(p), method=method, note=note, **told)


def mann_whitney(first: Sequence[float | None], second: Sequence[float | None], *, seed: int = 0) -> Significance:
    """Whether one of two groups that share no tasks tends to greater values: the Mann–Whitney test; its statistic is U.

    Exact without ties up to 50 units a group, else as in `wilcoxon`. None where a group has fewer than two values.
    Source: Mann and Whitney 1947; `scipy.stats.mannwhitneyu`.
    """
    (a, missing_a), (b, missing_b) = known(first), known(second)
    a, b = ranked_alike(a), ranked_alike(b)
    told: dict[str, Any] = {"test": "Mann–Whitney", "n": len(a) + len(b), "dropped": missing_a + missing_b}
    if len(a) < 2 or len(b) < 2:
        note = "a group has fewer than two values"
        return Significance(statistic=None, p=None, method="none", note=note, **told)
    tied = have_ties(a, b)
    how, method = _untied(max(len(a), len(b)))
    found = stats().mannwhitneyu(a, b, alternative="two-sided", method="asymptotic" if tied else how)
    p = found.pvalue
    if tied:
        ranks = stats().rankdata(np.concatenate([a, b]))
        ways = math.comb(len(ranks), len(a))
        p, method = _permuted((ranks[: len(a)], ranks[len(a) :]), ways, "divisions into two groups", "two-sided", seed)
    return Significance(statistic=float(found.statistic), p=_share(p), method=method, **told)


def friedman(ratings: Sequence[Sequence[float | None]]) -> Ranking:
    """Whether raters who rated the same systems prefer some: Friedman's test and Kendall's W = χ²/(n(k−1)).

    A rater who lacks a system is left out. p comes from the χ² distribution with k − 1 degrees of freedom, which is
    rough for few raters. p = 1 where no rater tells the systems apart; None for fewer than three systems or two raters.
    Source: Friedman 1937, Kendall and Babington Smith 1939; `scipy.stats.friedmanchisquare`.

    Args:
        ratings: one row a rater, one column a system.

    Raises:
        ValueError: the rows have different lengths.
    """
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("the raters have different systems")
    systems = len(ratings[0]) if ratings else 0
    complete = [known(row).values for row in ratings if None not in row]
    n = len(complete)
    told: dict[str, Any] = {"test": "Friedman", "n": n, "dropped": len(ratings) - n, "systems": systems}
    nothing: dict[str, Any] = {"statistic": None, "kendall_w": None, "method": "none"}
    if systems < 3 or n < 2:
        return Ranking(p=None, note="Friedman's test needs three systems and two raters", **nothing, **told)
    table = ranked_alike(np.array(complete))
    if (np.ptp(table, axis=1) == 0).all():
        return Ranking(p=1.0, note="no rater tells the systems apart", **nothing, **told)
    found = stats().friedmanchisquare(*table.T)
    chi2 = float(found.statistic)
    note = "with ten raters or fewer, p is rough" if n <= 10 else ""
    method = f"χ² approximation, {systems - 1} degrees of freedom"
    w = _share(chi2 / (n * (systems - 1)))
    return Ranking(statistic=chi2, p=_share(found.pvalue), method=method, kendall_w=w, note=note, **told)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjustment of a family of p-values: sorted, p × (m − i), running maximum, cut at 1.

    The chance of even one false finding in the family stays below the level. None stays None and does not count in m.
    A family is one measure with all pairs compared. Source: Holm 1979.

    Raises:
        ValueError: a p-value is not between 0 and 1.
    """
    there = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if not all(0 <= p <= 1 for p, _ in there):
        raise ValueError("a p-value is between 0 and 1")
    adjusted: list[float | None] = [None] * len(p_values)
    greatest = 0.0
    for i, (p, place) in enumerate(there):
        greatest = max(greatest, min(1.0, p * (len(there) - i)))
        adjusted[place] = greatest
    return adjusted


def _binomial(test: str, first: int, second: int, ties: int) -> Significance:
    if min(first, second, ties) < 0:
        raise ValueError("a count is negative")
    n = first + second
    p = _share(stats().binomtest(min(first, second), n).pvalue) if n else 1.0
    note = _TOO_FEW if n < _REACHES else ""
    return Significance(test=test, statistic=float(first), p=p, method="exact binomial", n=n, ties=ties, note=note)


def _untied(n: int) -> tuple[str, str]:
    """How scipy is to compute p of a rank test of `n` units without ties, and the same in words."""
    return ("exact", "exact") if n <= _EXACT_UP_TO else ("asymptotic", "normal approximation")


def _permuted(
    ranks: tuple[Numbers, ...], ways: int, what: str, alternative: Alternative, seed: int
) -> tuple[float, str]:
    """The p of a rank test with ties, and its method in words.

    This is what scipy's own tests do with `PermutationMethod`, for all permutations at once: ranks stay the same
    whichever way they are permuted, so they need not be computed again for each.

    Args:
        ranks: with their signs where there is one group; else each group's.
        ways: how many permutations there are.
        what: what is permuted.
        alternative: to the hypothesis that all permutations are equally likely.
        seed: of the permutations that are drawn.
    """

    def statistic(first: Numbers, *_: Numbers, axis: int) -> Numbers:
        total: Numbers = np.maximum(first, 0).sum(axis=axis)
        return total

    found = stats().permutation_test(
        ranks,
        statistic,
        permutation_type="samples" if len(ranks) == 1 else "independent",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        alternative=alternative,
        rng=np.random.default_rng(seed),
    )
    drawn = f"all {ways:,} {what}" if ways <= PERMUTATIONS else f"{PERMUTATIONS:,} random {what}, seed {seed}"
    return float(found.pvalue), f"permutation, {drawn}"


def _share(value: float) -> float:
    """A number between 0 and 1, which rounding may have pushed past an end."""
    return min(1.0, max(0.0, float(value)))
