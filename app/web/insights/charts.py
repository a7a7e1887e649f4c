"""Charts: their options as data, the box that shows one or a reason why not, and the choice "now or over time"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.insights.figures import MOST_POINTS, thinned
from persimchat.app.web.looks import AXIS, CHART_TEXT, EMOTION_COLOURS, TOOLTIP, VERDICT_COLOURS, chart_name
from persimchat.app.web.widgets import SEGMENTS, named
from persimchat.app.web.words import t
from persimchat.runs.reports.charts.scales import Point, bin_size

_FEW: Final = 30
_MARK_HEIGHT: Final = 10.7
_SIGN: Final = "✓"
_SYMBOLS: Final = {"consensus": "diamond", "overruled": "triangle", "progressing": "circle", "circling": "emptyCircle"}


def now_or_over_time(heading: str, on_change: Callable[[], None]) -> ui.toggle:
    """Draw a card's heading with the choice beside it; its value is `now` or `time`."""
    with ui.row().classes("w-full items-center justify-between gap-1 no-wrap"):
        ui.label(heading).classes("text-sm font-semibold").props("role=heading aria-level=3")
        choices = {"now": t("insights.now"), "time": t("insights.over_time")}
        toggle = ui.toggle(choices, value="now", on_change=on_change).props(f"{SEGMENTS} size=sm").classes("seg")
        named(toggle, t("insights.when", what=heading)).props("role=group")
    return toggle


Options = dict[str, Any]


def over_turns(*, most: float | None = 10, marked: bool = False) -> Options:
    """The options of a chart over turns, without its series.

    Args:
        most: the greatest value; None to fit the values.
        marked: whether to keep room for marks above the greatest value.
    """
    value_axis: Options = {"type": "value", "min": 0, **AXIS}
    if most is not None:
        value_axis |= {"max": most + marked, "interval": most / 2}
        value_axis["axisLabel"] = {**AXIS["axisLabel"], "showMaxLabel": not marked}
    return {
        "animationDuration": 300,
        "grid": {"left": 34, "right": 12, "top": 10, "bottom": 22},
        "tooltip": {**TOOLTIP, "trigger": "axis"},
        "xAxis": {"type": "value", "min": 0, "minInterval": 1, "axisPointer": {"label": {"precision": 0}}, **AXIS},
        "yAxis": value_axis,
        "series": [],
    }


def line(name: str, colour: str, points: Sequence[Point]) -> Options:
    """A line over turns."""
    return {
        "name": chart_name(name),
        "type": "line",
        "showSymbol": len(points) <= _FEW,
        "symbolSize": 4,
        "lineStyle": {"width": 2, "color": colour},
        "itemStyle": {"color": colour},
        "data": thinned(points),
    }


def cloud(name: str, colour: str, points: Sequence[Point]) -> Options:
    """Points over turns."""
    style = {"itemStyle": {"color": colour}, "symbolSize": 7 if len(points) <= _FEW else 4}
    return {"name": chart_name(name), "type": "scatter", **style, "data": thinned(points)}


def mean_line(colour: str, value: float) -> Options:
    """Options of a series that show its mean."""
    style = {"color": colour, "type": "dashed", "width": 1}
    return {
        "markLine": {
            "silent": True,
            "symbol": "none",
            "label": {"show": False},
            "lineStyle": style,
            "data": [{"yAxis": round(value, 3)}],
        }
    }


def verdict_series(marks: Sequence[tuple[int, str]], words: Mapping[str, str]) -> list[Options]:
    """Marks above the lines, one series for each kind of verdict that occurs.

    Args:
        marks: turn and kind.
        words: the name of each kind.
    """
    return [
        {
            "name": words[kind],
            "type": "scatter",
            "symbol": symbol,
            "symbolSize": 10 if kind in ("consensus", "overruled") else 6,
            "itemStyle": {"color": VERDICT_COLOURS[kind]},
            "dimensions": ["turn", "height", {"name": "sign", "type": "ordinal"}],
            "encode": {"x": "turn", "y": "height", "tooltip": ["sign"]},  # the height has no meaning
            "data": [[turn, _MARK_HEIGHT, _SIGN] for turn, mark in marks if mark == kind],
        }
        for kind, symbol in _SYMBOLS.items()
        if any(mark == kind for _, mark in marks)
    ]


def radar(emotions: Mapping[str, str]) -> Options:
    """The options of the chart of emotions now, without its data.

    Args:
        emotions: the name of each.
    """
    return {
        "animationDuration": 300,
        "tooltip": TOOLTIP,
        "radar": {
            "indicator": [{"name": emotions[name], "max": 10} for name in EMOTION_COLOURS],
            "radius": "72%",
            "center": ["50%", "52%"],
            "axisName": {"color": CHART_TEXT, "fontSize": 11},
            "splitArea": {"show": False},
            "splitLine": AXIS["splitLine"],
            "axisLine": AXIS["axisLine"],
        },
        "series": [],
    }


def radar_series(levels: Mapping[str, list[int]], colours: Mapping[str, str]) -> list[Options]:
    """One figure of emotions per agent; nothing if no emotions are known."""
    data = [
        {
            "name": chart_name(name),
            "value": felt,
            "itemStyle": {"color": colours[name]},
            "lineStyle": {"width": 2},
            "areaStyle": {"opacity": 0.12},
        }
        for name, felt in list(levels.items())[:MOST_POINTS]
    ]
    return [{"type": "radar", "symbolSize": 3, "data": data}] if data else []


class ChartBox:
    """A chart with its legend; until there is data, a text in its place.

    Args:
        options: without series.
        nothing: the text shown without data.
        height: a CSS class.
        legend: whether to name the series below; without it, the caller says what they are.
    """

    def __init__(self, options: Options, nothing: str, height: str = "h-52", *, legend: bool = True) -> None:
        self.options = options
        self._with_legend = legend
        self._chart = ui.echart(options).classes(f"w-full {height}")
        self._chart.props["role"] = "img"
        self._legend = ui.row().classes("w-full justify-center gap-x-3 gap-y-0").props("aria-hidden=true")
        self._named: list[tuple[str, str]] = []
        self._note = ui.label().classes("text-xs muted w-full text-center")
        self._nothing = ui.label(nothing).classes("text-sm muted")
        self._show(drawn=False, words=True)

    def hide(self) -> None:
        """Show neither chart nor text."""
        self._show(drawn=False, words=False)

    def draw(self, series: list[Options], summary: str, *, turn: int = 0, longest: int = 0) -> None:
        """Show series.

        Args:
            series: with data; empty if there is nothing to draw.
            summary: the chart in words, for screen readers.
            turn: the last one of a chart over turns.
            longest: points of the longest series before it was thinned.
        """
        self._show(drawn=bool(series), words=not series)
        if series:
            if self._with_legend:
                self._name([drawn for one in series for drawn in (one["data"] if one["type"] == "radar" else [one])])
            size = bin_size(longest, MOST_POINTS)
            self._note.set_text(t("insights.thinned", n=size))
            self._note.set_visibility(size > 1)
            if "xAxis" in self._chart.options:
                self._chart.options["xAxis"]["max"] = max(turn, 1)
            self._chart.options["series"] = series
            self._chart.props["aria-label"] = summary
            self._chart.update()

    def _show(self, *, drawn: bool, words: bool) -> None:
        self._chart.set_visibility(drawn)
        self._legend.set_visibility(drawn and self._with_legend)
        self._note.set_visibility(False)
        self._nothing.set_visibility(words)

    def _name(self, drawn: Sequence[Options]) -> None:
        """Draw the legend beside the chart, where long names have room and wrap."""
        named = [(one["name"], one["itemStyle"]["color"]) for one in drawn]
        if named == self._named:
            return
        self._named = named
        self._legend.clear()
        with self._legend:
            for name, colour in named:
                with ui.row().classes("items-center gap-1 no-wrap min-w-0"):
                    ui.element("span").classes("dot").style(f"background:{colour}")
                    ui.label(name).classes("text-xs muted truncate min-w-0")
