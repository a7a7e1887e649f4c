"""The buttons that control a running conversation: pause, continue, one message at a time, pace, stop."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.paces import SECONDS, pace_words
from persimchat.app.web.widgets import brief_button, notify_error, word_menu
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError


class Controls:
    """The buttons; those that do not apply are hidden."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        pause, go_on, stop = t("chat.pause"), t("chat.go_on"), t("chat.stop")
        next_ = t("chat.next_question")
        self._next = brief_button(next_, t("chat.next_question_how"), self._do_next, icon="live_help")
        self._next.mark("next-question")
        self._next_after: int | None = None
        self._pause = brief_button(pause, pause, self._do_pause, icon="pause").mark("pause")
        self._go_on = brief_button(go_on, go_on, self._do_go_on, icon="play_arrow").mark("go-on")
        self._one = brief_button(t("chat.one_more"), t("chat.one_turn"), lambda: one_turn(viewing), icon="plus_one")
        self._one.mark("one-turn")
        self._paces: dict[int, ui.menu_item] = {}
        with word_menu(t("chat.pace"), icon="speed") as self._pace:
            for pace in SECONDS:
                entry = ui.menu_item(pace_words(pace), lambda pace=pace: self._do_pace(pace))
                self._paces[pace] = entry.props("role=menuitemradio").mark("pace")
        self._stop = brief_button(stop, stop, self._ask_stop, icon="stop").classes("ends").mark("stop")

    def sync(self) -> str:
        """Enable the buttons that apply; returns a note on a pending pause or stop or on the pace, or nothing."""
        live = self._viewing.live
        if live is None:
            return ""
        control, baseline = live.control, _baseline(self._viewing) is not None
        put, left = questions_of(live.board)
        self._next.set_visibility(left > 0 and not control.stopped)
        self._next.set_enabled(self._next_after != put)
        self._pause.set_visibility(not control.paused and not control.stopped and not baseline)
        self._go_on.set_visibility(control.paused)
        self._one.set_visibility(not control.stopped and not baseline)
        self._pace.set_visibility(not control.stopped and not baseline)
        for pace, entry in self._paces.items():
            entry.props["aria-checked"] = "true" if pace == control.pace_s else "false"
            entry.update()
        self._stop.set_visibility(not control.stopped)
        if control.stopped:
            return t("chat.stopping")
        if control.paused:
            return "" if live.board.paused else t("chat.pausing")
        return t("chat.pace_now", n=f"{control.pace_s:g}") if control.pace_s else ""

    def _do_pace(self, seconds: float) -> None:
        if self._viewing.live is not None:
            self._viewing.live.control.pace(seconds)

    def _do_next(self) -> None:
        live = self._viewing.live
        if live is None:
            return
        try:
            live.control.next_question()
        except PerSimChatError as error:
            notify_error(error)
        else:
            self._next_after, _ = questions_of(live.board)
            self._next.disable()
            ui.notify(t("chat.next_question_comes"), type="positive")

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
            live.broadcast.cancel()  # a baseline cannot be stopped between two rounds
            return
        try:
            live.control.stop()
        except PerSimChatError as error:
            notify_error(error)


def questions_of(board: Board) -> tuple[int, int]:
    """How many questions of a focus group's guide were put, and how many are left; none of either without a guide."""
    guide = board.started.guide if board.started is not None else None
    if guide is None:
        return 0, 0
    put = max((said.question or 0 for said in board.utterances), default=0)
    return put, len(guide.questions) - put


def _baseline(viewing: Viewing) -> str | None:
    return viewing.board.started.baseline if viewing.board.started is not None else None


def pause_or_go_on(viewing: Viewing) -> None:
    """Pause a run, or end its pause; nothing for a run that cannot be paused."""
    live = viewing.live
    if live is not None and not live.control.stopped and _baseline(viewing) is None:
        (live.control.go_on if live.control.paused else live.control.pause)()


def one_turn(viewing: Viewing) -> None:
    """Let one more message come, and pause after it; nothing for a run that cannot be paused."""
    live = viewing.live
    if live is not None and not live.control.stopped and _baseline(viewing) is None:
        live.control.one_turn()
