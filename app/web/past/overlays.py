"""The courses of two runs over each other, on the page that compares them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from nicegui import ui

from persimchat.app.web.past.compare_facts import Compared
from persimchat.app.web.shared.chart_box import NARROW, WIDE, ChartBox, chart_words, emotion_names
from persimchat.app.web.widgets import title
from persimchat.app.web.words import t
from persimchat.runs.reports.charts.model import Chart
from persimchat.runs.reports.diff_charts import overlays


def courses(both: Compared) -> None:
    """Draw a chart for each of need to talk, openness and emotions in which the runs differ; nothing if none does."""
    at = cache(partial(_charts, both))
    drawn = at(NARROW)
    if not drawn:
        return
    title(t("past.courses"))
    ui.label(t("past.courses_note")).classes("text-sm muted")
    with ui.element("div").classes("courses w-full"):
        for place, chart in enumerate(drawn):
            with ui.element("div").classes("surface p-3 min-w-0"):
                file = f"{both.a.path.name} {both.b.path.name} {chart.title}"
                box = ChartBox(file, larger=partial(_of, at, place, WIDE), slider=False)
                box.draw(partial(_of, at, place))


def _of(charts: Callable[[int], list[Chart]], place: int, width: int) -> Chart:
    return charts(width)[place]


def _charts(both: Compared, width: int) -> list[Chart]:
    return overlays(
        both.a,
        both.b,
        named=emotion_names(),
        parts=t("past.parts_here"),
        width=width,
        words=chart_words(),
    )
