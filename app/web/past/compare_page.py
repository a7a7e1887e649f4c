"""The page that compares two runs: choice of the runs, their differences, and their transcripts side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.past.compare_facts import Compared, facts, heads
from persimchat.app.web.past.overlays import courses
from persimchat.app.web.past.side_by_side import side_by_side
from persimchat.app.web.past.wording import address_of, branched, moment, title_of
from persimchat.app.web.shared.navigation import comparison_of
from persimchat.app.web.shared.stories import closed, closed_runs
from persimchat.app.web.widgets import FIELD, card, icon_button, nothing_yet, notify_error
from persimchat.app.web.words import t
from persimchat.runs.folder.family import family, origins
from persimchat.runs.folder.labels import read_labels
from persimchat.runs.folder.listing import ListedRun
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.diff import compare
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised, shortened

_MOST_TITLE: Final = 56
"""Characters of a title in a field, so that what follows it can be seen."""
_MOST_RELATIVES: Final = 12
_TWO: Final = 2


async def compare_page(web: WebContext, a: str = "", b: str = "") -> None:
    """Draw the page; with a branch alone, its origin is compared with it."""
    Frame(t("past.compare_title"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[1200px] mx-auto p-4 gap-4"):
        ui.label(t("past.compare_title")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        chooser = ui.row().classes("w-full items-center gap-2")
        box = ui.column().classes("w-full gap-4")
        disclaimer()

    async def load() -> None:
        one, other = a, b
        try:
            listing = await web.runs.runs()
        except PerSimChatError as error:
            notify_error(error)
            return
        shut = await asyncio.to_thread(closed_runs, listing.runs)
        origin = _origin(listing.runs, one) if one and not other else ""
        if origin:
            one, other = origin, one
            ui.navigate.history.replace(comparison_of(one, other))
        if len(listing.runs) < _TWO and not one:
            chooser.delete()
            with box:
                nothing_yet("compare_arrows", t("past.compare_few"), t("past.compare_few_why"), t("past.new"))
            return
        with chooser:
            _choose(listing.runs, shut, one, other)
        with box:
            if one and other:
                _waiting()
            elif not one:
                ui.label(t("past.compare_hint")).classes("muted")
            else:
                _relatives([listed for listed in listing.runs if listed.folder not in shut], one)
        if one and other:
            await _compared(web, box, one, other)

    ui.timer(0, load, once=True)


def _waiting() -> None:
    with ui.column().classes("w-full items-center gap-2 mt-8").props("role=status"):
        ui.spinner(size="32px").props("aria-hidden=true")
        ui.label(t("past.reading")).classes("text-sm muted")


def _origin(runs: Sequence[ListedRun], run: str) -> str:
    """The address of the run whose past a branch shares; empty if it is no branch, or its origin is gone."""
    above = origins(runs)
    return next((address_of(above[one.folder]) for one in runs if address_of(one) == run and one.folder in above), "")


def _relatives(runs: Sequence[ListedRun], run: str) -> None:
    """Offer the runs that share a past with this one; below them, any other can be chosen."""
    ui.label(t("past.compare_hint")).classes("muted")
    listed = next((one for one in runs if address_of(one) == run), None)
    others = [one for one in family(Path(listed.folder), runs) if one != listed] if listed is not None else []
    if not others:
        return
    with card(t("past.relatives")):
        for one in others[:_MOST_RELATIVES]:
            link = ui.link(_option(one), comparison_of(run, address_of(one)))
            link.classes("text-sm text-primary no-underline [overflow-wrap:anywhere]")


def _choose(runs: Sequence[ListedRun], shut: frozenset[str], a: str, b: str) -> None:
    """Two fields and a button between them; the address holds the choice."""
    options = {address_of(listed): _option(listed, closed=listed.folder in shut) for listed in runs}

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


def _option(listed: ListedRun, *, closed: bool = False) -> str:
    """A run in a line, with what tells it from others in front."""
    said = t("past.played") if closed else t("past.utterances", n=listed.utterances)
    branch = listed.branch_of is not None and not listed.name and not closed
    called = shortened(branched(listed) if branch else title_of(listed), _MOST_TITLE)
    return t("past.option", topic=called, moment=moment(listed.started), count=said, run=address_of(listed))


async def _compared(web: WebContext, box: ui.column, a: str, b: str) -> None:
    try:
        both = await asyncio.to_thread(_read, web.runs.folder(a), web.runs.folder(b))
    except PerSimChatError as error:
        _instead(box, "search_off", str(error))
        return
    if both is None:
        _instead(box, "lock", t("past.closed"))
        return
    box.clear()
    with box:
        heads(both)
        facts(both.comparison, both.a, both.b)
        courses(both)
        side_by_side(both.comparison, both.a, both.b)


def _instead(box: ui.column, icon: str, why: str) -> None:
    """Why there is no comparison."""
    box.clear()
    with box, ui.row().classes("items-center gap-3 no-wrap"):
        ui.icon(icon, size="32px", color="primary").props("aria-hidden=true")
        ui.label(capitalised(why)).classes("muted [overflow-wrap:anywhere]")


def _read(a: Path, b: Path) -> Compared | None:
    """Two runs and their comparison; None while people play one of them."""
    if closed(a) or closed(b):
        return None
    one = read_run(a, whole=True)
    other = one if a == b else read_run(b, whole=True)
    return Compared(one, other, (read_labels(a).name, read_labels(b).name), compare(one, other))
