"""The bar that replaces the composer while the run is not running: its status, and the ways to resume it."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.lines import ended, failed
from persimchat.app.web.context import Viewing
from persimchat.app.web.setup.setting_field import MODELS
from persimchat.app.web.shared.budgets import limits_of
from persimchat.app.web.shared.navigation import resume_and_show
from persimchat.app.web.widgets import FIELD, notify_error, whole_number
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError

_ROOM = 10
"""How many more messages the dialog proposes."""


def draw_inactive_bar(viewing: Viewing) -> None:
    """Draw the bar."""
    board = viewing.board
    if board.elsewhere:
        _elsewhere()
        return
    if failed(board):
        text = t("chat.after_error")
    else:
        text = ended(board.stopped) if board.stopped is not None else t("chat.unfinished")
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label(text).classes("text-sm muted grow min-w-0")
        if not can_resume(board):
            return
        more = needs_more(board)
        if failed(board):
            other = ui.button(t("chat.other_model"), on_click=lambda: ask_for_model(viewing))
            other.props("flat no-caps").classes("shrink-0")

        async def resume() -> None:
            button.disable()
            try:
                await (ask_for_more(viewing) if more else resume_and_show(viewing.web, viewing.run))
            finally:
                button.enable()

        button = ui.button(t("chat.resume_more" if more else "chat.resume"), icon="play_arrow", on_click=resume)
        button.props("unelevated no-caps").classes("shrink-0")


def _elsewhere() -> None:
    """Another program runs it; a reload of the page shows its progress."""
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label(t("chat.elsewhere")).classes("text-sm muted grow min-w-0")
        button = ui.button(t("chat.load_again"), icon="refresh", on_click=ui.navigate.reload)
        button.props("outline no-caps").classes("shrink-0")


def can_resume(board: Board) -> bool:
    """Whether an inactive run can be resumed; after a consensus or a finished method only a branch can go on."""
    if board.started is None:
        return False
    if board.stopped is None or board.stopped.reason in ("stopped", "error"):
        return True
    own_end = board.stopped.reason == "consensus" or board.started.baseline is not None
    return board.stopped.reason == "budget" or not own_end


def needs_more(board: Board) -> bool:
    """Whether it needs a higher limit to go on."""
    return board.stopped is not None and board.stopped.reason in ("message_limit", "budget", "closed")


async def ask_for_more(viewing: Viewing) -> None:
    """Open a dialog that raises the limits of a run that has reached one."""
    board = viewing.board
    if board.started is None:
        return
    try:
        limits = await asyncio.to_thread(limits_of, viewing.web.runs.folder(viewing.run))
    except PerSimChatError as error:
        notify_error(error)
        return
    limit = board.started.max_messages
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        ui.label(t("chat.resume_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        more = limit + _ROOM if board.turn >= limit or board.stopped and board.stopped.reason == "closed" else limit
        messages = ui.number(t("chat.resume_limit"), value=more, min=board.turn + 1, precision=0)
        messages.props(FIELD).classes("w-full")
        fields = {}
        for name, value in limits.items():
            fields[name] = ui.number(t(f"chat.resume_{name}"), value=value * 2, min=0).props(FIELD).classes("w-full")
        if fields:
            ui.label(t("chat.resume_unlimited")).classes("text-xs muted")

        async def with_more() -> None:
            wanted = whole_number(messages.value)
            messages.error = (
                None if wanted is not None and wanted > board.turn else t("chat.whole_number", least=board.turn)
            )
            for field in fields.values():
                field.error = None if field.value is None or field.value > 0 else t("chat.positive_number")
            if wanted is None or messages.error or any(field.error for field in fields.values()):
                return
            changes: dict[str, Any] = {"max_messages": wanted} if wanted != limit else {}
            for name, field in fields.items():
                value = field.value if name == "budget_usd" or field.value is None else int(field.value)
                if value != limits[name]:
                    changes[name] = value
            button.disable()
            if await resume_and_show(viewing.web, viewing.run, changes):
                dialog.close()
            else:
                button.enable()

        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            button = ui.button(t("chat.resume"), icon="play_arrow", on_click=with_more).props("unelevated no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


def ask_for_model(viewing: Viewing) -> None:
    """Open a dialog that resumes a failed run with another model."""
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        ui.label(t("chat.resume_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        model = ui.input(t("chat.other_model_name"), autocomplete=list(MODELS)).props(FIELD).classes("w-full")

        async def with_model() -> None:
            if not (name := (model.value or "").strip()):
                return
            button.disable()
            if await resume_and_show(viewing.web, viewing.run, {"model": name}):
                dialog.close()
            else:
                button.enable()

        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            button = (
                ui.button(t("chat.resume"), icon="play_arrow", on_click=with_model)
                .props("unelevated no-caps")
                .mark("with-model")
            )
        button.bind_enabled_from(model, "value", lambda value: bool((value or "").strip()))
    dialog.on("hide", dialog.delete)
    dialog.open()
