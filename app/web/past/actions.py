"""Actions on a run, as words in its header: Branch, Share and More; on a narrow page, one menu has all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.chat.branch_dialog import branch_from
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.past.labels_dialog import ask_labels
from persimchat.app.web.past.wording import moment
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.scenario_files import scenario_text
from persimchat.app.web.shared.navigation import comparison_of, export_of, like, page_of, report_of
from persimchat.app.web.widgets import COPYING_S, FIELD, answered, item, notify_error, word_button, word_menu
from persimchat.app.web.words import t
from persimchat.runs.folder.listing import Deletable, deletable, delete_run
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.export_writing import need
from persimchat.state.errors import InputError, MissingExtraError, PerSimChatError
from persimchat.state.settings import Settings

FORMATS: Final = ("csv", "jsonl", "parquet", "md", "html")
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
        try:
            text = await asyncio.to_thread(setup_of, web.runs.folder(run))
        except PerSimChatError as error:
            notify_error(error)
            return
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
    link = await ui.run_javascript(_COPY.format(path=json.dumps(path)), timeout=COPYING_S)
    if not link:
        ui.notify(t("past.link_copied"), type="positive")
        return
    with ui.dialog() as dialog, ui.card().classes("surface w-[480px] max-w-full"):
        field = ui.input(t("past.link_here"), value=str(link)).props(f"{FIELD} readonly autofocus").classes("w-full")
        field.on("focus", js_handler="event => event.target.select()")
        ui.button(t("common.close"), on_click=dialog.close).props("flat no-caps").classes("self-end")
    await answered(dialog)


async def ask_delete(web: WebContext, runs: Sequence[str]) -> bool:
    """Ask for confirmation and delete runs: folders, memories, checkpoints.

    Args:
        web: the context of the pages.
        runs: their ids.

    Returns:
        Whether any was deleted. Errors are shown.
    """
    try:
        found = [await _deletable(web, run) for run in runs]
    except PerSimChatError as error:
        notify_error(error)
        return False
    if not await _agreed(found):
        return False
    gone = 0
    for run, one in zip(runs, found, strict=True):
        try:
            left = await delete_run(one)
        except PerSimChatError as error:
            notify_error(error)
            continue
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


async def _agreed(found: Sequence[Deletable]) -> bool:
    with ui.dialog() as dialog, ui.card().classes("surface gap-3 w-[480px] max-w-full"):
        ui.label(t("past.delete_ask", n=len(found))).classes("text-lg font-semibold").props("role=heading aria-level=2")
        with ui.column().classes("w-full gap-2 scroll max-h-[45vh] no-wrap"):
            for one in found:
                _goes(one)
        ui.label(t("past.delete_what")).classes("text-sm muted")
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps autofocus")
            ui.button(t("past.delete"), icon="delete", on_click=lambda: dialog.submit(True)).props(
                "unelevated no-caps color=negative"
            )
    return bool(await answered(dialog))


def _goes(one: Deletable) -> None:
    with ui.column().classes("w-full gap-0"):
        ui.label(one.manifest.scenario.topic).classes("font-medium [overflow-wrap:anywhere]")
        ui.label(f"{moment(one.manifest.started)} · {one.folder.name}").classes("text-xs muted")
        if one.manifest.stop_reason is None:
            ui.label(t("past.delete_unfinished")).classes("text-xs muted")
        if one.store is not None:
            ui.label(t("past.delete_store", store=one.store)).classes("text-xs muted")
        if one.kept:
            ui.label(t("past.delete_kept", kept=one.kept)).classes("text-xs muted")


def setup_of(folder: Path) -> str:
    """A run's scenario as YAML, with the settings that differ from the defaults under `settings`. Blocks.

    Raises:
        InputError: the folder does not hold a run, or run.json is damaged or does not fit this version.
    """
    return scenario_text(Draft.of_run(read_manifest(folder), Settings()))
