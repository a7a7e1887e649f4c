"""What `persimchat companion measure` prints: a table of measures with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.evaluate_view import between, number
from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.companion.latency import at_rank, ratio
from persimchat.evaluation.companion.measuring import Plan
from persimchat.evaluation.companion.rows import Row, summed_up
from persimchat.runs.reports.words import UNKNOWN

_BY_UNIT: Final = ("accepted_at_first", "accepted_at_second")
"""Measures that are shown for each module."""
_NOTE: Final = (
    "Shares are between 0 and 1, with Wilson's interval; means have a bootstrap's. The unit is the question, answer or "
    "course. No figure says how a person would judge the talk."
)


def shown(plan: Plan, rows: Sequence[Row], look: Look) -> RenderableType:
    """The measures, by number of talks where these differ."""
    return Group(*_parts(rows, look))


def as_data(plan: Plan, rows: Sequence[Row]) -> dict[str, Any]:
    """The same for `--json`, with every row."""
    measures = [{"run": group, "measure": name, **asdict(summed_up(own, name))} for group, name, own in _groups(rows)]
    timed = {"latency": {"ratio": ratio(rows), "ratio_p95": ratio(rows, 0.95)}} if "latency" in plan.what else {}
    return {"measures": measures, **timed, "rows": [asdict(row) for row in rows]}


def _parts(rows: Sequence[Row], look: Look) -> Iterator[RenderableType]:
    plain = [(group, name, own) for group, name, own in _groups(rows) if group != "latency"]
    if plain:
        estimates = [(group, name, summed_up(own, name)) for group, name, own in plain]
        cells = ([group, name, number(one.value), between(one), str(one.n)] for group, name, one in estimates)
        yield table(look, "Measures", ["of", "measure", "value", "95 % interval", "n"], cells)
        yield look(_NOTE)
    timed = [row for row in rows if row.run == "latency"]
    if timed:
        if plain:
            yield Text("")
        names = dict.fromkeys(row.measure for row in timed)
        found = ([name, _whole(at_rank(timed, name, 0.5)), _whole(at_rank(timed, name, 0.95))] for name in names)
        columns = ["measure", "median", "95 of 100 below"]
        yield table(look, "Latency, milliseconds", columns, found)
        yield look(
            f"First words through the companion take {number(ratio(timed))} times as long as those of the same "
            f"requests sent bare (medians); {number(ratio(timed, 0.95))} times at 95 of 100."
        )


def _groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """Measures with their rows: recall by its number of talks, answers by module."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.measure == "trust":
            continue
        study, _, rest = row.run.partition("-")
        group = f"{study} {rest.partition('-')[0]}" if study == "recall" else study
        if row.measure in _BY_UNIT:
            group = row.unit
        elif row.run.startswith("trust") and not row.unit.startswith("answer"):
            group = f"trust {row.unit}"
        by.setdefault((group, row.measure), []).append(row)
    for (group, name), own in by.items():
        yield group, name, own


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"
