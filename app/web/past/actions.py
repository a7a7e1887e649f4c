"""The dialog for the name and the tags of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from ....reports.tables import FORMATS, need
from ....runs.folder.answers import LONGEST_NAME, Labels, labels
from ....runs.folder.listing import Deletable, ListedRun, deletable, delete_run
from ....runs.folder.reading import read_labels, read_manifest
from ....runs.folder.run_folder import write_labels
from ....state.errors import InputError, MissingExtraError
from ....state.plain_text import folded
from ....state.settings import Settings
from ..chat.run_dialogs import branch_from
from ..context import Viewing, WebContext
from ..setup.draft import Draft
from ..setup.scenario_files import scenario_text
from ..shared.dialogs import Window, agreed
from ..shared.formats import moment
from ..shared.navigation import comparison_of, export_of, like, page_of, report_of
from ..widgets import COPYING_S, errors_shown, item, notify_error, reached, word_button, word_menu
from ..words import t


def tags_of(runs: Iterable[ListedRun]) -> list[str]:
    """All tags of runs, in alphabetical order; one of several that differ in case only."""
    found: dict[str, str] = {}
    for run in runs:
        for tag in run.tags:
            found.setdefault(folded(tag), tag)
    return [found[key] for key in sorted(found)]


async def ask_labels(folder: Path, topic: str, known: Iterable[str] = ()) -> bool:
    """Let the user name and tag a run; errors are shown.

    Args:
        folder: the run's.
        topic: shown where there is no name.
        known: tags to choose from.

    Returns:
        Whether anything has changed.
    """
    before: Labels | None = None
    with errors_shown():
        before = await asyncio.to_thread(read_labels, folder)
    if before is None:
        return False
    window = Window(t("past.labels_title"), width="small")
    with window.body:
        name = ui.input(t("past.name"), value=before.name, placeholder=topic).props("autofocus counter")
        name.classes("w-full").props["maxlength"] = LONGEST_NAME
        options = list(dict.fromkeys([*before.tags, *known]))
        tags = ui.select(options, label=t("past.tags"), value=before.tags, multiple=True, new_value_mode="add-unique")
        tags.props("use-chips use-input hide-dropdown-icon input-debounce=0").classes("w-full")
        ui.label(t("past.labels_why")).classes("text-xs muted")

    async def keep() -> None:
        with errors_shown():
            given = labels(name.value or "", tags.value)
            await asyncio.to_thread(write_labels, folder, given)
            window.submit(given)

    name.on("keydown.enter", keep)
    window.offer(t("past.keep"), keep)
    after = await window.closed()
    return isinstance(after, Labels) and after != before


# Actions on a run, as words in its header: Branch, Share and More; on a narrow page, one menu has all of them


_POLL_S: Final = 1.0

# Browsers allow the clipboard only on pages of this machine and of https.
_COPY: Final = """
const link = location.origin + {path};
try {{ await navigator.clipboard.writeText(link); return ''; }} catch {{ return link; }}
"""


def run_actions(viewing: Viewing) -> None:
    """Draw the buttons."""
    web, run = viewing.web, viewing.run

    async def branch() -> None:
        await branch_from(viewing, viewing.turn)

    async def delete() -> None:
        if await ask_delete(web, [run]):
            ui.navigate.to("/runs")

    async def set_up() -> None:
        with errors_shown():
            text = await asyncio.to_thread(setup_of, web.runs.folder(run))
            ui.download(text.encode("utf-8"), f"{run}.yaml", "application/yaml")

    def share() -> None:
        item("summarize", t("past.report_new"), href=report_of(run), target="_blank")
        item("link", t("past.link"), lambda: _copy(page_of(run, viewing.turn)))
        item("description", t("past.setup_file"), set_up)
        ui.separator()
        ui.label(t("past.export")).classes("panel-title px-4 pt-2 pb-1")
        _exports(run)

    async def label() -> None:
        started = viewing.board.started
        if await ask_labels(web.runs.own_folder(run), started.topic if started is not None else ""):
            ui.navigate.reload()

    own = not viewing.experiment
    if own:
        word_button(t("past.branch"), t("past.branch_here"), branch, icon="call_split").classes("act-wide")
    with word_menu(t("past.share_run")) as shared:
        shared.classes("act-wide")
        share()
    with word_menu(t("past.more_actions"), t("past.actions")) as more:
        more.classes("act-more")
        with ui.element("div").classes("act-narrow"):
            if own:
                item("call_split", t("past.branch_here"), branch)
            share()
            ui.separator()
        if own:
            item("label", t("past.labels"), label)
            item("compare_arrows", t("past.compare_with"), href=comparison_of(run))
        item("library_add", t("past.like"), href=like(run))
        if not own:
            return
        ui.separator()
        gone = item("delete", t("past.delete"), delete)

    gone.set_visibility(viewing.live is None)
    ui.timer(_POLL_S, lambda: gone.set_visibility(viewing.live is None))


def _exports(run: str) -> None:
    for form in FORMATS:
        try:
            need(form)
        except MissingExtraError as error:
            item("block", t(f"past.export_{form}"), partial(notify_error, error))
        else:
            item("download", t(f"past.export_{form}"), href=export_of(run, form)).props["download"] = ""


async def _copy(path: str) -> None:
    """Copy the link to a turn; if the browser does not allow it, show the link."""
    link = await ui.run_javascript(_COPY.format(path=json.dumps(reached(path))), timeout=COPYING_S)
    if not link:
        ui.notify(t("past.link_copied"), type="positive")
        return
    window = Window(t("past.link_here"), width="small")
    with window.body:
        field = ui.input(t("past.link_here"), value=str(link)).props("readonly autofocus").classes("w-full")
        field.on("focus", js_handler="event => event.target.select()")
    await window.closed()


async def ask_delete(web: WebContext, runs: Sequence[str]) -> bool:
    """Ask for confirmation and delete runs: folders, memories, checkpoints.

    Args:
        web: the context of the pages.
        runs: their ids.

    Returns:
        Whether any was deleted. Errors are shown.
    """
    found: list[Deletable] = []
    with errors_shown():
        found = [await _deletable(web, run) for run in runs]
    asked = t("past.delete_ask", n=len(found))
    if not found or not await agreed(asked, t("past.delete"), draw=lambda: _draw_all(found)):
        return False
    gone = 0
    for run, one in zip(runs, found, strict=True):
        with errors_shown():
            left = await delete_run(one)
            web.runs.forget(run)
            gone += 1
            if left:
                ui.notify(left, type="warning", multi_line=True, timeout=8000, close_button=t("common.close"))
    if gone:
        ui.notify(t("past.deleted", n=gone), type="positive")
    return gone > 0


async def _deletable(web: WebContext, run: str) -> Deletable:
    await web.runs.closed(run)
    if web.runs.going_on(run):
        raise InputError(t("past.going_on"), where=run, remedy=t("past.going_on_remedy"))
    return await asyncio.to_thread(deletable, web.runs.own_folder(run))


def _draw_all(found: Sequence[Deletable]) -> None:
    """Draw what is deleted with its runs, and what stays."""
    with ui.column().classes("w-full gap-2 scroll max-h-[45vh] no-wrap"):
        for one in found:
            with ui.column().classes("w-full gap-0"):
                ui.label(one.manifest.scenario.topic).classes("font-medium [overflow-wrap:anywhere]")
                unfinished = t("past.delete_unfinished") if one.manifest.stop_reason is None else ""
                store = t("past.delete_store", store=one.store) if one.store is not None else ""
                kept = t("past.delete_kept", kept=one.kept) if one.kept else ""
                for text in (f"{moment(one.manifest.started)} · {one.folder.name}", unfinished, store, kept):
                    ui.label(text).classes("text-xs muted").set_visibility(bool(text))
    ui.label(t("past.delete_what")).classes("text-sm muted")


def setup_of(folder: Path) -> str:
    """A run's scenario as YAML, with the settings that differ from the defaults under `settings`. Blocks.

    Raises:
        InputError: the folder does not hold a run, or its log is damaged or does not fit this version.
    """
    return scenario_text(Draft.of_run(read_manifest(folder), Settings()))
