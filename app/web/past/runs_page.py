"""The runs list: branches under their origin, searched by words, mode, ending and tag."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame
from persimchat.app.web.past.actions import ask_delete
from persimchat.app.web.past.labels_dialog import ask_labels, tags_of
from persimchat.app.web.past.run_row import RowActions, RunRow
from persimchat.app.web.past.wording import address_of, ending
from persimchat.app.web.shared.navigation import comparison_of
from persimchat.app.web.shared.stories import closed_runs
from persimchat.app.web.widgets import FIELD, nothing_yet, notify_error
from persimchat.app.web.words import t
from persimchat.runs.events import StopReason
from persimchat.runs.folder.family import Tree, trees
from persimchat.runs.folder.listing import UNFINISHED, ListedRun, Listing, matching
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import MODES

PAGE: Final = 25
"""How many runs are drawn at a time, each with its branches."""
FEW: Final = 4
"""The branches of a run that are shown without being asked for."""
_POLL_S: Final = 1.0
_DEEPEST: Final = 3
"""Branches of branches of branches are not moved further to the right."""
_ENDINGS: Final = (*get_args(StopReason), UNFINISHED)


async def runs_page(web: WebContext) -> None:
    """Draw the page."""
    Frame(t("common.runs"))
    ui.query(".nicegui-content").classes("p-0")
    _RunsPage(web)


class _RunsPage:
    def __init__(self, web: WebContext) -> None:
        self.web = web
        self.listing = Listing([], [])
        self.closed: frozenset[str] = frozenset()
        self.shown = PAGE
        self.chosen: dict[str, None] = {}
        self.rows: list[RunRow] = []
        self.active: list[str] = []
        with ui.column().classes("w-full max-w-[1040px] mx-auto p-4 gap-4"):
            with ui.row().classes("w-full items-center gap-3"):
                ui.label(t("common.runs")).classes("text-2xl font-bold").props("role=heading aria-level=1")
                self.count = ui.label().classes("text-sm muted").props("role=status")
                ui.space()
                ui.button(t("past.new"), icon="add", on_click=lambda: ui.navigate.to("/")).props("unelevated no-caps")
            self._filters()
            self.bar = ui.row().classes("chosen-bar surface w-full items-center gap-2 px-4 py-2")
            self.asking = ui.element("div").classes("hidden")
            self.box = ui.column().classes("w-full gap-3")
            with self.box:
                ui.spinner(size="32px").classes("mx-auto mt-8")
        self._draw_bar()
        ui.timer(0, self.load, once=True)  # a long list must not delay the page
        ui.timer(_POLL_S, self.refresh)

    def _filters(self) -> None:
        def chosen(field: str, every: str, options: dict[str, str]) -> ui.select:
            select = ui.select({"": t(every), **options}, label=t(field), value="", on_change=self.search)
            return select.props(FIELD).classes("grow sm:grow-0 basis-[140px] sm:basis-[170px]")

        with ui.row().classes("w-full gap-2") as self.filters:
            self.text = ui.input(t("past.search"), on_change=self.search).props(f"{FIELD} clearable debounce=250")
            self.text.classes("grow basis-[240px]").props("type=search")
            with self.text.add_slot("prepend"):
                ui.icon("search").props("aria-hidden=true")
            modes = {str(mode): t(f"past.mode_{mode}") for mode in MODES}
            self.mode = chosen("past.mode", "past.mode_all", modes)
            self.ended = chosen("past.ended", "past.ended_all", {reason: ending(reason) for reason in _ENDINGS})
            self.tag = chosen("past.tag", "past.tag_all", {})

    async def load(self) -> None:
        """Read the list."""
        self.active = [live.run for live in self.web.runs.active]
        try:
            self.listing = await self.web.runs.runs()
            self.closed = await asyncio.to_thread(closed_runs, self.listing.runs)
        except PerSimChatError as error:
            notify_error(error)
        tags = tags_of(self.listing.runs)
        self.tag.set_options({"": t("past.tag_all"), **{tag: tag for tag in tags}})
        if self.tag.value not in ("", *tags):
            self.tag.set_value("")
        self.tag.set_visibility(bool(tags))
        there = {address_of(listed) for listed in self.listing.runs}
        self.chosen = {run: None for run in self.chosen if run in there}
        self._draw_bar()
        self.draw()

    async def refresh(self) -> None:
        """Show the state of active runs; read the list again if a run has begun or ended."""
        if [live.run for live in self.web.runs.active] != self.active:
            await self.load()
        for row in self.rows:
            if live := self.web.runs.going_on(row.run):
                row.refresh(live.board)

    def search(self) -> None:
        """The search has changed."""
        self.shown = PAGE
        self.draw()

    def clear(self) -> None:
        """Clear the search."""
        for field in (self.text, self.mode, self.ended, self.tag):
            field.set_value("")

    def found(self) -> list[ListedRun]:
        """The runs that match the search, active ones first."""
        text, mode, ended = self.text.value or "", self.mode.value or None, self.ended.value or None
        tags = [self.tag.value] if self.tag.value else []
        found = matching(self.listing.runs, text=text, mode=mode, ended=ended, tags=tags)
        return sorted(found, key=lambda listed: not listed.active)

    def draw(self) -> None:
        """Draw the rows."""
        runs, found = self.listing.runs, self.found()
        self.filters.set_visibility(bool(runs))
        everything = len(found) == len(runs)
        self.count.set_text(
            t("past.found_all", n=len(runs)) if everything else t("past.found_some", n=len(found), of=len(runs))
        )
        self.count.set_visibility(bool(runs))
        self.box.clear()
        self.rows = []
        with self.box:
            if not runs:
                nothing_yet("forum", t("past.empty"), t("past.empty_why"), t("past.empty_start"))
            elif not found:
                with ui.column().classes("w-full items-center gap-3 py-12"):
                    ui.label(t("past.none_fits")).classes("muted")
                    ui.button(t("past.clear"), on_click=self.clear).props("flat no-caps")
            else:
                self._list(found)
            _unread(self.listing.unread)

    def _list(self, found: list[ListedRun]) -> None:
        place = {listed.folder: at for at, listed in enumerate(found)}
        grown = sorted(trees(found), key=lambda tree: min(place[one.run.folder] for one in tree))
        with ui.column().classes("w-full gap-3") as families:
            self._add(grown[: self.shown])
        if len(grown) > self.shown:
            more = ui.button().props("outline no-caps").classes("self-center")

            def show_more() -> None:
                begin, self.shown = self.shown, self.shown + PAGE
                with families:
                    self._add(grown[begin : self.shown])
                label()

            def label() -> None:
                more.set_text(t("past.more", n=min(PAGE, len(grown) - self.shown)))
                more.set_visibility(len(grown) > self.shown)

            more.on_click(show_more)
            label()

    def _add(self, grown: list[Tree]) -> None:
        for tree in grown:
            with ui.element("ul").classes("run-family plain surface w-full"):
                self._row(tree.run, None, 0)
                self._branches(tree)

    def _branches(self, tree: Tree) -> None:
        """The rows of a run's branches, and of theirs; many of them only on demand."""
        every = list(_under(tree, 1))
        for branch, origin, depth in every[:FEW]:
            self._row(branch, origin, depth)
        if len(every) > FEW:
            with ui.element("li").classes("run-rest") as last:
                rest = ui.button(t("past.more_branches", n=len(every) - FEW)).props("flat no-caps dense")

            def show(family: ui.element | None = last.parent_slot.parent if last.parent_slot else None) -> None:
                last.delete()
                if family is not None:
                    with family:
                        for branch, origin, depth in every[FEW:]:
                            self._row(branch, origin, depth)

            rest.on_click(lambda: show())

    def _row(self, listed: ListedRun, origin: ListedRun | None, depth: int) -> None:
        actions = RowActions(self.choose, self.delete, self.label, self.tag.set_value)
        chosen, closed = address_of(listed) in self.chosen, listed.folder in self.closed
        with ui.element("li").style(f"--depth:{min(depth, _DEEPEST)}"):
            self.rows.append(RunRow(self.web, listed, actions, origin=origin, chosen=chosen, closed=closed))

    def choose(self, run: str, chosen: bool) -> None:
        """A run was selected or deselected."""
        if chosen:
            self.chosen[run] = None
        else:
            self.chosen.pop(run, None)
        self._draw_bar()

    def unchoose(self) -> None:
        """Clear the selection."""
        self.chosen = {}
        self._draw_bar()
        self.draw()

    async def label(self, listed: ListedRun) -> None:
        """Name and tag a run."""
        with self.asking:
            if await ask_labels(Path(listed.folder), listed.topic, tags_of(self.listing.runs)):
                await self.load()

    async def delete(self, *runs: str) -> None:
        """Delete runs after confirmation."""
        with self.asking:  # the row that asked for this may have been redrawn
            if await ask_delete(self.web, runs):
                await self.load()

    def _draw_bar(self) -> None:
        two = 2
        self.bar.clear()
        self.bar.set_visibility(bool(self.chosen))
        runs = list(self.chosen)
        with self.bar:
            ui.label(t("past.chosen", n=len(runs))).classes("text-sm").props("role=status")
            ui.space()
            compare = ui.button(t("past.compare"), icon="compare_arrows").props(
                "unelevated no-caps dense padding='4px 12px'"
            )
            compare.on_click(lambda: ui.navigate.to(comparison_of(*runs))).set_enabled(len(runs) == two)
            delete = ui.button(t("past.delete"), icon="delete", on_click=self._delete_chosen)
            delete.props("flat no-caps dense color=negative")
            ui.button(t("past.unchoose"), on_click=self.unchoose).props("flat no-caps dense color=grey-7")

    async def _delete_chosen(self) -> Any:
        await self.delete(*self.chosen)


def _under(tree: Tree, depth: int) -> Iterator[tuple[ListedRun, ListedRun, int]]:
    """The branches below a run, each with its origin and how deep it stands."""
    for branch in tree.branches:
        yield branch.run, tree.run, depth
        yield from _under(branch, depth + 1)


def _unread(problems: list[str]) -> None:
    """Folders that cannot be read, and what is wrong with them."""
    if not problems:
        return
    with ui.expansion(t("past.unread", n=len(problems)), icon="folder_off").classes("surface w-full"):
        for problem in problems:
            ui.label(problem).classes("text-sm [overflow-wrap:anywhere] pb-1")
