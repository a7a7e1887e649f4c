"""What stands after the last utterance: why the run is over, and what a debate came to."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.wording import cost, ended, listed, tokens
from persimchat.app.web.words import t
from persimchat.runs.events import Concluded, Stopped
from persimchat.state.plain_text import one_line


def draw_end(board: Board) -> None:
    """Draw it where the page is being drawn; the run is over."""
    stopped = board.stopped
    with ui.column().classes("surface w-full gap-2 p-4 the-end"):
        with ui.row().classes("items-center gap-2"):
            ui.icon("error_outline" if failed(board) else "flag", size="20px", color="primary").props(
                "aria-hidden=true"
            )
            ui.label(t("chat.the_end")).classes("text-sm font-semibold").props("role=heading aria-level=2")
        if stopped is not None and stopped.conclusion is not None:
            _conclusion(stopped.conclusion)
        ui.label(ended(stopped) if stopped is not None else t("chat.ended_error")).classes("text-sm")
        detail = _detail(board, stopped)
        if detail:
            ui.label(detail).classes("text-sm muted break-words whitespace-pre-wrap")
        if stopped is not None:
            used = stopped.totals
            taken = tokens(used.input_tokens + used.output_tokens)
            ui.label(f"{t('chat.summary', n=board.turn)} · {taken} · {cost(used)}").classes("text-xs muted")


def failed(board: Board) -> bool:
    """Whether an error has ended the run."""
    return bool(board.error) or board.stopped is not None and board.stopped.reason == "error"


def _detail(board: Board, stopped: Stopped | None) -> str:
    """The rule's own words, where the sentence before does not say as much already."""
    if board.error:
        return board.error
    if stopped is None or stopped.reason in ("consensus", "message_limit") and not stopped.source.startswith("mad"):
        return ""
    return stopped.detail if stopped.reason != "stopped" else ""


def _conclusion(found: Concluded) -> None:
    with ui.column().classes("conclusion w-full gap-1 p-3"):
        ui.label(t("chat.agreed_on" if found.consensus else "chat.majority")).classes("text-xs font-semibold")
        ui.label(found.answer).classes("text-lg font-semibold break-words whitespace-pre-wrap")
        if found.supporters:
            ui.label(t("chat.held_by", who=listed(found.supporters))).classes("text-sm break-words")
    by = t("chat.said_by_judge") if found.by == "judge" else t("chat.said_by", by=one_line(found.by))
    if found.reasoning:
        ui.label(found.reasoning).classes("text-sm muted words")
    ui.label(by).classes("text-sm muted break-words")
