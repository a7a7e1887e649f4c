"""How values spread: quartiles, without any assumption on their distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from persimchat.evaluation.statistics.values import known


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """The values below which a quarter, a half and three quarters of all values lie.

    Attributes:
        low: the lower quartile; None of nothing, as the others.
        median: the middle.
        high: the upper quartile.
        n: the values that count.
        dropped: the values left out because they are missing.
    """

    low: float | None
    median: float | None
    high: float | None
    n: int
    dropped: int = 0


def quartiles(values: Sequence[float | None]) -> Quartiles:
    """Median and quartiles, interpolated linearly between neighbours (type 7 of Hyndman and Fan 1996).

    Args:
        values: None where one is missing.
    """
    there, missing = known(values)
    if not len(there):
        return Quartiles(low=None, median=None, high=None, n=0, dropped=missing)
    low, median, high = (float(value) for value in np.quantile(there, (0.25, 0.5, 0.75)))
    return Quartiles(low=low, median=median, high=high, n=len(there), dropped=missing)
