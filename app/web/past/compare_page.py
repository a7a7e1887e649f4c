"""Two runs side by side: the page that chooses them, and their transcripts turn beside turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.chat.lines import put_in
from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.looks import colour
from persimchat.app.web.past.compare_facts import facts
from persimchat.app.web.past.run_card import address_of, moment
from persimchat.app.web.shared.navigation import comparison_of
from persimchat.app.web.widgets import FIELD, avatar, icon_button, notify_error, title
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.folder.reading import Record, read_run
from persimchat.runs.reports.diff import Comparison, compare
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

PAGE: Final = 30
"""Turns that are drawn at once."""


async def compare_page(web: WebContext, a: str = "", b: str = "") -> None:
    """Draw the page."""
    Frame(t("past.compare_title"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[1200px] mx-auto p-4 gap-4"):
        ui.label(t("past.compare_title")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        chooser = ui.row().classes("w-full items-center gap-2")
        box = ui.column().classes("w-full gap-4")
        disclaimer()
    with box:
        if a and b:
            with ui.column().classes("w-full items-center gap-2 mt-8").props("role=status"):
                ui.spinner(size="32px").props("aria-hidden=true")
                ui.label(t("past.reading")).classes("text-sm muted")
        else:
            ui.label(t("past.compare_hint")).classes("muted")

    async def load() -> None:
        try:
            listing = await web.runs.runs()
        except PerSimChatError as error:
            notify_error(error)
            return
        with chooser:
            _choose(listing.runs, a, b)
        if a and b:
            await _compared(web, box, a, b)

    ui.timer(0, load, once=True)


def _choose(runs: list[ListedRun], a: str, b: str) -> None:
    """Two fields and a button between them; what is chosen is in the address."""
    options = {address_of(listed): _option(listed) for listed in runs}

    def go(one: str | None, other: str | None) -> None:
        if (one or "", other or "") != (a, b):
            ui.navigate.to(comparison_of(one or "", other or ""))

    def field(name: str, value: str) -> ui.select:
        select = ui.select(options, label=t(name), value=value if value in options else None, with_input=True)
        return select.props(f"{FIELD} clearable").classes("grow basis-[280px] min-w-0")

    one = field("past.run_a", a)
    icon_button("swap_horiz", t("past.swap"), lambda: go(other.value, one.value))
    other = field("past.run_b", b)
    for select in (one, other):
        select.on_value_change(lambda: go(one.value, other.value))


def _option(listed: ListedRun) -> str:
    said = t("past.utterances", n=listed.utterances)
    return t("past.option", topic=listed.topic, moment=moment(listed.started), count=said, run=address_of(listed))


async def _compared(web: WebContext, box: ui.column, a: str, b: str) -> None:
    try:
        one, other, comparison = await asyncio.to_thread(_read, web.runs.folder(a), web.runs.folder(b))
    except PerSimChatError as error:
        box.clear()
        with box, ui.row().classes("items-center gap-3"):
            ui.icon("search_off", size="32px", color="primary").props("aria-hidden=true")
            ui.label(str(error)).classes("muted [overflow-wrap:anywhere]")
        return
    box.clear()
    with box:
        facts(comparison, one, other)
        columns(comparison, one, other)


def _read(a: Path, b: Path) -> tuple[Record, Record, Comparison]:
    one = read_run(a, whole=True)
    other = one if a == b else read_run(b, whole=True)
    return one, other, compare(one, other)


Pair = tuple[int, Uttered | None, Uttered | None]
"""A turn and what either run has there."""


def pairs(a: Sequence[Uttered], b: Sequence[Uttered]) -> list[Pair]:
    """The utterances of two runs turn by turn."""
    by_turn_a, by_turn_b = ({said.turn: said for said in run} for run in (a, b))
    return [(turn, by_turn_a.get(turn), by_turn_b.get(turn)) for turn in sorted(by_turn_a.keys() | by_turn_b.keys())]


def columns(comparison: Comparison, a: Record, b: Record) -> None:
    """Draw them."""
    shared = a.utterances[: comparison.shared]
    own = pairs(a.utterances[comparison.shared :], b.utterances[comparison.shared :])
    names = [share.name for share in comparison.participants]
    title(t("past.transcripts"))
    if shared:
        with ui.expansion(t("past.shared_past", n=len(shared)), icon="merge").classes("surface w-full") as past:
            inside = ui.column().classes("w-full gap-2")

        def unfold() -> None:
            if not inside.default_slot.children:  # drawn when it is first looked at
                windowed(inside, len(shared), lambda at: _said(shared[at], names, ""))

        past.on_value_change(unfold)
        past.set_value(not own)
    if own:
        with ui.element("div").classes("side-by-side side-head w-full"):
            for run in ("A", "B"):
                ui.label(run).classes("panel-title")
        windowed(ui.column().classes("w-full gap-3"), len(own), lambda at: _pair(own, at, names))


def windowed(box: ui.column, total: int, draw: Callable[[int], None]) -> None:
    """Draw the first things into a box, and more of them when they are asked for."""
    drawn = 0
    with box:
        inside = ui.column().classes("w-full gap-3")
        more = ui.button().props("outline no-caps").classes("self-center")

    def show() -> None:
        nonlocal drawn
        begin, drawn = drawn, min(drawn + PAGE, total)
        with inside:
            for at in range(begin, drawn):
                draw(at)
        more.set_text(t("past.more", n=min(PAGE, total - drawn)))
        more.set_visibility(drawn < total)

    more.on_click(show)
    show()


def _pair(own: list[Pair], at: int, names: list[str]) -> None:
    before = own[at - 1] if at else None
    with ui.element("div").classes("side-by-side pair w-full"):
        for side, run in ((1, "A"), (2, "B")):
            with ui.column().classes("gap-1 min-w-0"):
                said = own[at][side]
                if isinstance(said, Uttered):
                    _said(said, names, run)
                elif before is None or before[side] is not None:  # said once
                    with ui.row().classes("items-baseline gap-2"):
                        ui.label(run).classes("side-tag text-xs font-bold")
                        ui.label(t("past.nothing_more")).classes("text-sm muted italic")


def _said(said: Uttered, names: list[str], run: str) -> None:
    with ui.row().classes("w-full gap-2 no-wrap items-start"):
        avatar(said.speaker, colour(said.speaker, names), "30px")
        with ui.column().classes("gap-1 min-w-0 grow"):
            with ui.row().classes("items-baseline gap-2 gap-y-0"):
                if run:
                    ui.label(run).classes("side-tag text-xs font-bold")
                ui.label(one_line(said.speaker)).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                ui.label(t("past.turn", turn=said.turn)).classes("text-xs muted")
                if said.heard_by is not None:
                    whisper = ui.label(t("past.whisper", names=", ".join(map(one_line, said.heard_by))))
                    whisper.classes("text-xs muted italic break-words")
                if said.edited_by is not None:
                    ui.label(put_in(said.edited_by)).classes("text-xs muted italic break-words")
            ui.label(said.text).classes("bubble text-sm")
