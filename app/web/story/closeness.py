"""The card of closeness: a table whose cells hold the numbers, and the same as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.insights.charts import ChartBox
from persimchat.app.web.looks import CHART_TEXT, TOOLTIP, chart_name, colour
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import short_names
from persimchat.app.web.widgets import SEGMENTS, card, named
from persimchat.app.web.words import number, t
from persimchat.runs.reports.story_course import CharacterNow, StoryCourse
from persimchat.state.plain_text import one_line

_SMALLEST: Final = 16
_LARGEST: Final = 40
"""Diameters of circles, in pixels, from no influence to the greatest."""

Edge = tuple[str, str, int]


def edges(characters: Sequence[CharacterNow], least: int) -> list[Edge]:
    """Who is close to whom, and how much, from a closeness on."""
    return [(one.name, other, value) for one in characters for other, value in one.closeness.items() if value >= least]


def graph(course: StoryCourse, characters: Sequence[CharacterNow], names: list[str]) -> dict[str, Any]:
    """The series of the graph.

    Args:
        course: of the story.
        characters: those whose closeness is known.
        names: of all, in order of listing.
    """
    weight = {one.name: one.influence for one in characters}
    most, short = max(weight.values(), default=0) or 1, short_names(names)
    nodes = [
        {
            "id": str(place),
            "name": chart_name(short[name]),
            "symbolSize": _SMALLEST + (_LARGEST - _SMALLEST) * weight.get(name, 0) / most,
            "itemStyle": {"color": colour(name, names)},
        }
        for place, name in enumerate(names)
    ]
    links = [
        {
            "source": str(names.index(a)),
            "target": str(names.index(b)),
            "value": value,
            "lineStyle": {"width": 1 + 3 * value / 100, "color": colour(a, names), "opacity": 0.8, "curveness": 0.18},
        }
        for a, b, value in edges(characters, course.support)
    ]
    return {
        "type": "graph",
        "layout": "circular",
        "name": "",
        "roam": False,
        "silent": True,
        "edgeSymbol": ["none", "arrow"],
        "edgeSymbolSize": 9,
        "label": {"show": True, "position": "bottom", "color": CHART_TEXT, "fontSize": 11},
        "left": "18%",
        "right": "18%",
        "top": "14%",
        "bottom": "18%",
        "data": nodes,
        "links": links,
    }


class Closeness:
    """The card of closeness."""

    def __init__(self, view: StoryView) -> None:
        self._view = view
        with card():
            with ui.row().classes("w-full items-center justify-between gap-1 no-wrap"):
                ui.label(t("story.closeness")).classes("text-sm font-semibold").props("role=heading aria-level=3")
                kinds = {"table": t("story.table"), "graph": t("story.graph")}
                self._kind = ui.toggle(kinds, value="table", on_change=self.draw)
                self._kind.props(f"{SEGMENTS} size=sm role=group").classes("seg").mark("closeness-as")
                named(self._kind, t("story.closeness_as"))
            self._nothing = ui.label(t("story.nothing")).classes("text-sm muted")
            self._table = ui.element("div").classes("w-full heat-box").props("tabindex=0 role=group")
            named(self._table, t("story.closeness"))
            options = {"animationDuration": 300, "tooltip": {**TOOLTIP, "show": False}, "series": []}
            self._graph = ChartBox(options, "", "h-72", legend=False)
            self._about = ui.label().classes("text-xs muted")

    def draw(self) -> None:
        """Show closeness after the last update."""
        course = self._view.course
        now = course.standings[-1].characters if course.standings else []
        table = self._kind.value == "table"
        self._nothing.set_visibility(not now)
        self._table.set_visibility(bool(now) and table)
        self._about.set_visibility(bool(now))
        self._graph.hide()
        if not now:
            return
        least = course.support
        names = [one.name for one in course.cast]
        if table:
            self._draw_table(now, names, least)
            self._about.set_text(t("story.closeness_about", least=least))
            return
        found = edges(now, least)
        told = [t("story.edge", a=one_line(a), b=one_line(b), value=number(value)) for a, b, value in found]
        none = t("story.graph_none", least=least)
        words = t("story.graph_words", least=least, edges="; ".join(told)) if told else none
        self._graph.draw([graph(course, now, names)], words)
        self._about.set_text(f"{t('story.graph_about', least=least)} {words}")

    def _draw_table(self, now: Sequence[CharacterNow], names: list[str], least: int) -> None:
        self._table.clear()
        short = short_names(names)
        with self._table, ui.element("table").classes("heat"):
            with ui.element("thead"), ui.element("tr"):
                with ui.element("th").props("scope=col"):
                    ui.label(t("story.closeness_to")).classes("text-xs muted whitespace-nowrap")
                for name in names:
                    with ui.element("th").props("scope=col").classes("heat-to"):
                        ui.label(short[name])
            with ui.element("tbody"):
                for one in now:
                    with ui.element("tr"):
                        with ui.element("th").props("scope=row").classes("heat-who"):
                            ui.label(short[one.name]).classes("truncate")
                        for name in names:
                            _cell(one.closeness.get(name), least)


def _cell(value: int | None, least: int) -> None:
    with ui.element("td") as cell:
        if value is None:
            ui.label("·").classes("muted").props("aria-hidden=true")
            return
        ui.label(number(value))
    cell.style(f"--share:{value}%").classes("close" if value >= least else "")
