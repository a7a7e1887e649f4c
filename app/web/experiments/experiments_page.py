"""The list of experiments, and the page of one: how far it is, report and tables, its conversations. It starts none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nicegui import ui

from ....experiments.axes import Label
from ....experiments.place import FILE
from ....reports.words import whole
from ....state.errors import PerSimChatError
from ....state.folders import RESULTS
from ....state.plain_text import capitalised, one_line
from ..context import WebContext
from ..frame import Frame, disclaimer, page, page_title
from ..shared.formats import cost, joined, moment, tokens
from ..shared.lists import draw_unread
from ..shared.navigation import experiment_page_of, experiment_report_of, experiment_table_of, page_of
from ..watching import EVERY_S, STATUSES, Found, Status, Summary, Watched, WatchedCell
from ..widgets import anew, card, command, named, notify_error, reached, say_in, text_button
from ..words import number, t

EXAMPLE: Final = "examples/experiments/tea.yaml"


def command_of(verb: str, target: Path | str, results: Path) -> str:
    """The command that does something to an experiment.

    Args:
        verb: run or report.
        target: the experiment's file or folder.
        results: the folder of results; named only where it is not the default, and only to `run`.
    """
    out = ["--out", str(results)] if verb == "run" and results != RESULTS else []
    return shlex.join(["persimchat", "experiment", verb, str(target), *out])


# How far an experiment is


COLOURS: Final[Mapping[Status, str]] = {
    "done": "#059669",
    "running": "#6366f1",
    "failed": "#dc2626",
    "budget": "#d97706",
    "begun": "#d97706",
    "planned": "#64748b",
}
_SHORTEST_S: Final = 90
"""Seconds from which on the time left is told in minutes."""
_LONGEST_S: Final = 2 * 3600


def status_in_words(status: Status) -> str:
    """How far a cell is."""
    return t(f"experiments.status_{status}")


def counts_in_words(short: Summary) -> str:
    """How many conversations are how far; of those that are not done or running only what there is."""
    told = [t("experiments.done_of", n=short.cells, done=number(short.counts.get("done", 0)))]
    rest = [status for status in COLOURS if status != "done" and short.counts.get(status)]
    told += [t(f"experiments.n_{status}", n=short.counts[status]) for status in rest]
    return joined(told)


def spent_in_words(short: Summary) -> str:
    """What all conversations have used so far."""
    spent = short.spent
    if not spent.calls:
        return t("experiments.nothing_spent")
    calls, used = t("experiments.calls", n=spent.calls), spent.input_tokens + spent.output_tokens
    return joined([calls, tokens(used), cost(spent)])


def left_in_words(seconds: float | None) -> str:
    """The time left; empty if it is not known."""
    if seconds is None:
        return ""
    if seconds < _SHORTEST_S:
        return t("experiments.seconds_left", n=max(1, round(seconds)))
    if seconds < _LONGEST_S:
        return t("experiments.minutes_left", n=round(seconds / 60))
    return t("experiments.hours_left", hours=number(seconds / 3600, 1))


class Progress:
    """How far an experiment is: a chip, and below it a bar with a stretch for each way that cells stand, and words."""

    def __init__(self) -> None:
        self._chip: ui.label | None = None
        self._parts: dict[Status, ui.element] = {}

    def chip(self) -> None:
        """Draw whether it is running, complete, or neither."""
        self._chip = ui.label().classes("tint text-xs whitespace-nowrap w-fit")

    def draw(self) -> None:
        """Draw the bar, how many conversations are how far, and what they have used."""
        self._bar = ui.element("div").classes("meter w-full").props("role=progressbar aria-valuemin=0")
        named(self._bar, t("experiments.progress"))
        with self._bar:
            for status in ("done", "running", "begun", "budget", "failed"):
                self._parts[status] = ui.element("div").style(f"background:{COLOURS[status]}")
        self._counts = ui.label().classes("text-sm tabular-nums")
        self._about = ui.label().classes("text-xs muted tabular-nums [overflow-wrap:anywhere]")

    def show(self, short: Summary) -> str:
        """Show how far it is; returns that in words."""
        counts = counts_in_words(short)
        self.tell(short)
        touched = moment(datetime.fromtimestamp(short.touched, UTC).isoformat())
        self._about.set_text(joined([spent_in_words(short), t("experiments.touched", moment=touched)]))
        for status, part in self._parts.items():
            part.style(f"width:{short.counts.get(status, 0) / max(1, short.cells):.2%}")
        self._bar.props["aria-valuemax"], self._bar.props["aria-valuenow"] = short.cells, short.counts.get("done", 0)
        self._bar.props["aria-valuetext"] = counts
        self._bar.update()
        complete = short.counts.get("done", 0) == short.cells
        stands = t(f"experiments.stands_{'running' if short.driven else 'done' if complete else 'open'}")
        if self._chip is not None:
            colour = COLOURS["running" if short.driven else "done" if complete else "begun"]
            self._chip.set_text(stands)
            self._chip.style(f"--c:{colour}").classes(**{"add" if short.driven else "remove": "live-chip"})
        return joined([stands, counts])

    def tell(self, short: Summary) -> None:
        """Show how many conversations are how far, and the time that is left."""
        self._counts.set_text(joined([counts_in_words(short), left_in_words(short.seconds_left)]))

    def fail(self, why: str) -> None:
        """Show why it cannot be read."""
        self._counts.set_text(why)


# The list of experiments


async def experiments_page(web: WebContext) -> None:
    """Draw the page."""
    with page(t("common.experiments"), 1040):
        _ExperimentsPage(web)


class _ExperimentsPage:
    def __init__(self, web: WebContext) -> None:
        self.web = web
        self.found: Found | None = None
        self.cards: dict[str, _Card] = {}
        with ui.row().classes("w-full items-baseline gap-3"):
            page_title(t("common.experiments"))
            self.count = ui.label().classes("text-sm muted").props("role=status")
        with ui.column().classes("w-full gap-3") as self.box:
            ui.spinner(size="32px").classes("mx-auto mt-8")
        disclaimer()
        ui.timer(0, self.load, once=True)  # a large experiment must not delay the page
        ui.timer(EVERY_S, self.refresh)

    async def load(self) -> None:
        """Read the names, draw a card for each, and then fill them."""
        found = await self.web.experiments.found()
        if self.found is None or (set(found.names), found.unread) != (set(self.found.names), self.found.unread):
            self._draw(found)
        self.found = found
        for name, shown_card in [*self.cards.items()]:
            try:
                shown_card.show(await self.web.experiments.summary(name))
            except PerSimChatError as error:
                shown_card.progress.fail(str(error))

    async def refresh(self) -> None:
        """Show what has changed."""
        if self.found is not None:  # it has been read once
            await self.load()

    def _draw(self, found: Found) -> None:
        self.count.set_text(t("experiments.count", n=len(found.names)) if found.names else "")
        with anew(self.box):
            if found.names:
                with ui.column().classes("w-full gap-3").props("role=list"):
                    self.cards = {name: _Card(name) for name in found.names}
            else:
                self.cards = {}
                self._empty()
            draw_unread(t("experiments.unread", n=len(found.unread)), found.unread, t("experiments.unread_why"))

    def _empty(self) -> None:
        with ui.column().classes("w-full items-center gap-3 py-12 text-center"):
            ui.icon("science", size="72px", color="primary").props("aria-hidden=true")
            ui.label(t("experiments.empty")).classes("text-xl font-semibold").props("role=heading aria-level=2")
            ui.label(t("experiments.empty_why")).classes("muted max-w-[60ch]")
            with ui.column().classes("w-full max-w-[560px] text-left"):
                command(command_of("run", EXAMPLE, self.web.experiments.folder))
            ui.label(t("experiments.costs")).classes("text-xs muted max-w-[60ch]")


class _Card:
    """An experiment in the list."""

    def __init__(self, name: str) -> None:
        self._shown: Summary | None = None
        self.progress = Progress()
        with ui.column().classes("run-card surface w-full gap-2 px-4 py-3").props("role=listitem"):
            with ui.row().classes("w-full items-center gap-3 no-wrap"):
                with ui.link(target=experiment_page_of(name)).classes("run-topic no-underline text-inherit min-w-0"):
                    ui.label(name).classes("font-semibold text-base [overflow-wrap:anywhere]")
                ui.space()
                self.progress.chip()
            self.progress.draw()

    def show(self, short: Summary) -> None:
        """Show how far it is."""
        if short != self._shown or short.driven:
            self._shown = short
            self.progress.show(short)


# The page of one


PAGE: Final = 40
"""How many rows are drawn at a time."""


def shown(label: Label) -> str:
    """The label of a level as text."""
    return t("experiments.none") if label is None else one_line(str(label))


def matching(one: WatchedCell, text: str, status: str) -> bool:
    """Whether a cell is one of those that are looked for.

    Args:
        one: the cell.
        text: words, each of which stands in its id, task, topic, levels or reason of failure.
        status: how far it is; empty for any.
    """
    if status and one.status != status:
        return False
    cell = one.cell
    texts = [cell.id, cell.task, cell.category, cell.topic, one.why, *map(str, cell.axes.values())]
    return all(word in " ".join(texts).casefold() for word in text.casefold().split())


class CellsTable:
    """The table with its search.

    Args:
        watched: the experiment.
    """

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.shown = PAGE
        self.found: list[str] = []
        self.rows: dict[str, _Row] = {}
        with ui.row().classes("w-full gap-2 items-center"):
            self.text = ui.input(t("experiments.search"), on_change=self.search)
            self.text.props("clearable debounce=250 type=search").classes("grow basis-[220px]")
            every = {"": t("experiments.status_all")} | {status: status_in_words(status) for status in STATUSES}
            self.status = ui.select(every, label=t("experiments.status"), value="", on_change=self.search)
            self.status.classes("grow sm:grow-0 basis-[170px]")
        self.count = ui.label().classes("text-xs muted").props("role=status")
        self.box = ui.element("div").classes("w-full overflow-x-auto cells-box").props("tabindex=0 role=region")
        named(self.box, t("experiments.conversations"))
        self.more = text_button("", self.show_more, look="outline").classes("self-center")
        self.draw()

    def search(self) -> None:
        """The search has changed."""
        self.shown = PAGE
        self.draw()

    def show_more(self) -> None:
        """Draw further rows."""
        self.shown += PAGE
        self.draw()

    def refresh(self) -> None:
        """Show what has changed in the rows that are drawn."""
        if self.found != self._matching():
            self.draw()
            return
        for id_, row in self.rows.items():
            row.show(self.watched.cells[id_])

    def draw(self) -> None:
        """Draw the rows."""
        self.found = self._matching()
        total, drawn = len(self.watched.cells), self.found[: self.shown]
        some = len(self.found) < total
        say_in(self.count, t("experiments.found", n=len(self.found), of=total) if some else "")
        axes = [*self.watched.axes]
        tasks = any(one.cell.task for one in self.watched.cells.values())
        with anew(self.box), ui.element("table").classes("facts cells w-full text-sm").props("role=table"):
            with ui.element("thead").props("role=rowgroup"), ui.element("tr").props("role=row"):
                for heading, kind in (
                    (t("experiments.cell"), ""),
                    *((one_line(axis), "") for axis in axes),
                    *([(t("experiments.task"), "")] if tasks else []),
                    (t("experiments.status"), "cells-state"),
                    (t("experiments.utterances"), "cells-number"),
                    (t("experiments.used"), "cells-number"),
                ):
                    with ui.element("th").classes(kind).props("scope=col role=columnheader"):
                        ui.label(heading)
            with ui.element("tbody").props("role=rowgroup"):
                self.rows = {id_: _Row(self.watched.cells[id_], tasks=tasks) for id_ in drawn}
        left = len(self.found) - len(drawn)
        self.more.set_text(t("experiments.more", n=min(PAGE, left)))
        self.more.set_visibility(left > 0)

    def _matching(self) -> list[str]:
        text, status = self.text.value or "", self.status.value or ""
        return [id_ for id_, one in self.watched.cells.items() if matching(one, text, status)]


class _Row:
    """The row of a cell, drawn again when the cell is further; on a phone, headings stand before what they head."""

    def __init__(self, one: WatchedCell, *, tasks: bool) -> None:
        self._shown: WatchedCell | None = None
        self._tasks = tasks
        self._line = ui.element("tr").props("role=row")
        self.show(one)

    def show(self, one: WatchedCell) -> None:
        """Show how far it is."""
        if one is self._shown:
            return
        self._shown = one
        with anew(self._line):
            with ui.element("th").props("scope=row role=rowheader"):
                if one.run:
                    ui.link(one.cell.id, page_of(one.run)).classes("font-mono text-primary")
                else:
                    ui.label(one.cell.id).classes("font-mono muted")
            for axis, label in one.cell.axes.items():
                _cell(one_line(axis), shown(label))
            if self._tasks:
                _cell(t("experiments.task"), one_line(one.cell.task))
            status = _cell(t("experiments.status"), status_in_words(one.status))
            status.style(f"--c:{COLOURS[one.status]}").classes("tint text-xs whitespace-nowrap w-fit")
            if one.status == "running":
                status.classes("live-chip")
            if one.why and status.parent_slot is not None:
                with status.parent_slot:
                    ui.label(one_line(one.why)).classes("text-xs muted [overflow-wrap:anywhere] pt-1")
            _cell(t("experiments.utterances"), whole(one.utterances)).classes("tabular-nums")
            calls = one.spent.calls if one.spent is not None else None
            _cell(t("experiments.used"), whole(calls)).classes("tabular-nums")


def _cell(heading: str, text: str) -> ui.label:
    with ui.element("td").props("role=cell") as cell:
        cell.props["data-label"] = heading
        return ui.label(text)


# The report of an experiment in a frame without scripts, and its tables as downloads


_SANDBOX: Final = "allow-downloads allow-same-origin"
"""No script runs in the frame, so its origin is harmless; without it, links in the report would lose the token."""


def heading(text: str) -> None:
    """The heading of a section of the page."""
    ui.label(text).classes("text-base font-semibold").props("role=heading aria-level=2")


class Results:
    """The section, kept up to date.

    Args:
        watched: the experiment.
        folder: of results.
    """

    def __init__(self, watched: Watched, folder: Path) -> None:
        self._tables: Sequence[str] | None = None
        self._report: float | None = None
        self._frame: ui.element | None = None
        self._address = experiment_report_of(watched.name)
        with card(look="px-4"):
            heading(t("experiments.results"))
            with ui.column().classes("w-full gap-1") as self._none:
                ui.label(t("experiments.no_report")).classes("text-sm muted")
                command(command_of("report", watched.place.path, folder))
            with ui.column().classes("w-full gap-2") as self._there:
                with ui.row().classes("w-full items-center gap-2"):
                    look = "unelevated aria-expanded=false"
                    self._toggle = text_button(t("experiments.show_report"), self._open, icon="summarize", look=look)
                    look = "flat target=_blank"
                    text_button(t("experiments.report_new"), icon="open_in_new", look=look, href=self._address)
                self._box = ui.element("div").classes("w-full")
            self._downloads = ui.row().classes("w-full items-center gap-x-4 gap-y-1")
        self._name = watched.name
        self.show(watched)

    def show(self, watched: Watched) -> None:
        """Show what there is."""
        if watched.report != self._report:
            self._report = watched.report
            self._none.set_visibility(not watched.report)
            self._there.set_visibility(bool(watched.report))
            if self._frame is not None:
                self._frame.props["src"] = self._source()
                self._frame.update()
        if watched.tables != self._tables:
            self._tables = watched.tables
            self._downloads.set_visibility(bool(watched.tables))
            with anew(self._downloads):
                ui.label(t("experiments.tables")).classes("text-sm muted")
                for table in watched.tables:
                    link = ui.link(table, experiment_table_of(self._name, table)).classes("text-sm text-primary")
                    link.props["download"] = f"{self._name}-{table}"

    def _source(self) -> str:
        return f"{reached(self._address)}?written={self._report}"  # another address for another report

    def _open(self) -> None:
        """Show the report below, or put it away."""
        opened = self._frame is None
        self._toggle.set_text(t("experiments.hide_report" if opened else "experiments.show_report"))
        self._toggle.props["aria-expanded"] = "true" if opened else "false"
        self._box.clear()
        self._frame = None
        if opened:
            with self._box:
                self._frame = ui.element("iframe").classes("report-frame w-full")
            self._frame.props["src"] = self._source()
            self._frame.props["sandbox"] = _SANDBOX
            named(self._frame, t("experiments.report_of", name=self._name))


# The page of one experiment: how far it is, what is varied, report and tables, and its conversations


_POLL_S: Final = 1.0
"""How often a page asks whether there is something new; the folder is read less often (`results.EVERY_S`)."""

_MOST_LEVELS: Final = 24


def experiment_page(web: WebContext, name: str) -> None:
    """Draw the page."""
    Frame(name)
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[1040px] mx-auto p-4 gap-4") as box:
        ui.spinner(size="32px").classes("mx-auto mt-8")

    async def load() -> None:
        try:
            watched = await web.experiments.look(name)
        except PerSimChatError as error:
            with anew(box):
                ui.label(capitalised(str(error))).classes("muted [overflow-wrap:anywhere]")
            return
        with anew(box):
            _ExperimentPage(web, watched)

    ui.timer(0, load, once=True)  # a large experiment must not delay the page


class _ExperimentPage:
    def __init__(self, web: WebContext, watched: Watched) -> None:
        self.web, self.watched = web, watched
        self.drawn: tuple[Watched, int] | None = None
        self.planned = watched.planned
        self.driven = watched.driven
        self.failed = False
        with ui.column().classes("gap-0 w-full"):
            ui.link(t("common.experiments"), "/experiments").classes("text-sm text-primary")
            with ui.row().classes("w-full items-center gap-3"):
                name = ui.label(watched.name).classes("text-2xl font-bold [overflow-wrap:anywhere]")
                name.props("role=heading aria-level=1")
                self.progress = Progress()
                self.progress.chip()
        self._progress()
        self.varied = ui.column().classes("w-full")
        self.results = Results(watched, web.experiments.folder)
        with ui.column().classes("w-full gap-2"):
            heading(t("experiments.conversations"))
            self.table = CellsTable(watched)
        disclaimer()
        self.announced = ui.label().classes("sr-only").props("aria-live=polite")
        self._vary()
        self._draw()
        ui.timer(_POLL_S, self.refresh)

    def _progress(self) -> None:
        with card(look="px-4"):
            self.progress.draw()
            self.driving = ui.label(t("experiments.driven")).classes("text-sm")
            with ui.column().classes("w-full gap-1") as self.going_on:
                ui.label(t("experiments.go_on")).classes("text-sm")
                command(command_of("run", self.watched.place.path / FILE, self.web.experiments.folder))
                ui.label(t("experiments.costs")).classes("text-xs muted")

    def _vary(self) -> None:
        """Draw what is varied, with all levels."""
        axes = {one_line(axis): [shown(label) for label in labels] for axis, labels in self.watched.axes.items()}
        tasks = dict.fromkeys(one.cell.task for one in self.watched.cells.values() if one.cell.task)
        if tasks:
            axes[t("experiments.task")] = [one_line(task) for task in tasks]
        with anew(self.varied), card(look="px-4"):
            heading(t("experiments.varied"))
            if not axes:
                ui.label(t("experiments.nothing_varied")).classes("text-sm muted")
            for axis, labels in axes.items():
                with ui.row().classes("w-full items-baseline gap-x-2 gap-y-1"):
                    ui.label(axis).classes("text-sm muted min-w-[90px] [overflow-wrap:anywhere]")
                    for label in labels[:_MOST_LEVELS]:
                        ui.label(label).classes("tint text-xs max-w-full [overflow-wrap:anywhere]")
                    if len(labels) > _MOST_LEVELS:
                        ui.label(t("experiments.more_levels", n=len(labels) - _MOST_LEVELS)).classes("text-xs muted")

    async def refresh(self) -> None:
        """Show what has changed."""
        try:
            watched = await self.web.experiments.look(self.watched.name)
        except PerSimChatError as error:
            if not self.failed:  # once: the folder may be gone for good
                notify_error(error)
            self.failed = True
            return
        other = watched is not self.watched or watched.planned != self.planned
        self.watched = self.table.watched = watched
        if other:
            self.planned = watched.planned
            self._vary()
            self.table.draw()
        self._draw()

    def _draw(self) -> None:
        watched, short = self.watched, self.watched.summary()
        self.progress.tell(short)
        now = (watched, watched.revision)
        if now == self.drawn:
            return
        self.drawn = now
        told = self.progress.show(short)
        self.driving.set_visibility(short.driven)
        self.going_on.set_visibility(not short.driven and short.counts.get("done", 0) < short.cells)
        self.results.show(watched)
        self.table.refresh()
        if short.driven != self.driven:
            self.driven = short.driven
            self.announced.set_text(told)
