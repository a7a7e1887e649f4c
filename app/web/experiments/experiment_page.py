"""The page of one experiment: how far it is, what is varied, report and tables, and its conversations."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.experiments.cells_table import CellsTable, shown
from persimchat.app.web.experiments.command import command, command_of, file_of
from persimchat.app.web.experiments.results import Results, heading
from persimchat.app.web.experiments.standing import (
    Bar,
    StandingChip,
    counts_in_words,
    left_in_words,
    spent_in_words,
    touched_in_words,
)
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.shared.formats import joined
from persimchat.app.web.watching import Watched
from persimchat.app.web.widgets import card, notify_error
from persimchat.app.web.words import t
from persimchat.experiments.place import FILE
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised, one_line

_POLL_S: Final = 1.0
"""How often a page asks whether there is something new; the folder is read less often (`results.EVERY_S`)."""

_MOST_LEVELS: Final = 24
_ANY_FILE: Final = "FILE"


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
            box.clear()
            with box:
                ui.label(capitalised(str(error))).classes("muted [overflow-wrap:anywhere]")
            return
        box.clear()
        with box:
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
                self.chip = StandingChip()
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
        with card() as box:
            box.classes("px-4")
            self.bar = Bar()
            self.counts = ui.label().classes("font-medium tabular-nums")
            self.spent = ui.label().classes("text-sm muted tabular-nums [overflow-wrap:anywhere]")
            self.driving = ui.label(t("experiments.driven")).classes("text-sm")
            with ui.column().classes("w-full gap-1") as self.going_on:
                ui.label(t("experiments.go_on")).classes("text-sm")
                file = file_of(self.watched)
                command(command_of("run", file or _ANY_FILE, self.web.experiments.folder))
                if file is None:
                    kept = str(self.watched.place.path / FILE)
                    ui.label(t("experiments.file_kept", file=kept)).classes("text-xs muted [overflow-wrap:anywhere]")
                ui.label(t("experiments.costs")).classes("text-xs muted")

    def _vary(self) -> None:
        """Draw what is varied, with all levels."""
        self.varied.clear()
        axes = {one_line(axis): [shown(label) for label in labels] for axis, labels in self.watched.axes.items()}
        tasks = dict.fromkeys(one.cell.task for one in self.watched.cells.values() if one.cell.task)
        if tasks:
            axes[t("experiments.task")] = [one_line(task) for task in tasks]
        with self.varied, card() as box:
            box.classes("px-4")
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
        self.counts.set_text(joined([counts_in_words(short), left_in_words(short.seconds_left)]))
        now = (watched, watched.revision)
        if now == self.drawn:
            return
        self.drawn = now
        self.chip.show(short)
        self.bar.show(short)
        self.spent.set_text(joined([spent_in_words(short), touched_in_words(short)]))
        self.driving.set_visibility(short.driven)
        self.going_on.set_visibility(not short.driven and short.counts.get("done", 0) < short.cells)
        self.results.show(watched)
        self.table.refresh()
        if short.driven != self.driven:
            self.driven = short.driven
            self.announced.set_text(joined([self.chip.text, counts_in_words(short)]))
