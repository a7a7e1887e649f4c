"""Pause, go on, stop."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import icon_button, told
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError


class Controls:
    """The buttons, drawn where the page is being drawn."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._pause = icon_button("pause", t("chat.pause"), self._do_pause).mark("pause")
        self._go_on = icon_button("play_arrow", t("chat.go_on"), self._do_go_on).props("color=positive").mark("go-on")
        self._stop = icon_button("stop", t("chat.stop"), self._ask_stop).props("color=negative").mark("stop")

    def sync(self) -> str:
        """Show what can be done; returns what is under way, empty where nothing is."""
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
            told(error)


def _baseline(viewing: Viewing) -> str | None:
    return viewing.board.started.baseline if viewing.board.started is not None else None
