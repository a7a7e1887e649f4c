"""The list of experiments."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.experiments.command import EXAMPLE, command, command_of
from persimchat.app.web.experiments.standing import (
    Bar,
    StandingChip,
    counts_in_words,
    left_in_words,
    spent_in_words,
    touched_in_words,
)
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.results import EVERY_S, Found
from persimchat.app.web.shared.formats import joined
from persimchat.app.web.shared.navigation import experiment_page_of
from persimchat.app.web.watching import Summary
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError


async def experiments_page(web: WebContext) -> None:
    """Draw the page."""
    Frame(t("common.experiments"))
    ui.query(".nicegui-content").classes("p-0")
    _ExperimentsPage(web)


class _ExperimentsPage:
    def __init__(self, web: WebContext) -> None:
        self.web = web
        self.found: Found | None = None
        self.cards: dict[str, _Card] = {}
        with ui.column().classes("w-full max-w-[1040px] mx-auto p-4 gap-4"):
            with ui.row().classes("w-full items-baseline gap-3"):
                ui.label(t("common.experiments")).classes("text-2xl font-bold").props("role=heading aria-level=1")
                self.count = ui.label().classes("text-sm muted").props("role=status")
            self.box = ui.column().classes("w-full gap-3")
            with self.box:
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
        for name, card in [*self.cards.items()]:
            try:
                card.show(await self.web.experiments.summary(name))
            except PerSimChatError as error:
                card.fail(str(error))

    async def refresh(self) -> None:
        """Show what has changed."""
        if self.found is not None:  # it has been read once
            await self.load()

    def _draw(self, found: Found) -> None:
        self.box.clear()
        self.count.set_text(t("experiments.count", n=len(found.names)) if found.names else "")
        with self.box:
            if found.names:
                with ui.column().classes("w-full gap-3").props("role=list"):
                    self.cards = {name: _Card(name) for name in found.names}
            else:
                self.cards = {}
                self._empty()
            _unread(found.unread)

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
        with ui.column().classes("run-card surface w-full gap-2 px-4 py-3").props("role=listitem"):
            with ui.row().classes("w-full items-center gap-3 no-wrap"):
                with ui.link(target=experiment_page_of(name)).classes("run-topic no-underline text-inherit min-w-0"):
                    ui.label(name).classes("font-semibold text-base [overflow-wrap:anywhere]")
                ui.space()
                self._chip = StandingChip()
            self._bar = Bar()
            self._counts = ui.label().classes("text-sm tabular-nums")
            self._about = ui.label().classes("text-xs muted tabular-nums [overflow-wrap:anywhere]")

    def show(self, short: Summary) -> None:
        """Show how far it is."""
        if short == self._shown and not short.driven:
            return
        self._shown = short
        self._chip.show(short)
        self._bar.show(short)
        self._counts.set_text(joined([counts_in_words(short), left_in_words(short.seconds_left)]))
        self._about.set_text(joined([spent_in_words(short), touched_in_words(short)]))

    def fail(self, why: str) -> None:
        """Show why it cannot be read."""
        self._counts.set_text(why)


def _unread(names: Sequence[str]) -> None:
    """Folders that hold an experiment, but have names that are not ones of experiments."""
    if names:
        with ui.expansion(t("experiments.unread", n=len(names)), icon="folder_off").classes("surface w-full"):
            ui.label(t("experiments.unread_why")).classes("text-sm muted")
            for name in names:
                ui.label(name).classes("text-sm [overflow-wrap:anywhere] pb-1")
