"""Two runs side by side."""

from __future__ import annotations

import asyncio
from pathlib import Path

from nicegui import ui

from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.past.addresses import comparison_of
from persimchat.app.web.past.compare_columns import columns
from persimchat.app.web.past.compare_facts import facts
from persimchat.app.web.past.run_card import address_of
from persimchat.app.web.past.wording import moment
from persimchat.app.web.place import Place
from persimchat.app.web.widgets import FIELD, icon_button, told
from persimchat.app.web.words import t
from persimchat.runs.diff import Comparison, compare
from persimchat.runs.listing import ListedRun
from persimchat.runs.reading import Record, read_run
from persimchat.runs.recorded import WholeMind
from persimchat.state.errors import PerSimChatError


async def compare_page(place: Place, a: str = "", b: str = "") -> None:
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
            listing = await place.runs.runs()
        except PerSimChatError as error:
            told(error)
            return
        with chooser:
            _choose(listing.runs, a, b)
        if a and b:
            await _compared(place, box, a, b)

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


async def _compared(place: Place, box: ui.column, a: str, b: str) -> None:
    try:
        one, other, comparison = await asyncio.to_thread(_read, place.runs.folder(a), place.runs.folder(b))
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
    one = read_run(a, WholeMind)
    other = one if a == b else read_run(b, WholeMind)
    return one, other, compare(one, other)
