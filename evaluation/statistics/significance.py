"""How many pairs a study needs before it is held: the power of the sign test, computed exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from .effects import signed_ranks
from .intervals import Numbers, known, ranked_alike, stats

LEVEL: Final = 0.05
"""A two-sided p up to this counts as a finding."""
MOST: Final = 5_000
"""The most decided pairs that are looked at."""


def sign_test_power(true_share: float, decided: int) -> float:
    """The chance that a sign test finds a difference that is there, 0–1.

    The test is the exact two-sided one at 0.05. Its power is Σ b(k; n, share) over the outcomes k that it calls a
    finding. Source: the definition; `scipy.stats.binom`.

    Args:
        true_share: the share of decided pairs that the first really wins, 0–1.
        decided: pairs that are no ties.

    Raises:
        ValueError: the share is not between 0 and 1, or the number is negative.
    """
    if not 0 <= true_share <= 1 or decided < 0:
        raise ValueError(f"a share of {true_share} in {decided} pairs")
    binomial = stats().binom
    wins = np.arange(decided + 1)
    tail = binomial.cdf(np.minimum(wins, decided - wins), decided, 0.5)
    found = np.minimum(1.0, 2 * tail) <= LEVEL
    return float(min(1.0, binomial.pmf(wins[found], decided, true_share).sum()))


def decided_pairs_needed(true_share: float, power: float = 0.8) -> int | None:
    """The fewest decided pairs with which a sign test has this power.

    One pair more can lower an exact test's power a little, for outcomes are whole numbers: the number given is the
    first that reaches the power.

    Args:
        true_share: the share of decided pairs that the first really wins, 0–1.
        power: 0–1, 1 excluded.

    Returns:
        None where even `MOST` pairs do not suffice, as for a share of one half.

    Raises:
        ValueError: share or power are out of range.
    """
    if not 0 < power < 1:
        raise ValueError(f"a power of {power}")
    numbers = (n for n in range(1, MOST + 1) if sign_test_power(true_share, n) >= power)
    return next(numbers, None) if sign_test_power(true_share, MOST) >= power else None


def share_found(decided: int, power: float = 0.8) -> float | None:
    """The smallest true share of decided pairs that a sign test finds with this power, to three digits.

    Args:
        decided: pairs that are no ties.
        power: 0–1, 1 excluded.

    Returns:
        0.5–1; None if not even a share of 1 is found, as with fewer than six pairs.

    Raises:
        ValueError: the number or the power is out of range.
    """
    if not 0 < power < 1:
        raise ValueError(f"a power of {power}")
    low, high = 500, 1000  # thousandths; the power rises with the share
    if sign_test_power(1.0, decided) < power:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sign_test_power(middle / 1000, decided) >= power else (middle + 1, high)
    return high / 1000


# The verdict on a pair of conversations from a judge's scores in both orders, in exact fractions


Outcome = Literal["win", "tie", "loss"]
Scores = tuple[int | float | Fraction, int | float | Fraction]
"""The scores of A and of B, whichever of them was shown first."""
Missing = Literal["", "no answer", "one order only"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the scores of one pair say.

    Attributes:
        outcome: of A against B; None where it is missing.
        missing: why there is no outcome; empty where there is one.
        score_a: A's mean score, each order weighing the same; None without an outcome.
        score_b: B's.
        alone: what either order by itself would have said, (A, B) first; None for an order without answers.
        position: (d₁ − d₂)/2, where d is the mean of A − B in an order: above 0, the judge favours what is shown
            first. None unless both orders have answers.
        conflict: whether the two orders say different things; None unless both have answers.
        bpde: the entropy of the single verdicts, 0 to ln 3: how undecided the judge is; None unless both orders have
            answers.
        n: valid answers.
        dropped: invalid answers.
    """

    outcome: Outcome | None
    missing: Missing
    score_a: Fraction | None
    score_b: Fraction | None
    alone: tuple[Outcome | None, Outcome | None]
    position: Fraction | None
    conflict: bool | None
    bpde: float | None
    n: int
    dropped: int

    @property
    def difference(self) -> float | None:
        """A's mean score minus B's; None without an outcome."""
        return None if self.score_a is None or self.score_b is None else float(self.score_a - self.score_b)


def verdict(a_first: Sequence[Scores | None], b_first: Sequence[Scores | None] | None) -> Verdict:
    """The verdict on A against B.

    The outcome is the sign of d₁ + d₂, where d is the mean of A − B in an order: where no answer is missing, that is
    the comparison of the means of all 2k scores. Without a valid answer in one order there is no verdict, because the
    favour for a position would stay in it.

    Args:
        a_first: the scores of (A, B) with A shown first; None for an invalid answer.
        b_first: the scores of (A, B), too, with B shown first; None as a whole where that order was not asked. Then
            the first order alone decides.
    """
    orders = [_valid(a_first), _valid(b_first or ())]
    asked = len(a_first) + len(b_first or ())
    single = [_outcome(a - b) for order in orders for a, b in order]
    differences = [_mean([a - b for a, b in order]) for order in orders]
    alone = tuple(None if difference is None else _outcome(difference) for difference in differences)
    first, second = differences
    counted = orders if b_first is not None else orders[:1]
    missing: Missing = "" if all(counted) else "one order only" if any(counted) else "no answer"
    position = conflict = bpde = None
    if first is not None and second is not None:
        position, conflict, bpde = (first - second) / 2, alone[0] != alone[1], entropy(single)
    a, b = (None if missing else _mean([_mean([pair[side] for pair in order]) for order in counted]) for side in (0, 1))
    return Verdict(
        outcome=None if a is None or b is None else _outcome(a - b),
        missing=missing,
        score_a=a,
        score_b=b,
        alone=(alone[0], alone[1]),
        position=position,
        conflict=conflict,
        bpde=bpde,
        n=len(single),
        dropped=asked - len(single),
    )


def entropy(outcomes: Sequence[Outcome]) -> float:
    """−Σ p ln p over win, tie and loss, 0 to ln 3 (FairEval's balanced position diversity entropy)."""
    shares = [count / len(outcomes) for count in Counter(outcomes).values()]
    return -sum(share * math.log(share) for share in shares) + 0.0  # -0.0 becomes 0.0


def _valid(order: Sequence[Scores | None]) -> list[tuple[Fraction, Fraction]]:
    """The valid answers as exact fractions: 8.1 is 81/10, not its nearest binary number."""
    return [(_exact(pair[0]), _exact(pair[1])) for pair in order if pair is not None]


def _exact(score: float | Fraction) -> Fraction:
    return score if isinstance(score, Fraction) else Fraction(str(score))


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    there = [value for value in values if value is not None]
    return sum(there, Fraction()) / len(there) if there else None


def _outcome(difference: Fraction) -> Outcome:
    return "win" if difference > 0 else "loss" if difference < 0 else "tie"


# Tests: how often chance alone would bring a difference at least as large as the one observed


Alternative = Literal["two-sided", "greater", "less"]
_EXACT_UP_TO: Final = 50
"""Units up to which a rank test is exact; beyond, the normal approximation is as good."""
_REACHES: Final = 6
"""The fewest differences with which a two-sided p can be below 0.05: 2/2⁶ = 0.03125."""
_NORMAL: Final = "normal approximation"
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


def wilcoxon(differences: Sequence[float | None], *, alternative: Alternative = "two-sided") -> Significance:
    """Whether differences lie around zero: Wilcoxon's signed-rank test; its statistic is W⁺.

    Zeros are left out. p is exact up to 50 differences, with ties, too: from the distribution of W⁺ over all patterns
    of signs, by convolution. Beyond, it comes from the normal approximation. p = 1 where every difference is zero.
    Source: Wilcoxon 1945; `scipy.stats.wilcoxon`, which has no exact p with ties.

    Args:
        differences: one a unit, first minus second; None where one of the two is missing.
        alternative: "greater" tests whether the first is greater.
    """
    ranks = signed_ranks(differences)
    used = ranks.differences
    n = len(used)
    told: dict[str, Any] = {"test": "Wilcoxon signed-rank", "n": n, "ties": ranks.zeros, "dropped": ranks.missing}
    if not n:
        p = 1.0 if ranks.zeros else None
        note = "every difference is zero" if ranks.zeros else "there are no differences"
        return Significance(statistic=None, p=p, method="none", note=note, **told)
    told["statistic"] = ranks.positive
    if n <= _EXACT_UP_TO:
        p, method = _signed_rank_p(np.abs(ranks.signed), ranks.positive, alternative), "exact"
    else:
        p, method = stats().wilcoxon(used, alternative=alternative, method="asymptotic").pvalue, _NORMAL
    note = _TOO_FEW if n < _REACHES and alternative == "two-sided" else ""
    return Significance(p=_share(p), method=method, note=note, **told)


def mann_whitney(first: Sequence[float | None], second: Sequence[float | None]) -> Significance:
    """Whether one of two groups that share no tasks tends to greater values: the Mann–Whitney test; its statistic is U.

    Exact up to 50 units a group, with ties, too; beyond as in `wilcoxon`. None where a group has fewer than two values.
    Source: Mann and Whitney 1947; `scipy.stats.mannwhitneyu`.
    """
    (a, missing_a), (b, missing_b) = known(first), known(second)
    told: dict[str, Any] = {"test": "Mann–Whitney", "n": len(a) + len(b), "dropped": missing_a + missing_b}
    if len(a) < 2 or len(b) < 2:
        note = "a group has fewer than two values"
        return Significance(statistic=None, p=None, method="none", note=note, **told)
    together = ranked_alike(np.concatenate([a, b]))
    found = stats().mannwhitneyu(together[: len(a)], together[len(a) :], method="asymptotic")
    p, method = found.pvalue, _NORMAL
    if max(len(a), len(b)) <= _EXACT_UP_TO:
        p, method = _rank_sum_p(stats().rankdata(together), len(a)), "exact"
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
    A family is all that a file tests. Source: Holm 1979.

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


def _signed_rank_p(ranks: Numbers, positive: float, alternative: Alternative) -> float:
    """The exact p of W⁺ with ties: the distribution of the sum of signed ranks, one rank after the other."""
    twice = np.rint(2 * ranks).astype(int)  # ties share their mean rank, which may be half a number
    chances = np.zeros(twice.sum() + 1)
    chances[0] = 1.0
    for rank in twice:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return _tails(chances, round(2 * positive), alternative)


def _rank_sum_p(ranks: Numbers, taken: int) -> float:
    """The exact two-sided p of the first `taken` ranks' sum with ties: all ways to take as many, rank by rank."""
    twice = np.rint(2 * ranks).astype(int)
    ways = np.zeros((taken + 1, twice.sum() + 1))
    ways[0, 0] = 1.0
    for rank in twice:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    return _tails(ways[taken] / ways[taken].sum(), int(twice[:taken].sum()), "two-sided")


def _tails(chances: Numbers, found: int, alternative: Alternative) -> float:
    up, down = float(chances[found:].sum()), float(chances[: found + 1].sum())
    return {"greater": up, "less": down, "two-sided": 2 * min(up, down)}[alternative]


def _share(value: float) -> float:
    """A number between 0 and 1, which rounding may have pushed past an end."""
    return min(1.0, max(0.0, float(value)))
