"""Which cells may start under a budget: pure arithmetic.

A cell reserves more than it is expected to use, and runs with its reserve as its own budget. So the sum stays below the
budget without a counter that all cells share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

RESERVE: Final = 1.25
"""What a cell reserves, as a multiple of what it is expected to use."""
RESERVE_OF_SCRIPT: Final = 2.5
"""The same of a baseline that is one request, which may be asked for once more with the fault in its prompt."""
_LEAST: Final = 0.1
"""A cell that goes on is expected to use at least this share of its whole estimate."""

Amounts = Mapping[str, float]
"""Calls, tokens and US dollars by the name of their budget (`state.settings.BUDGETS`)."""


class Admission:
    """The account of an experiment.

    Args:
        budget: what all cells together may use; a name that is missing has no limit.
        spent: what they have used so far.
    """

    def __init__(self, budget: Amounts, spent: Amounts) -> None:
        self.budget = dict(budget)
        self.spent = {name: float(spent.get(name, 0.0)) for name in budget}
        self._reserved: dict[str, dict[str, float]] = {}

    def admit(
        self, cell: str, estimate: Amounts, used: Amounts | None = None, *, reserve: float = RESERVE
    ) -> dict[str, float] | None:
        """Reserve what a cell needs.

        Args:
            cell: its id.
            estimate: what the whole cell is expected to use.
            used: what it has used already, if it goes on; it is a part of what is spent.
            reserve: what it reserves, as a multiple of what it is expected to use.

        Returns:
            The budgets of the cell's own run, what it has used included; None if the cell may not start now.
        """
        used = used or {}
        expected = {name: max(estimate[name] - used.get(name, 0.0), _LEAST * estimate[name]) for name in self.budget}
        wanted = {name: _whole(name, reserve * amount) for name, amount in expected.items()}
        if not self._fits(wanted):
            if self._reserved or not self._fits(expected):
                return None
            wanted = {name: self.budget[name] - self.spent[name] for name in self.budget}
        self._reserved[cell] = wanted
        return {name: math.floor(used.get(name, 0.0) + amount) if name != "budget_usd" else used.get(name, 0.0) + amount
                for name, amount in wanted.items()}  # fmt: skip

    def settle(self, cell: str, used: Amounts) -> None:
        """Replace a cell's reserve by what it has used since it was admitted."""
        del self._reserved[cell]
        for name in self.budget:
            self.spent[name] += used.get(name, 0.0)

    def _fits(self, wanted: Amounts) -> bool:
        return all(
            self.spent[name] + sum(each[name] for each in self._reserved.values()) + wanted[name] <= limit + 1e-9
            for name, limit in self.budget.items()
        )


def _whole(name: str, amount: float) -> float:
    """An amount of a budget rounded up: of a conversation of three calls, a quarter more is one call, not none."""
    return amount if name == "budget_usd" else float(math.ceil(amount - 1e-9))
