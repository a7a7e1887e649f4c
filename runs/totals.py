"""Sums over the accounting of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from persimchat.runs.events import Totals


def totals(rows: Iterable[dict[str, Any]]) -> Totals:
    """The sum of accounting rows; the cost is unknown (None) as soon as one part of it is."""
    calls = input_tokens = output_tokens = 0
    estimated = False
    cost: float | None = 0.0
    for row in rows:
        calls += row["calls"]
        input_tokens += row["input_tokens"]
        output_tokens += row["output_tokens"]
        estimated = estimated or row["estimated"]
        cost = None if cost is None or row["cost_usd"] is None else cost + row["cost_usd"]
    return Totals(
        calls=calls, input_tokens=input_tokens, output_tokens=output_tokens, estimated=estimated, cost_usd=cost
    )


def totals_by(rows: Iterable[dict[str, Any]], field: str) -> dict[str, Totals]:
    """The sums of accounting rows for every value of a field ("module", "agent" or "model"), by name."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[field], []).append(row)
    return {name: totals(group) for name, group in sorted(groups.items())}
