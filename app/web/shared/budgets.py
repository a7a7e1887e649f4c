"""The budgets of a run, and what is left of them at a turn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from persimchat.runs.events import Totals
from persimchat.runs.folder.past import UNKNOWN
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.settings import BUDGETS


@dataclass(frozen=True)
class Budget:
    """One budget.

    Attributes:
        name: of `BUDGETS`.
        limit: calls, tokens or US dollars.
        used: use up to the turn; None if it is not known.
        left: the rest of the limit; None if it is not known.
    """

    name: str
    limit: float
    used: float | None
    left: float | None


def budgets(limits: dict[str, float], totals: Totals) -> list[Budget]:
    """The budgets that are set, and what is left of each.

    Args:
        limits: by name.
        totals: calls, tokens and cost so far.
    """
    known = totals != UNKNOWN
    used = {
        "budget_calls": totals.calls if known else None,
        "budget_tokens": totals.input_tokens + totals.output_tokens if known else None,
        "budget_usd": totals.cost_usd,
    }
    return [
        Budget(name, limit, used[name], None if used[name] is None else left(limit, used[name] or 0.0))
        for name, limit in limits.items()
    ]


def limits_of(folder: Path) -> dict[str, float]:
    """The budgets of a run, by name; those that were not set are left out. Blocks.

    Raises:
        InputError: the folder does not hold a run, or is damaged.
    """
    settings = read_manifest(folder).settings.model_dump()
    return {name: settings[name] for name in BUDGETS if isinstance(settings.get(name), int | float)}


def left(limit: float, used: float) -> float:
    """What is left of a budget, at least 0."""
    return max(0.0, limit - used)
