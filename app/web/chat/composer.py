"""Where people write: their own turn, the moderator's lines, whispers; and pause, resume, stop."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.controls import Controls
from persimchat.app.web.chat.moderator_menu import moderator_menu
from persimchat.app.web.chat.over_bar import draw_over
from persimchat.app.web.chat.speaking import Speaking
from persimchat.app.web.chat.wording import listed
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.words import t
from persimchat.state.plain_text import one_line

_POLL_S = 0.2


def composer(viewing: Viewing) -> None:
    """Draw it, and keep it up to date."""
    parts = _Composer(viewing)
    parts.sync()
    ui.timer(_POLL_S, parts.sync)
    if parts.speaking is not None:
        ui.timer(0, parts.speaking.remember, once=True)  # a tab's memory is there once it is connected


class _Composer:
    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._drawn: object = None
        self._over_drawn: object = None
        self.speaking: Speaking | None = None
        started = viewing.board.started
        with (
            ui.element("div").classes("bar composer w-full py-3"),
            ui.column().classes("w-full max-w-3xl mx-auto px-4 gap-2"),
        ):
            with ui.row().classes("w-full items-center gap-2 no-wrap") as self._back_in_time:
                ui.icon("history", size="18px", color="primary").props("aria-hidden=true")
                self._looking = ui.label().classes("text-sm grow")
                self._newest = ui.button(on_click=lambda: viewing.go_to(None)).mark("newest")
                self._newest.props("flat dense no-caps")
            with ui.column().classes("w-full gap-2") as self._live:
                self._draw_live(started.baseline if started is not None else None)
            self._over = ui.column().classes("w-full")

    def _draw_live(self, baseline: str | None) -> None:
        if baseline is None:
            self.speaking = Speaking(self._viewing)
            self.speaking.draw_question()
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            if self.speaking is not None:
                self.speaking.draw_choices()
            else:
                ui.label(t("chat.baseline_alone", name=one_line(baseline or ""))).classes("text-sm muted")
            ui.space()
            if baseline is None:
                moderator_menu(self._viewing)
            self._controls = Controls(self._viewing)
        if self.speaking is not None:
            self.speaking.draw_field()
        self._note = ui.label().classes("text-xs muted").props("role=status")

    def sync(self) -> None:
        """Show what can be done now."""
        viewing, board, live = self._viewing, self._viewing.board, self._viewing.live
        control = live.control if live is not None else None
        seen = (
            viewing.at,
            board.turn if viewing.at is not None else None,
            board.status,
            board.asked,
            frozenset(board.hands),
            (control.paused, control.stopped) if control is not None else None,
        )
        if seen == self._drawn:
            return
        self._drawn = seen
        self._back_in_time.set_visibility(viewing.at is not None)
        if viewing.at is not None:
            self._looking.set_text(t("chat.looking", turn=viewing.turn, of=board.turn))
            self._newest.set_text(t("past.follow" if live is not None else "past.newest"))
        self._live.set_visibility(live is not None)
        self._over.set_visibility(live is None)
        if live is None:
            self._draw_over()
            return
        under_way = self._controls.sync()
        if self.speaking is not None:
            self.speaking.sync()
        hands = t("chat.hand_up", who=listed(sorted(board.hands))) if board.hands else ""
        note = " ".join(filter(None, (under_way, hands)))
        self._note.set_text(note)
        self._note.set_visibility(bool(note))

    def _draw_over(self) -> None:
        stands = (self._viewing.board.stopped, self._viewing.board.error)
        if stands != self._over_drawn:
            self._over_drawn = stands
            self._over.clear()
            with self._over:
                draw_over(self._viewing)
