"""What stands in the composer's place when nobody works on a run: how it stands, and how it goes on."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.end_card import failed
from persimchat.app.web.chat.resume_dialog import ask_for_model, ask_for_more, can_resume, needs_more
from persimchat.app.web.chat.wording import ended
from persimchat.app.web.past.going_on import go_on
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.words import t


def draw_over(viewing: Viewing) -> None:
    """Draw it where the page is being drawn."""
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
                await (ask_for_more(viewing) if more else go_on(viewing.place, viewing.run))
            finally:
                button.enable()

        button = ui.button(t("chat.resume_more" if more else "chat.resume"), icon="play_arrow", on_click=resume)
        button.props("unelevated no-caps").classes("shrink-0")


def _elsewhere() -> None:
    """Another program works on the run: what it does there is seen when the page is loaded again."""
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label(t("chat.elsewhere")).classes("text-sm muted grow min-w-0")
        button = ui.button(t("chat.load_again"), icon="refresh", on_click=ui.navigate.reload)
        button.props("outline no-caps").classes("shrink-0")
