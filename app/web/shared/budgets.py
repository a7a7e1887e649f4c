"""What a run may use, and what is left of it at a turn."""

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
        used: up to the turn; None where it is not known.
        left: of the limit; None where it is not known.
    """

    name: str
    limit: float
    used: float | None
    left: float | None


def budgets(limits: dict[str, float], totals: Totals) -> list[Budget]:
    """The budgets that were set, and what is left of each.

    Args:
        limits: by name.
        totals: what was used.
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
        InputError: the folder is no run's, or is damaged.
    """
    settings = read_manifest(folder).settings.model_dump()
    return {name: settings[name] for name in BUDGETS if isinstance(settings.get(name), int | float)}


def left(limit: float, used: float) -> float:
    """What is left of a budget; never less than nothing."""
    return max(0.0, limit - used)
