"""The usage of a run: accounting rows, and sums over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from persimchat.models.usage import summed
from persimchat.runs.folder.stored import Count, Stored, is_empty


class Totals(BaseModel):
    """The usage of a run so far."""

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(
        default=0,
        description="the part of `input_tokens` that servers took from their caches; left out if there were none",
        exclude_if=is_empty,
    )
    estimated: bool = Field(default=False, description="true where some of the token counts are estimates")
    cost_usd: float | None = Field(default=0.0, description="null where a price is not known")


class UsageRow(BaseModel):
    """The usage of one module for one agent with one model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent: str
    module: str
    model: str
    calls: Count
    input_tokens: Count
    output_tokens: Count
    cached_tokens: Count = Field(default=0, exclude_if=is_empty)
    estimated: bool
    cost_usd: float | None = None


class Usage(Stored):
    """The usage of a run, in run.json; empty while it runs."""

    total: Totals | None = None
    by_module: dict[str, Totals] = {}
    by_agent: dict[str, Totals] = {}
    rows: list[UsageRow] = []


def totals(rows: Iterable[dict[str, Any]]) -> Totals:
    """The sum of accounting rows; the cost is unknown (None) if the cost of one row is."""
    return Totals.model_validate(reduce(summed, rows, Totals().model_dump()))


def totals_by(rows: Iterable[dict[str, Any]], field: str) -> dict[str, Totals]:
    """The sums of accounting rows for every value of a field ("module", "agent" or "model"), by name."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[field], []).append(row)
    return {name: totals(group) for name, group in sorted(groups.items())}


def usage_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The usage for run.json, from accounting rows."""
    return {
        "total": totals(rows).model_dump(),
        "by_module": {name: row.model_dump() for name, row in totals_by(rows, "module").items()},
        "by_agent": {name: row.model_dump() for name, row in totals_by(rows, "agent").items()},
        "by_model": {name: row.model_dump() for name, row in totals_by(rows, "model").items()},
        "rows": rows,
    }
