"""The report of an experiment: one HTML file without scripts and without a network, by the rules of a run's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from jinja2 import Environment

from persimchat.experiments.comparing import OF_THE_TASK, Comparison
from persimchat.experiments.needs import summed
from persimchat.experiments.place import Place
from persimchat.experiments.table_models import CellRow, MeasureRow
from persimchat.experiments.tables import Tables
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.run_folder import write_whole
from persimchat.runs.reports.charts import Scale, ticks
from persimchat.runs.reports.report import page_environment
from persimchat.runs.reports.words import UNKNOWN

NAME: Final = "report.html"
TOO_MANY: Final = 0.05
"""The share of failed or corrected judgements above which the report warns."""

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 640, 250, 24, 30, 12


def _number(value: float | None) -> str:
    """A number with three significant digits; a dash where it is not known."""
    return UNKNOWN if value is None else f"{value:.3g}".replace("-", "−")


def _p(value: float | None) -> str:
    return UNKNOWN if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


@cache
def _environment() -> Environment:
    template = (files("persimchat.experiments") / "templates" / "experiment.html.jinja").read_text(encoding="utf-8")
    environment = page_environment({"experiment.html.jinja": template})
    environment.filters["number"] = _number
    environment.filters["p"] = _p
    return environment


@dataclass(frozen=True)
class Line:
    """One comparison in a forest plot, in pixels; without an interval, only the point is drawn."""

    label: str
    y: float
    point: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Forest:
    """A forest plot: differences with their intervals, and the line of no difference.

    Attributes:
        lines: from top to bottom.
        zero: where no difference is.
        ticks: places and values of the scale.
        height: of the whole drawing.
    """

    lines: Sequence[Line]
    zero: float
    ticks: Sequence[tuple[float, str]]
    height: float
    width: float = _WIDTH


def forest(comparisons: Sequence[Comparison]) -> Forest | None:
    """The forest plot of one measure's comparisons; None where there is no difference to draw."""
    drawn = [one for one in comparisons if one.difference.value is not None]
    if not drawn:
        return None
    ends = [0.0, *(end for one in drawn for end in _ends(one) if end is not None)]
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    scale = Scale(low - room, high + room, _LEFT, _WIDTH - _RIGHT)
    lines = []
    for number, one in enumerate(drawn):
        point, least, most = _ends(one)
        at = [None if end is None else scale(end) for end in (least, most)]
        lines.append(Line(f"{one.a} − {one.b}", _TOP + _ROW * number + _ROW / 2, scale(point or 0.0), at[0], at[1]))
    marks = [(scale(tick), _number(tick)) for tick in ticks(scale.low, scale.high, 6)]
    return Forest(lines, scale(0.0), marks, _TOP + _ROW * len(drawn) + 26)


def _ends(one: Comparison) -> tuple[float | None, float | None, float | None]:
    return one.difference.value, one.difference.low, one.difference.high


@dataclass(frozen=True)
class Summed:
    """One measure over all complete cells."""

    name: str
    about: str
    n: int
    missing: int
    mean: float | None
    sd: float | None
    least: float | None
    most: float | None


def report_html(found: Tables) -> str:
    """The report as HTML."""
    cells: Sequence[Any] = found.rows["cells"]
    used = [s.manifest.usage.total for s in found.standings.values() if s.manifest and s.manifest.usage.total]
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for one in found.comparisons:
        within = ", ".join(f"{name} {label}" for name, label in one.within.items())
        groups.setdefault((one.by, within), []).append(one)
    sections = [
        (by, within, [(name, _of(ones, name), forest(_of(ones, name))) for name in _names(ones)])
        for (by, within), ones in groups.items()
    ]
    tasks = [
        (by, " to ".join(map(str, dict.fromkeys((min(ns), max(ns))))), max(ns))
        for by, _, measured in sections
        if (ns := [one.difference.n for _, ones, _ in measured for one in ones])
    ]
    return (
        _environment()
        .get_template("experiment.html.jinja")
        .render(
            name=found.locked.name,
            axes=found.locked.axes,
            task_axes=[name for name in OF_THE_TASK if name in found.locked.axes],
            cells=cells,
            labels={cell.id: cell.axes for cell in found.locked.cells},
            statuses=Counter(row.status for row in cells),
            stale=sum(row.stale is not None for row in cells),
            spent=summed(used),
            sections=sections,
            tasks=tasks,
            left_out=max((one.left_out for one in found.comparisons), default=0),
            measures=_summed(found),
            warnings=_warnings(cells),
            versions=found.locked.versions,
            disclaimer=DISCLAIMER,
        )
    )


def _names(ones: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(one.measure for one in ones))


def _of(ones: Sequence[Comparison], name: str) -> list[Comparison]:
    return [one for one in ones if one.measure == name]


def _summed(found: Tables) -> list[Summed]:
    rows: Sequence[Any] = found.rows["measures"]
    overall = []
    for measure in found.measures:
        own: list[MeasureRow] = [row for row in rows if row.measure == measure.name and row.unit == "run"]
        there = [row.value for row in own if row.value is not None]
        overall.append(
            Summed(
                measure.name,
                measure.about,
                n=len(there),
                missing=len(own) - len(there),
                mean=fmean(there) if there else None,
                sd=stdev(there) if len(there) > 1 else None,
                least=min(there, default=None),
                most=max(there, default=None),
            )
        )
    return overall


def _warnings(cells: Sequence[CellRow]) -> list[str]:
    """What a reader must know before the figures: judgements that failed or were corrected."""
    warnings = []
    asked = sum(row.judgements or 0 for row in cells)
    for name in ("failed", "corrected"):
        number = sum(getattr(row, name) or 0 for row in cells)
        if asked and number / asked > TOO_MANY:
            warnings.append(f"{number:,} of {asked:,} judgements of minds ({number / asked:.0%}) were {name}.")
    return warnings


def write_report(found: Tables, place: Place) -> Path:
    """Write the report into the experiment's folder, whole or not at all."""
    path = place.path / NAME
    write_whole(path, report_html(found).encode())
    return path
