"""The list of runs: each as a row, branches under their origin, searched by words, mode, ending and tag."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from nicegui import ui

from ....reports.words import compact, spaced
from ....runs.events import StopReason
from ....runs.folder.listing import UNFINISHED, ListedRun, Listing, Tree, matching, trees
from ....state.plain_text import one_line, shortened
from ....state.settings import MODES
from ....state.wording import entry
from ..board import Board
from ..context import WebContext
from ..frame import page, page_title
from ..shared.formats import dollars, joined, moment
from ..shared.lists import draw_unread, page_by_page
from ..shared.navigation import comparison_of, like, page_of, resume_and_show
from ..shared.runs import closed_runs
from ..widgets import (
    anew,
    avatar,
    chip,
    colour,
    errors_shown,
    item,
    menu,
    named,
    nothing_yet,
    plain_button,
    reached,
    say_in,
    text_button,
)
from ..words import t, t_or
from .actions import ask_delete, ask_labels, tags_of

_MOST_WORDS: Final = 140
"""Characters of words that a branch put in."""


def address_of(listed: ListedRun) -> str:
    """The run's id on this server: the name of its folder, even if the folder was renamed or copied."""
    return Path(listed.folder).name


def title_of(listed: ListedRun) -> str:
    """The name that its user gave a run; its topic if there is none."""
    return one_line(listed.name or listed.topic)


def ending(reason: str) -> str:
    """The ending of a run, or that it has none (`runs.listing.UNFINISHED`)."""
    return t_or(f"past.ended_{reason}", spaced(reason))


def branched(listed: ListedRun) -> str:
    """Where a branch leaves its origin, and what it changes there, in a line."""
    turn = listed.branch_turn or 0
    changed = dict(listed.branch_changed)
    said, chosen = changed.pop("say", None), changed.pop("choose", None)
    if listed.branch_why == "regenerate":
        what = t("past.branch_again", turn=turn + 1)
    elif isinstance(said, Mapping):
        words = shortened(one_line(str(said.get("text", ""))), _MOST_WORDS)
        what = t("past.branch_says", turn=turn + 1, who=one_line(str(said.get("speaker", ""))), text=words)
    elif isinstance(chosen, Mapping):
        host, partner = (one_line(str(chosen.get(key, ""))) for key in ("host", "partner"))
        what = t("past.branch_chooses", turn=turn, host=host, partner=partner)
    else:
        what = t("past.branch_at", turn=turn)
    return joined([what, *(f"{spaced(name)}: {one_line(compact(value))}" for name, value in changed.items())])


# The row


_COLOURS: Final = {"budget": "#d97706", "error": "#dc2626", UNFINISHED: "#d97706"}
"""Of the endings that ask for something; the others are told in plain text."""
LIVE: Final = "#059669"

INTERRUPTED: Final = frozenset({UNFINISHED, "stopped", "error"})
"""Endings (`ListedRun.ended`) after which a run can be resumed without changes."""

_MOST_FACES: Final = 5
_QUIET: Final = "flat no-wrap dense padding='4px 10px'"


class RunRow:
    """A run's row.

    Args:
        page: on which it stands.
        listed: the run.
        origin: the run under which it stands as a branch; None if it stands by itself.
        chosen: whether it is chosen.
        closed: whether people play it, so that the row tells nothing of its course until it is over.
    """

    def __init__(
        self, page: _RunsPage, listed: ListedRun, *, origin: ListedRun | None, chosen: bool, closed: bool
    ) -> None:
        self.run = address_of(listed)
        self._web, self._listed, self._closed, self._origin = page.web, listed, closed, origin
        self._wanted: str | None = None
        is_branch = listed.branch_of is not None and not closed
        self._title = branched(listed) if is_branch and origin is not None and not listed.name else title_of(listed)
        with ui.element("div").classes("run-row"):
            box = ui.checkbox(value=chosen, on_change=lambda event: page.choose(self.run, bool(event.value)))
            named(box.props("dense"), t("past.choose", topic=self._title)).classes("run-over")
            if origin is None:
                _faces(listed.participants)
            else:
                ui.element("div").classes("run-elbow").props("aria-hidden=true")
            with ui.column().classes("gap-0 min-w-0"):
                with ui.link(target=page_of(self.run)).classes("run-topic no-underline text-inherit max-w-full"):
                    weight = "font-semibold" if origin is None or listed.name else "font-medium"
                    ui.label(self._title).classes(f"{weight} leading-snug line-clamp-2 [overflow-wrap:anywhere]")
                if listed.name and origin is None:
                    ui.label(one_line(listed.topic)).classes("text-sm line-clamp-1 [overflow-wrap:anywhere]")
                if is_branch and (listed.name or origin is None):
                    ui.label(branched(listed)).classes("text-sm line-clamp-1 [overflow-wrap:anywhere]")
                self._about = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
                if listed.tags:
                    with ui.row().classes("gap-1 pt-1 run-over"):
                        for tag in listed.tags:
                            _tag(one_line(tag), page.tag.set_value)
            with ui.row().classes("run-state items-center gap-2 no-wrap"):
                self._state = chip("")
                self._does = ui.element("div").classes("run-over")
            with ui.element("div").classes("run-more run-over"):
                self._menu(page)
        self.refresh(None)

    def refresh(self, board: Board | None) -> None:
        """Show the state of the run.

        Args:
            board: the data of an active run of this server.
        """
        listed = self._listed
        status = "running" if board is None else board.status
        live = listed.active and entry(f"past.live_{status}") is not None
        self._about.set_text(" · ".join(self._facts(board, live=live)))
        tint = LIVE if live else _COLOURS.get(listed.ended, "")
        self._state.set_text(t(f"past.live_{status}") if live else ending(listed.ended))
        self._state.set_visibility(bool(tint))
        if tint:
            self._state.style(f"--c:{tint}")
        self._state.classes(**{"add" if live else "remove": "live-chip"})
        self._action("answer" if live and status == "asked" else "watch" if live else "")

    def _facts(self, board: Board | None, *, live: bool) -> list[str]:
        listed = self._listed
        made = listed.utterances if board is None else max(board.turn, listed.utterances)
        mode = "setup.kind_focus" if listed.guided else f"past.mode_{listed.mode}"
        ended = [] if live or listed.ended in _COLOURS else [ending(listed.ended)]
        told = [] if self._closed else [t("past.utterances", n=made), *ended]
        facts = [moment(listed.started), *told]
        if self._origin is None or listed.model != self._origin.model:
            facts += [t_or(mode, listed.mode), *([listed.baseline] if listed.baseline else [])]
            facts.append(listed.model or t("past.unknown"))
        if listed.cost_usd and not listed.active and not self._closed:
            facts.append(dollars(listed.cost_usd))
        return [*facts, *([t("past.played")] if self._closed else [])]

    def _action(self, live: str) -> None:
        """Draw the action that fits the state, if it is another one than before."""
        listed = self._listed
        wanted = live or ("resume" if listed.ended in INTERRUPTED else "" if self._closed else "replay")
        if self._wanted == wanted:
            return
        self._wanted = wanted
        with anew(self._does):
            if wanted == "resume":
                button = ui.button(t("past.resume"), on_click=lambda: resume_and_show(self._web, self.run))
            elif wanted:  # on a phone, the row itself opens a run that is over
                button = ui.button(t(f"past.{wanted}"))
                address = page_of(self.run, 0, play=True) if wanted == "replay" else page_of(self.run)
                button.props["href"] = reached(address)
            else:
                return
            button.classes("gt-xs" if wanted == "replay" else "")
            named(button.props(_QUIET), t("past.card_do", what=t(f"past.{wanted}"), topic=self._title))

    def _menu(self, page: _RunsPage) -> None:
        listed, run = self._listed, self.run
        with menu("more_vert", t("past.card_do", what=t("past.actions"), topic=self._title)):
            item("label", t("past.labels"), lambda: page.label(listed))
            if not self._closed:
                if self._origin is None:
                    item("compare_arrows", t("past.compare_with"), href=comparison_of(run))
                else:
                    href = comparison_of(address_of(self._origin), run)
                    item("compare_arrows", t("past.compare_origin"), href=href)
                item("library_add", t("past.like"), href=like(run))
            if not listed.active:
                item("delete", t("past.delete"), lambda: page.delete(run))


def _tag(tag: str, find: Callable[[str], Any]) -> None:
    named(plain_button(tag, lambda: find(tag)).classes("run-tag"), t("past.find_tag", tag=tag))


def _faces(names: list[str]) -> None:
    with ui.row().classes("faces no-wrap shrink-0 gap-0"):
        for name in names[:_MOST_FACES]:
            avatar(name, colour(name, names), "30px")
        if len(names) > _MOST_FACES:
            ui.label(f"+{len(names) - _MOST_FACES}").classes("text-xs muted self-center pl-2")


# The list


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
    with page(t("common.runs"), 1040):
        _RunsPage(web)


class _RunsPage:
    def __init__(self, web: WebContext) -> None:
        self.web = web
        self.listing = Listing([], [])
        self.closed: frozenset[str] = frozenset()
        self.drawn: Callable[[], int] = lambda: 0
        self.chosen: dict[str, None] = {}
        self.rows: list[RunRow] = []
        self.active: list[str] = []
        with ui.row().classes("w-full items-center gap-3"):
            page_title(t("common.runs"))
            self.count = ui.label().classes("text-sm muted").props("role=status")
            ui.space()
            text_button(t("common.compare"), icon="compare_arrows", href="/compare")
            text_button(t("past.new"), lambda: ui.navigate.to("/"), icon="add", look="unelevated")
        self._filters()
        self.bar = ui.row().classes("chosen-bar surface w-full items-center gap-2 px-4 py-2")
        self.asking = ui.element("div").classes("hidden")
        with ui.column().classes("w-full gap-3") as self.box:
            ui.spinner(size="32px").classes("mx-auto mt-8")
        self._draw_bar()
        ui.timer(0, self.load, once=True)  # a long list must not delay the page
        ui.timer(_POLL_S, self.refresh)

    def _filters(self) -> None:
        def chosen(field: str, every: str, options: dict[str, str]) -> ui.select:
            select = ui.select({"": t(every), **options}, label=t(field), value="", on_change=self.search)
            return select.classes("grow sm:grow-0 basis-[140px] sm:basis-[170px]")

        with ui.row().classes("w-full gap-2") as self.filters:
            self.text = ui.input(t("past.search"), on_change=self.search).props("clearable debounce=250")
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
        with errors_shown():
            self.listing = await self.web.runs.runs()
            self.closed = await asyncio.to_thread(closed_runs, self.listing.runs)
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
        self.drawn = lambda: 0
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
        some = t("past.found_some", n=len(found), of=len(runs))
        say_in(self.count, "" if not runs else t("past.found_all", n=len(runs)) if everything else some)
        self.rows = []
        with anew(self.box):
            if not runs:
                nothing_yet("forum", t("past.empty"), t("past.empty_why"), t("past.empty_start"))
            elif not found:
                with ui.column().classes("w-full items-center gap-3 py-12"):
                    ui.label(t("past.none_fits")).classes("muted")
                    text_button(t("past.clear"), self.clear)
            else:
                self._list(found)
            draw_unread(t("past.unread", n=len(self.listing.unread)), self.listing.unread)

    def _list(self, found: list[ListedRun]) -> None:
        place = {listed.folder: at for at, listed in enumerate(found)}
        grown = sorted(trees(found), key=lambda tree: min(place[one.run.folder] for one in tree))
        self.drawn = page_by_page(len(grown), lambda at: self._add(grown[at]), PAGE, "past.more", self.drawn())

    def _add(self, tree: Tree) -> None:
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
                text_button(t("past.more_branches", n=len(every) - FEW), lambda: show(), look="flat dense")

            def show(family: ui.element | None = last.parent_slot.parent if last.parent_slot else None) -> None:
                last.delete()
                if family is not None:
                    with family:
                        for branch, origin, depth in every[FEW:]:
                            self._row(branch, origin, depth)

    def _row(self, listed: ListedRun, origin: ListedRun | None, depth: int) -> None:
        chosen, closed = address_of(listed) in self.chosen, listed.folder in self.closed
        with ui.element("li").style(f"--depth:{min(depth, _DEEPEST)}"):
            self.rows.append(RunRow(self, listed, origin=origin, chosen=chosen, closed=closed))

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
        self.bar.set_visibility(bool(self.chosen))
        runs = list(self.chosen)
        with anew(self.bar):
            ui.label(t("past.chosen", n=len(runs))).classes("text-sm").props("role=status")
            ui.space()
            look = "unelevated dense padding='4px 12px'"
            compare = text_button(t("past.compare"), icon="compare_arrows", look=look)
            compare.on_click(lambda: ui.navigate.to(comparison_of(*runs)))
            compare.mark("compare-chosen").set_enabled(len(runs) == two)
            text_button(
                t("past.delete"), lambda: self.delete(*self.chosen), icon="delete", look="flat dense color=negative"
            )
            text_button(t("past.unchoose"), self.unchoose, look="flat dense color=grey-7")


def _under(tree: Tree, depth: int) -> Iterator[tuple[ListedRun, ListedRun, int]]:
    """The branches below a run, each with its origin and how deep it stands."""
    for branch in tree.branches:
        yield branch.run, tree.run, depth
        yield from _under(branch, depth + 1)
