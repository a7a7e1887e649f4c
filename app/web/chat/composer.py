"""The area where people write and control the run; for an inactive run, the bar that resumes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.controls import Controls, questions_of
from persimchat.app.web.chat.ending import failed
from persimchat.app.web.chat.speaking import Speaking
from persimchat.app.web.context import Viewing
from persimchat.app.web.models.picker import model_picker
from persimchat.app.web.shared.budgets import limits_of
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.shared.navigation import experiment_page_of, resume_and_show
from persimchat.app.web.shared.stories import read_plan
from persimchat.app.web.widgets import FIELD, icon_button, notify_error, whole_number, word_menu
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

_ROOM = 10
"""How many more messages the dialog suggests."""


def draw_inactive_bar(viewing: Viewing) -> None:
    """Draw the bar."""
    board = viewing.board
    if viewing.experiment:
        _cell_of(viewing)
        return
    if board.elsewhere:
        _elsewhere()
        return
    over = board.status == "ended"
    if over and not can_resume(board):
        return  # the card after the last line says all
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label("" if over else t("chat.unfinished")).classes("text-sm muted grow min-w-0")
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

        action = "chat.again" if failed(board) else "chat.resume_more" if more else "chat.resume"
        button = ui.button(t(action), icon="play_arrow", on_click=resume)
        button.props("unelevated no-caps").classes("shrink-0")


def _cell_of(viewing: Viewing) -> None:
    """It is a cell of an experiment, which this page only shows."""
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label(t("chat.cell", experiment=viewing.experiment)).classes("text-sm muted grow min-w-0")
        if viewing.board.elsewhere:
            icon_button("refresh", t("chat.load_again"), ui.navigate.reload)
        button = ui.button(t("chat.to_experiment"), icon="science").props("outline no-caps").classes("shrink-0")
        button.props["href"] = experiment_page_of(viewing.experiment)


def _elsewhere() -> None:
    """Another program runs it; a reload of the page shows its progress."""
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        ui.label(t("chat.elsewhere")).classes("text-sm muted grow min-w-0")
        button = ui.button(t("chat.load_again"), icon="refresh", on_click=ui.navigate.reload)
        button.props("outline no-caps").classes("shrink-0")


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
    try:
        folder = viewing.web.runs.folder(viewing.run)
        limits = await asyncio.to_thread(limits_of, folder)
        plan = await asyncio.to_thread(read_plan, folder)
    except PerSimChatError as error:
        notify_error(error)
        return
    limit = board.started.max_messages
    story, held = plan is not None, plan.rounds if plan is not None else 0
    finished = story and board.stopped is not None and board.stopped.reason == "finished"
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        ui.label(t("chat.resume_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        more = limit + _ROOM if board.turn >= limit or board.stopped and board.stopped.reason == "closed" else limit
        messages = ui.number(t("chat.resume_limit"), value=more, min=board.turn + 1, precision=0)
        messages.props(FIELD).classes("w-full").set_visibility(not story)
        rounds = ui.number(t("settings.rounds"), value=held + 1, min=held + 1, precision=0)
        rounds.props(FIELD).classes("w-full").set_visibility(finished)
        fields = {}
        for name, value in limits.items():
            fields[name] = ui.number(t(f"chat.resume_{name}"), value=value * 2, min=0).props(FIELD).classes("w-full")
        if fields:
            ui.label(t("chat.resume_unlimited")).classes("text-xs muted")

        async def with_more() -> None:
            wanted = limit if story else whole_number(messages.value)
            messages.error = (
                None
                if story or wanted is not None and wanted > board.turn
                else t("chat.whole_number", least=board.turn)
            )
            longer = whole_number(rounds.value) if finished else held
            rounds.error = (
                None if not finished or longer is not None and longer > held else t("chat.whole_number", least=held)
            )
            for field in fields.values():
                field.error = None if field.value is None or field.value > 0 else t("chat.positive_number")
            if wanted is None or messages.error or rounds.error or any(field.error for field in fields.values()):
                return
            changes: dict[str, Any] = {"max_messages": wanted} if wanted != limit else {}
            if longer != held:
                changes["rounds"] = longer
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
    with ui.dialog() as dialog, ui.card().classes("surface w-[34rem] max-w-full gap-3"):
        ui.label(t("chat.resume_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        ui.label(t("chat.other_model_name")).classes("text-sm muted")
        model = model_picker(OFFLINE, lambda _: None)

        async def with_model() -> None:
            button.disable()
            if await resume_and_show(viewing.web, viewing.run, {"model": model.value}):
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
    dialog.on("hide", dialog.delete)
    dialog.open()


_POLL_S = 0.2


def composer(viewing: Viewing, *, player: Callable[[], str] | None = None) -> None:
    """Draw the composer, and keep it up to date.

    Args:
        viewing: the run.
        player: of a story that a person plays: the character whose part the tab has; None for all other runs.
    """
    parts = _Composer(viewing, player)
    parts.sync()
    ui.timer(_POLL_S, parts.sync)
    if parts.speaking is not None and player is None:
        ui.timer(0, parts.speaking.remember, once=True)  # a tab's storage exists once the tab is connected


class _Composer:
    def __init__(self, viewing: Viewing, player: Callable[[], str] | None) -> None:
        self._viewing = viewing
        self._player = player
        self._drawn: object = None
        self._over_drawn: object = None
        self.speaking: Speaking | None = None
        started = viewing.board.started
        with (
            ui.element("div").classes("bar composer w-full py-3") as self._bar,
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
            self.speaking = Speaking(self._viewing, self._player)
            self.speaking.draw_question()
        with ui.row().classes("composer-acts w-full items-center gap-2"):
            if self.speaking is not None:
                with ui.row().classes("composer-who items-center gap-2 no-wrap min-w-0"):
                    self.speaking.draw_choices()
            else:
                ui.label(t("chat.baseline_alone", name=one_line(baseline or ""))).classes("text-sm muted")
            with ui.row().classes("items-center justify-end gap-0 ml-auto"):
                if baseline is None and self._player is None:
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
            questions_of(board),
            self._player() if self._player is not None else "",
            (control.paused, control.stopped, control.pace_s, board.paused) if control is not None else None,
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

    with word_menu(t("chat.step_in"), t("chat.step_in_how"), icon="campaign") as button:
        ui.menu_item(t("chat.change_topic"), lambda: _change_topic(viewing)).mark("change-topic")
        started = viewing.board.started
        if started is not None and started.mode == "story":  # its stages say who speaks
            return button
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
