"""Runs are deleted after a question that says what goes and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.past.wording import moment
from persimchat.app.web.place import Place
from persimchat.app.web.widgets import answered, told
from persimchat.app.web.words import t
from persimchat.runs.listing import Deletable, deletable, delete_run
from persimchat.state.errors import InputError, PerSimChatError


async def ask_delete(place: Place, runs: Sequence[str]) -> bool:
    """Ask, and delete runs: folders, memories, checkpoints.

    Args:
        place: what the pages work with.
        runs: their ids.

    Returns:
        Whether any was deleted. What was wrong has been told.
    """
    try:
        found = [await _deletable(place, run) for run in runs]
    except PerSimChatError as error:
        told(error)
        return False
    if not await _agreed(found):
        return False
    gone = 0
    for run, one in zip(runs, found, strict=True):
        try:
            left = await delete_run(one)
        except PerSimChatError as error:
            told(error)
            continue
        place.runs.forget(run)
        gone += 1
        if left:
            ui.notify(left, type="warning", multi_line=True, timeout=8000, close_button=t("common.close"))
    if gone:
        ui.notify(t("past.deleted", n=gone), type="positive")
    return gone > 0


async def _deletable(place: Place, run: str) -> Deletable:
    live = place.runs.get(run)
    if live is not None and not live.over:
        raise InputError(t("past.going_on"), where=run, remedy=t("past.going_on_remedy"))
    return await asyncio.to_thread(deletable, place.runs.folder(run))


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
