"""How many pairs a study needs before it is held: the power of the sign test, computed exactly."""

from __future__ import annotations

from typing import Final

import numpy as np

from persimchat.evaluation.statistics.library import stats

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
