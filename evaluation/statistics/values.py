"""What statistics are given: numbers, and None where a value is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
DECIMALS: Final = 9
"""Values are ranked to so many decimals, so that the arithmetic of averages neither makes nor breaks a tie."""


class Known(NamedTuple):
    """The values that are there.

    Attributes:
        values: in the order given.
        missing: how many were None.
    """

    values: Numbers
    missing: int


def known(given: Sequence[float | None]) -> Known:
    """Leave out what is missing.

    Raises:
        ValueError: a value is infinite or not a number.
    """
    values = np.array([value for value in given if value is not None], dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a value is infinite or not a number; a missing value is None")
    return Known(values, len(given) - len(values))


def ranked_alike(values: Numbers) -> Numbers:
    """Values to `DECIMALS` decimals, so that what is equal but for rounding has the same rank."""
    rounded: Numbers = np.round(values, DECIMALS) + 0.0  # -0.0 becomes 0.0
    return rounded


def have_ties(*groups: Numbers) -> bool:
    """Whether two of all values are equal."""
    together = np.concatenate(groups)
    return len(np.unique(together)) < len(together)
