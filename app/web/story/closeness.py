"""The card of closeness: a table whose cells hold the numbers, and the same as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nicegui import ui

from persimchat.app.web.shared.chart_box import ChartBox
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.story.wording import short_names
from persimchat.app.web.widgets import SEGMENTS, card, named
from persimchat.app.web.words import number, t
from persimchat.runs.reports.charts.graph import Edge, graph
from persimchat.runs.reports.report_people import people
from persimchat.runs.reports.story_course import CharacterNow
from persimchat.state.plain_text import one_line


def edges(characters: Sequence[CharacterNow], least: int) -> list[Edge]:
    """Who is close to whom, and how much, from a closeness on."""
    return [(one.name, other, value) for one in characters for other, value in one.closeness.items() if value >= least]


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
            self._graph = ChartBox(f"{view.viewing.run}-closeness", head=False, slider=False)
            self._about = ui.label().classes("text-xs muted")

    def draw(self) -> None:
        """Show closeness after the last update."""
        course = self._view.course
        now = course.standings[-1].characters if course.standings else []
        table = self._kind.value == "table"
        self._nothing.set_visibility(not now)
        self._table.set_visibility(bool(now) and table)
        self._about.set_visibility(bool(now))
        if not now or table:
            self._graph.draw(None)
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
        short = short_names(names)
        who = {name: replace(person, name=short[name]) for name, person in people(names).items()}
        weights = {one.name: one.influence for one in now}
        title = t("story.closeness")
        self._graph.draw(lambda width: graph(title, who, found, weights, words, width=width))
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
