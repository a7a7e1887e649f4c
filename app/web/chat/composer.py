"""The area where people write and control a run: pause, pace, one message at a time, the moderator's steps, the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui

from ....runs.control import Control
from ....state.plain_text import one_line
from ....state.wording import listed
from ..board import Board
from ..context import Viewing
from ..shared.runs import SECONDS, pace_words
from ..widgets import anew, brief_button, dialog, dialog_buttons, follow, say_in, text_button, word_menu
from ..words import t
from .resuming import draw_inactive_bar
from .speaking import Speaking, act, composer_bar


class Controls:
    """The buttons that control a run that goes on; those that do not apply are hidden."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        pause, go_on, stop = t("chat.pause"), t("chat.go_on"), t("chat.stop")
        next_, how = t("chat.next_question"), t("chat.next_question_how")
        self._next = brief_button(next_, how, self._do_next, icon="live_help").mark("next-question")
        self._next_after: int | None = None
        self._pause = brief_button(pause, pause, partial(pause_or_go_on, viewing), icon="pause").mark("pause")
        self._go_on = brief_button(go_on, go_on, partial(pause_or_go_on, viewing), icon="play_arrow").mark("go-on")
        self._one = brief_button(t("chat.one_more"), t("chat.one_turn"), lambda: one_turn(viewing), icon="plus_one")
        self._one.mark("one-turn")
        self._paces: dict[int, ui.menu_item] = {}
        with word_menu(t("chat.pace"), icon="speed") as self._pace:
            for pace in SECONDS:
                entry = ui.menu_item(pace_words(pace), partial(self._do_pace, pace))
                self._paces[pace] = entry.props("role=menuitemradio").mark("pace")
        self._stop = brief_button(stop, stop, self._ask_stop, icon="stop").classes("ends").mark("stop")

    def sync(self) -> str:
        """Show the buttons that apply; returns a note on a pending pause or stop or on the pace, or nothing."""
        live = self._viewing.live
        if live is None:
            return ""
        control, steps = live.control, _can_pause(self._viewing)
        put, left = questions_of(live.board)
        for button, shown in (
            (self._next, left > 0 and not control.stopped),
            (self._pause, steps and not control.paused),
            (self._go_on, control.paused),
            (self._one, steps),
            (self._pace, steps),
            (self._stop, not control.stopped),
        ):
            button.set_visibility(shown)
        self._next.set_enabled(self._next_after != put)
        for pace, entry in self._paces.items():
            entry.props["aria-checked"] = "true" if pace == control.pace_s else "false"
            entry.update()
        if control.stopped:
            return t("chat.stopping")
        if control.paused:
            return "" if live.board.paused else t("chat.pausing")
        return t("chat.pace_now", n=f"{control.pace_s:g}") if control.pace_s else ""

    def _do_pace(self, seconds: float) -> None:
        act(self._viewing, lambda live: live.control.pace(seconds))

    def _do_next(self) -> None:
        if act(self._viewing, lambda live: live.control.next_question(), t("chat.next_question_comes")):
            self._next_after, _ = questions_of(self._viewing.board)
            self._next.disable()

    def _ask_stop(self) -> None:
        baseline = _baseline(self._viewing) is not None
        with dialog(t("chat.stop_title")) as box:
            ui.label(t("chat.stop_text_baseline" if baseline else "chat.stop_text")).classes("text-sm muted")

            def end() -> None:
                box.close()
                # a baseline cannot be stopped between two rounds
                act(self._viewing, lambda live: live.broadcast.cancel() if baseline else live.control.stop())

            dialog_buttons(box, t("chat.stop_yes"), end, icon="stop").props("color=negative")


def questions_of(board: Board) -> tuple[int, int]:
    """How many questions of a focus group's guide were put, and how many are left; none of either without a guide."""
    guide = board.started.guide if board.started is not None else None
    if guide is None:
        return 0, 0
    put = max((said.question or 0 for said in board.utterances), default=0)
    return put, len(guide.questions) - put


def _baseline(viewing: Viewing) -> str | None:
    return viewing.board.started.baseline if viewing.board.started is not None else None


def _can_pause(viewing: Viewing) -> bool:
    return viewing.live is not None and not viewing.live.control.stopped and _baseline(viewing) is None


def pause_or_go_on(viewing: Viewing) -> None:
    """Pause a run, or end its pause; nothing for a run that cannot be paused."""
    if _can_pause(viewing):
        act(viewing, lambda live: (live.control.go_on if live.control.paused else live.control.pause)())


def one_turn(viewing: Viewing) -> None:
    """Let one more message come, and pause after it; nothing for a run that cannot be paused."""
    if _can_pause(viewing):
        act(viewing, lambda live: live.control.one_turn())


def composer(viewing: Viewing, *, player: Callable[[], str] | None = None) -> None:
    """Draw the composer, and keep it up to date.

    Args:
        viewing: the run.
        player: of a story that a person plays: the character whose part the tab has; None for all other runs.
    """
    parts = _Composer(viewing, player)
    follow(parts.sync)
    if parts.speaking is not None and player is None:
        ui.timer(0, parts.speaking.remember, once=True)  # a tab's storage exists once the tab is connected


class _Composer:
    def __init__(self, viewing: Viewing, player: Callable[[], str] | None) -> None:
        self._viewing, self._player = viewing, player
        self._drawn: object = None
        self._over_drawn: object = None
        baseline = _baseline(viewing)
        self.speaking = Speaking(viewing, player) if baseline is None else None
        with composer_bar() as self._bar:
            with ui.row().classes("w-full items-center gap-2 no-wrap") as self._back_in_time:
                ui.icon("history", size="18px", color="primary").props("aria-hidden=true")
                self._looking = ui.label().classes("text-sm grow")
                self._newest = text_button("", lambda: viewing.go_to(None), look="flat dense").mark("newest")
            with ui.column().classes("w-full gap-2") as self._live:
                self._draw_live(baseline)
            self._over = ui.column().classes("w-full")

    def _draw_live(self, baseline: str | None) -> None:
        speaking = self.speaking
        if speaking is not None:
            speaking.draw_question()
        with ui.row().classes("composer-acts w-full items-center gap-2"):
            if speaking is not None:
                with ui.row().classes("composer-who items-center gap-2 no-wrap min-w-0"):
                    speaking.draw_choices()
            else:
                ui.label(t("chat.baseline_alone", name=one_line(baseline or ""))).classes("text-sm muted")
            with ui.row().classes("items-center justify-end gap-0 ml-auto"):
                if speaking is not None and self._player is None:
                    moderator_menu(self._viewing)
                self._controls = Controls(self._viewing)
        if speaking is not None:
            speaking.draw_field()
        self._note = ui.label().classes("text-xs muted").props("role=status")

    def sync(self) -> None:
        """Show what can be done now."""
        viewing, board, live = self._viewing, self._viewing.board, self._viewing.live
        seen = (
            viewing.at,
            board.turn if viewing.at is not None else None,
            board.status,
            board.asked,
            frozenset(board.hands),
            questions_of(board),
            self._player() if self._player is not None else "",
            _state_of(live.control, board) if live is not None else None,
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
            self._bar.set_visibility(viewing.at is not None or bool(self._over.default_slot.children))
            return
        self._bar.set_visibility(True)
        if self.speaking is not None:
            self.speaking.sync()
        hands = t("chat.hand_up", who=listed(sorted(board.hands))) if board.hands else ""
        note = " ".join(filter(None, (self._controls.sync(), hands)))
        say_in(self._note, note)

    def _draw_over(self) -> None:
        stands = (self._viewing.board.stopped, self._viewing.board.error)
        if stands != self._over_drawn:
            self._over_drawn = stands
            with anew(self._over):
                draw_inactive_bar(self._viewing)


def _state_of(control: Control, board: Board) -> tuple[object, ...]:
    return (control.paused, control.stopped, control.pace_s, board.paused, control.wanted(board.turn))


def moderator_menu(viewing: Viewing) -> None:
    """Draw the button and its menu: another topic, and who gets the floor."""

    def floor(name: str) -> None:
        act(viewing, lambda live: live.control.give_floor(name), t("chat.floor_next", who=one_line(name)))

    with word_menu(t("chat.step_in"), t("chat.step_in_how"), icon="campaign"):
        ui.menu_item(t("chat.change_topic"), lambda: _change_topic(viewing)).mark("change-topic")
        started = viewing.board.started
        if started is not None and started.mode == "story":  # its stages say who speaks
            return
        ui.separator()
        for name in viewing.board.participants:
            ui.menu_item(t("chat.give_floor", who=one_line(name)), partial(floor, name)).mark("floor")


def _change_topic(viewing: Viewing) -> None:
    heading = t("chat.change_topic").rstrip("…")
    with dialog(heading, "w-[30rem]") as box:
        topic = ui.textarea(t("chat.new_topic")).props("autogrow autofocus").classes("w-full")

        def change() -> None:
            changed = act(viewing, lambda live: live.control.change_topic(topic.value or ""), t("chat.topic_next"))
            if changed or viewing.live is None:
                box.close()

        dialog_buttons(box, heading, change).mark("topic")
