"""Where people write and steer: their own turn, the moderator's lines, whispers; pause, resume, stop."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.inactive_bar import draw_inactive_bar
from persimchat.app.web.chat.speaking import Speaking
from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.widgets import FIELD, icon_button, notify_error
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

_POLL_S = 0.2


def composer(viewing: Viewing) -> None:
    """Draw the composer, and keep it up to date."""
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
                draw_inactive_bar(self._viewing)


class Controls:
    """The buttons pause, go on and stop."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._pause = icon_button("pause", t("chat.pause"), self._do_pause).mark("pause")
        self._go_on = icon_button("play_arrow", t("chat.go_on"), self._do_go_on).props("color=positive").mark("go-on")
        self._stop = icon_button("stop", t("chat.stop"), self._ask_stop).props("color=negative").mark("stop")

    def sync(self) -> str:
        """Show what can be done; returns what is under way, empty if nothing is."""
        live = self._viewing.live
        if live is None:
            return ""
        control, baseline = live.control, _baseline(self._viewing) is not None
        self._pause.set_visibility(not control.paused and not control.stopped and not baseline)
        self._go_on.set_visibility(control.paused)
        self._stop.set_visibility(not control.stopped)
        if control.stopped:
            return t("chat.stopping")
        return t("chat.pausing") if control.paused and not live.board.paused else ""

    def _do_pause(self) -> None:
        if self._viewing.live is not None:
            self._viewing.live.control.pause()

    def _do_go_on(self) -> None:
        if self._viewing.live is not None:
            self._viewing.live.control.go_on()

    def _ask_stop(self) -> None:
        baseline = _baseline(self._viewing) is not None
        with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
            ui.label(t("chat.stop_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            ui.label(t("chat.stop_text_baseline" if baseline else "chat.stop_text")).classes("text-sm muted")

            def end() -> None:
                dialog.close()
                self._do_stop()

            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
                ui.button(t("chat.stop_yes"), icon="stop", on_click=end).props("unelevated no-caps color=negative")
        dialog.on("hide", dialog.delete)
        dialog.open()

    def _do_stop(self) -> None:
        live = self._viewing.live
        if live is None:
            return
        if _baseline(self._viewing) is not None:
            live.broadcast.cancel()  # a method asks nobody between its rounds
            return
        try:
            live.control.stop()
        except PerSimChatError as error:
            notify_error(error)


def _baseline(viewing: Viewing) -> str | None:
    return viewing.board.started.baseline if viewing.board.started is not None else None


def moderator_menu(viewing: Viewing) -> ui.button:
    """Draw the button and its menu."""

    def floor(name: str) -> None:
        live = viewing.live
        if live is None:
            return
        try:
            live.control.give_floor(name)
        except PerSimChatError as error:
            notify_error(error)
        else:
            ui.notify(t("chat.floor_next", who=one_line(name)), type="positive")

    with icon_button("campaign", t("chat.as_moderator")) as button, ui.menu():
        ui.menu_item(t("chat.change_topic"), lambda: _change_topic(viewing)).mark("change-topic")
        ui.separator()
        for name in viewing.board.participants:
            ui.menu_item(t("chat.give_floor", who=one_line(name)), lambda name=name: floor(name)).mark("floor")
    return button


def _change_topic(viewing: Viewing) -> None:
    with ui.dialog() as dialog, ui.card().classes("surface w-[30rem] max-w-full gap-3"):
        ui.label(t("chat.change_topic").rstrip("…")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        topic = ui.textarea(t("chat.new_topic")).props(f"{FIELD} autogrow autofocus").classes("w-full")

        def change() -> None:
            live = viewing.live
            if live is None:
                dialog.close()
                return
            try:
                live.control.change_topic(topic.value or "")
            except PerSimChatError as error:
                notify_error(error)
            else:
                dialog.close()
                ui.notify(t("chat.topic_next"), type="positive")

        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(t("chat.change_topic").rstrip("…"), on_click=change).props("unelevated no-caps").mark("topic")
    dialog.on("hide", dialog.delete)
    dialog.open()
