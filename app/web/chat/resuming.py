"""The bar of a run that does not go on: why, and how to resume it; with dialogs for higher limits and another model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from nicegui import ui

from ....models.naming import OFFLINE
from ..board import Board
from ..context import Viewing
from ..models.picker import ModelPicker
from ..shared.navigation import experiment_page_of, resume_and_show
from ..shared.runs import limits_of, read_plan
from ..widgets import dialog, dialog_buttons, errors_shown, icon_button, reached, text_button, whole_number
from ..words import t
from .ending import failed

_ROOM: Final = 10
"""How many more messages the dialog suggests."""


def draw_inactive_bar(viewing: Viewing) -> None:
    """Draw the bar; nothing where the card after the last line says all."""
    board = viewing.board
    over = board.status == "ended"
    if not viewing.experiment and not board.elsewhere and over and not can_resume(board):
        return
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        told = ui.label("" if over else t("chat.unfinished")).classes("text-sm muted grow min-w-0")
        if viewing.experiment:  # this page only shows its cells
            told.set_text(t("chat.cell", experiment=viewing.experiment))
            if board.elsewhere:
                icon_button("refresh", t("chat.load_again"), ui.navigate.reload)
            button = ui.button(t("chat.to_experiment"), icon="science").props("outline").classes("shrink-0")
            button.props["href"] = reached(experiment_page_of(viewing.experiment))
        elif board.elsewhere:  # a reload of the page shows its progress
            told.set_text(t("chat.elsewhere"))
            button = ui.button(t("chat.load_again"), icon="refresh", on_click=ui.navigate.reload)
            button.props("outline").classes("shrink-0")
        else:
            _resume_buttons(viewing)


def _resume_buttons(viewing: Viewing) -> None:
    board = viewing.board
    more = needs_more(board)
    if failed(board):
        text_button(t("chat.other_model"), lambda: ask_for_model(viewing)).classes("shrink-0")

    async def resume() -> None:
        button.disable()
        try:
            await (ask_for_more(viewing) if more else resume_and_show(viewing.web, viewing.run))
        finally:
            button.enable()

    action = "chat.again" if failed(board) else "chat.resume_more" if more else "chat.resume"
    button = text_button(t(action), resume, icon="play_arrow", look="unelevated").classes("shrink-0")


def can_resume(board: Board) -> bool:
    """Whether an inactive run can be resumed.

    After a consensus, the end of a guide, a finished method or a story's vote only a branch can go on.
    """
    if board.started is None:
        return False
    if board.stopped is None or board.stopped.reason in ("stopped", "error"):
        return True
    own_end = board.stopped.reason in ("consensus", "guide", "settled") or board.started.baseline is not None
    return board.stopped.reason == "budget" or not own_end


def needs_more(board: Board) -> bool:
    """Whether it needs a higher limit to go on."""
    return board.stopped is not None and board.stopped.reason in ("message_limit", "budget", "closed", "finished")


async def ask_for_more(viewing: Viewing) -> None:
    """Open a dialog that raises the limits of a run that has reached one."""
    board = viewing.board
    if board.started is None:
        return
    with errors_shown():
        await viewing.read()
        plan = await asyncio.to_thread(read_plan, viewing.web.runs.folder(viewing.run))
        _more_dialog(viewing, board, board.started.max_messages, plan.rounds if plan is not None else None)


def _more_dialog(viewing: Viewing, board: Board, limit: int, held: int | None) -> None:
    """Draw the dialog.

    Args:
        viewing: the run.
        board: its data.
        limit: its message limit.
        held: the rounds of a story; None for any other run.
    """
    reason = board.stopped.reason if board.stopped is not None else ""
    limits = limits_of(viewing.manifest)
    with dialog(t("chat.resume_title")) as box:
        least: dict[str, int | None] = {}  # above which a field must be; None for a budget, which may be empty
        fields: dict[str, ui.number] = {}
        if held is None:
            more = limit + _ROOM if board.turn >= limit or reason == "closed" else limit
            fields["max_messages"] = ui.number(t("chat.resume_limit"), value=more, min=board.turn + 1, precision=0)
            least["max_messages"] = board.turn
        elif reason == "finished":
            fields["rounds"] = ui.number(t("settings.rounds"), value=held + 1, min=held + 1, precision=0)
            least["rounds"] = held
        for name, value in limits.items():
            fields[name] = ui.number(t(f"chat.resume_{name}"), value=value * 2, min=0)
            least[name] = None
        for field in fields.values():
            field.classes("w-full")
        if limits:
            ui.label(t("chat.resume_unlimited")).classes("text-xs muted")

        async def resume() -> None:
            changes: dict[str, Any] = {}
            before = {"max_messages": limit, "rounds": held, **limits}
            for name, field in fields.items():
                above, value = least[name], field.value
                if above is not None:
                    value = whole_number(value)
                    right = value is not None and value > above
                    field.error = None if right else t("chat.whole_number", least=above)
                else:
                    field.error = None if value is None or value > 0 else t("chat.positive_number")
                    value = value if name == "budget_usd" or value is None else int(value)
                if value != before[name]:
                    changes[name] = value
            if any(field.error for field in fields.values()):
                return
            await _resumed(viewing, changes, box, button)

        button = dialog_buttons(box, t("chat.resume"), resume, icon="play_arrow")


async def _resumed(viewing: Viewing, changes: Mapping[str, Any], box: ui.dialog, button: ui.button) -> None:
    """Resume the run from a dialog, which stays open if that fails."""
    button.disable()
    if await resume_and_show(viewing.web, viewing.run, changes):
        box.close()
    else:
        button.enable()


def ask_for_model(viewing: Viewing) -> None:
    """Open a dialog that resumes a failed run with another model."""
    with dialog(t("chat.resume_title"), "w-[34rem]") as box:
        ui.label(t("chat.other_model_name")).classes("text-sm muted")
        model = ModelPicker(OFFLINE, lambda _: None)

        async def resume() -> None:
            await _resumed(viewing, {"model": model.value}, box, button)

        button = dialog_buttons(box, t("chat.resume"), resume, icon="play_arrow").mark("with-model")
