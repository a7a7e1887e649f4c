"""Letting a run go on: at once where it was interrupted, with higher limits where it has reached one."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.numbers import whole
from persimchat.app.web.insights.budget import limits_of
from persimchat.app.web.past.going_on import go_on
from persimchat.app.web.setup.models import MODELS
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import FIELD, told
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError

_ROOM = 10
"""So many more messages are proposed."""


def can_resume(board: Board) -> bool:
    """Whether a run that nobody works on can go on; where they agreed, or a method is through, only a branch can."""
    if board.started is None:
        return False
    if board.stopped is None or board.stopped.reason in ("stopped", "error"):
        return True
    own_end = board.stopped.reason == "consensus" or board.started.baseline is not None
    return board.stopped.reason == "budget" or not own_end


def needs_more(board: Board) -> bool:
    """Whether it can go on only with a higher limit."""
    return board.stopped is not None and board.stopped.reason in ("message_limit", "budget", "closed")


async def ask_for_more(viewing: Viewing) -> None:
    """Open a dialog with the limits of a run that has reached one."""
    board = viewing.board
    if board.started is None:
        return
    try:
        limits = await asyncio.to_thread(limits_of, viewing.place.runs.folder(viewing.run))
    except PerSimChatError as error:
        told(error)
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
            wanted = whole(messages.value)
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
            if await go_on(viewing.place, viewing.run, changes):
                dialog.close()
            else:
                button.enable()

        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            button = ui.button(t("chat.resume"), icon="play_arrow", on_click=with_more).props("unelevated no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


def ask_for_model(viewing: Viewing) -> None:
    """Open a dialog in which a run that has failed is given another model, and goes on."""
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        ui.label(t("chat.resume_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        model = ui.input(t("chat.other_model_name"), autocomplete=list(MODELS)).props(FIELD).classes("w-full")

        async def with_model() -> None:
            if not (name := (model.value or "").strip()):
                return
            button.disable()
            if await go_on(viewing.place, viewing.run, {"model": name}):
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
