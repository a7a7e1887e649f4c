"""Charts as SVG, by one template in which every text is data, and as files that a user keeps."""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from ...state.plain_text import one_line
from .. import palette
from ..tables import guarded, tidy
from .model import Chart

_TEMPLATE: Final = "chart.svg.jinja"
_GROUND: Final = "--surf: #ffffff; --line: #e3e8f1; --ink: #0f172a; --mute: #566579;"


@cache
def style_sheet() -> str:
    """The style of charts; the page declares the variables of `palette.style()`, grounds and text colours."""
    written = files("persimchat.reports.charts").joinpath("chart.css").read_text(encoding="utf-8")
    return f"{palette.classes()}\n{written}"


def _finalize(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return one_line(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    source = files("persimchat.reports.charts").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    return Environment(
        loader=DictLoader({_TEMPLATE: source}),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def svg(chart: Chart, key: str, *, slider: bool = False) -> Markup:
    """A chart as SVG for a page that has `style_sheet()`.

    Args:
        chart: the chart.
        key: makes the ids of the page's charts different.
        slider: whether it shows the place of a slider: the page sets `--at` on anything around it (`place_of`), or the
            class `following` for no place.
    """
    return Markup(_environment().get_template(_TEMPLATE).render(c=chart, key=key, slider=slider, alone=False, sheet=""))


def picture(chart: Chart) -> str:
    """A chart as the text of an SVG file that needs nothing else, on a light ground."""
    sheet = Markup(f"svg.chart {{ font-family: system-ui, sans-serif; {_GROUND} {palette.style()} }}\n{style_sheet()}")
    return _environment().get_template(_TEMPLATE).render(c=chart, key="chart", slider=False, alone=True, sheet=sheet)


def table(chart: Chart) -> str:
    """A chart's data as the text of a CSV file, in which no spreadsheet finds a formula."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([guarded(tidy(value)) for value in row] for row in chart.table)
    return file.getvalue()


def place_of(turn: float, first: float, last: float) -> float:
    """Where a turn is on the axis, 0–1: the value of `--at`."""
    return round(min(max((turn - first + 0.5) / (last - first + 1), 0.0), 1.0), 4)
