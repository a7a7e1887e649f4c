"""Branching a run in a dialog: from which turn, with which other line, model or limit."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from persimchat.app.web.chat.numbers import whole
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import FIELD, explained, told
from persimchat.app.web.words import t
from persimchat.nodes.saying import moderator_name
from persimchat.runs.events import Uttered
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line

_ROOM = 10
"""So many more messages a branch may have that begins at its run's message limit."""


async def branch_from(viewing: Viewing, turn: int, *, instead: bool = False) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        turn: how many utterances the branch is to share, from 0; it can be changed in the dialog.
        instead: whether the next line is to be replaced: its words stand in the field.
    """
    board = viewing.board
    started = board.started
    if started is None:
        return
    moderator = moderator_name(started.participants)
    names = {name: one_line(name) for name in started.participants} | {moderator: t("chat.moderator")}

    def following(shared: int | None) -> Uttered | None:
        return board.utterances[shared] if shared is not None and 0 <= shared < board.turn else None

    with ui.dialog() as dialog, ui.card().classes("surface w-[34rem] max-w-full gap-3"):
        ui.label(t("chat.branch_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        ui.label(t("chat.branch_text")).classes("text-sm muted")
        shared = ui.number(t("chat.branch_share"), value=turn, min=0, max=board.turn, precision=0)
        shared.props(FIELD).classes("w-full")
        there = ui.label().classes("text-xs muted line-clamp-3 break-words")
        next_one = following(turn)
        first = next_one.speaker if next_one is not None else moderator
        who = ui.select(names, label=t("chat.branch_who"), value=first).props(f"{FIELD} options-dense")
        who.classes("w-full")
        words = ui.textarea(t("chat.branch_say")).props(f"{FIELD} autogrow").classes("w-full")
        if instead and next_one is not None:
            words.value = next_one.text
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            model = ui.input(t("chat.branch_model")).props(FIELD).classes("grow")
            explained(t("chat.branch_model_help"))
        limit = ui.number(t("chat.branch_limit"), min=1, precision=0).props(FIELD).classes("w-full")
        limit.value = started.max_messages if turn < started.max_messages else turn + _ROOM

        def moved() -> None:
            said = following(whole(shared.value))
            there.set_visibility(said is not None)
            if said is not None:
                there.set_text(t("chat.branch_said", who=one_line(said.speaker), text=said.text))
                if not words.value:
                    who.set_value(said.speaker)

        async def branch() -> None:
            shared.error = limit.error = None
            at, most = whole(shared.value), whole(limit.value)
            if at is None or not 0 <= at <= board.turn:
                shared.error = t("chat.branch_between", most=board.turn)
                return
            if most is None or most <= at:
                limit.error = t("chat.whole_number", least=at)
                return
            changes: dict[str, Any] = {"max_messages": most} if most != started.max_messages else {}
            if (model.value or "").strip():
                changes["model"] = model.value.strip()
            say = (who.value, words.value) if words.value else None
            button.disable()
            try:
                made = await viewing.place.runs.branch(viewing.run, at, say=say, changes=changes)
            except PerSimChatError as error:
                told(error)
            else:
                dialog.close()
                ui.navigate.to(f"/run/{made.run}")
                return
            button.enable()

        shared.on_value_change(moved)
        moved()
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            button = ui.button(t("chat.branch"), icon="call_split", on_click=branch).props("unelevated no-caps")
            button.mark("branch")
    dialog.on("hide", dialog.delete)
    dialog.open()
