"""The dialog that branches a run: from which turn, with which other line, model, limit and settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import setting_field
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.widgets import FIELD, explained, notify_error, whole_number
from persimchat.app.web.words import t
from persimchat.nodes.saying import moderator_name
from persimchat.runs.events import Started, Uttered
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.configuration import load_settings
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line
from persimchat.state.settings import ABOUT

_IN_THE_DIALOG: Final = ("max_messages", "model")
"""Settings with fields of their own in this dialog."""


def changeable() -> list[str]:
    """The settings that the dialog offers: those that a branch may change, except the advanced ones."""
    return [
        name
        for name, about in ABOUT.items()
        if about.changes != "never" and about.group != "advanced" and name not in _IN_THE_DIALOG
    ]


def settings_form(folder: Path) -> Form:
    """A form with the settings of a run; it holds those that the user changes. Blocks.

    Raises:
        InputError: the folder does not hold a run, or is damaged.
    """
    manifest = read_manifest(folder)
    base = load_settings(environment={}, scenario=manifest.settings.model_dump(mode="json"))
    draft = Draft.of_run(manifest, base)
    draft.settings = {}
    return Form(draft, base)


class BranchSettings:
    """Draw the fields in a folded group."""

    def __init__(self, form: Form) -> None:
        self._form = form
        with ui.expansion(t("chat.branch_settings"), icon="tune").classes("surface w-full") as self._part:
            self._part.props('dense header-class="text-sm px-3 rounded-xl"').mark("branch-settings")
            with ui.column().classes("setup w-full gap-2 pb-2"):
                for name in changeable():
                    setting_field(form, name)
        form.changed()

    def changes(self) -> dict[str, Any] | None:
        """The changed settings; None if one is wrong, which is marked."""
        self._form.changed()
        if set(changeable()) & self._form.wrong.keys():
            self._part.open()
            return None
        return dict(self._form.draft.settings)


_ROOM = 10
"""How many more messages a branch at its run's message limit gets."""


async def branch_from(viewing: Viewing, turn: int, *, instead: bool = False) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        turn: how many utterances the branch is to share, from 0; it can be changed in the dialog.
        instead: whether the next line is to be replaced: the field then holds its words.
    """
    if viewing.board.started is None:
        return
    try:
        form = await asyncio.to_thread(settings_form, viewing.web.runs.folder(viewing.run))
    except PerSimChatError as error:
        notify_error(error)
        return
    _BranchDialog(viewing, viewing.board.started, form, turn, instead=instead)


class _BranchDialog:
    """The dialog, while it is open."""

    def __init__(self, viewing: Viewing, started: Started, form: Form, turn: int, *, instead: bool) -> None:
        self._viewing, self._started = viewing, started
        with ui.dialog() as self._dialog, ui.card().classes("surface w-[34rem] max-w-full gap-3"):
            ui.label(t("chat.branch_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            ui.label(t("chat.branch_text")).classes("text-sm muted")
            self._draw_line(turn, instead=instead)
            self._draw_limits(turn)
            self._settings = BranchSettings(form)
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=self._dialog.close).props("flat no-caps")
                self._button = ui.button(t("chat.branch"), icon="call_split", on_click=self._branch)
                self._button.props("unelevated no-caps").mark("branch")
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()

    def _draw_line(self, turn: int, *, instead: bool) -> None:
        """The number of shared utterances, and the next line."""
        moderator = moderator_name(self._started.participants)
        names = {name: one_line(name) for name in self._started.participants} | {
            moderator: t("chat.outside_as", name=moderator)
        }
        most = self._viewing.board.turn
        self._shared = ui.number(t("chat.branch_share"), value=turn, min=0, max=most, precision=0)
        self._shared.props(FIELD).classes("w-full")
        self._there = ui.label().classes("text-xs muted line-clamp-3 break-words shrink-0")
        following = self._following(turn)
        first = following.speaker if following is not None else moderator
        self._words = ui.textarea(t("chat.branch_say")).props(f"{FIELD} autogrow").classes("w-full")
        self._who = ui.select(names, label=t("chat.branch_who"), value=first)
        self._who.props(f"{FIELD} options-dense").classes("w-full")
        self._who.bind_visibility_from(
            self._words, "value", backward=bool
        )  # without words, the speaker does not matter
        if instead and following is not None:
            self._words.value = following.text
        self._shared.on_value_change(self._moved)
        self._moved()

    def _draw_limits(self, turn: int) -> None:
        """The model and the message limit of the branch."""
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            self._model = ui.input(t("chat.branch_model")).props(FIELD).classes("grow")
            explained(t("chat.branch_model_help"))
        limit = self._started.max_messages
        self._limit = ui.number(t("chat.branch_limit"), min=1, precision=0).props(FIELD).classes("w-full")
        self._limit.value = limit if turn < limit else turn + _ROOM
        self._limit.set_visibility(self._started.mode != "story")  # its stages say how long it is

    def _following(self, shared: int | None) -> Uttered | None:
        """The utterance after this many utterances."""
        said = self._viewing.board.utterances
        return said[shared] if shared is not None and 0 <= shared < len(said) else None

    def _moved(self) -> None:
        said = self._following(whole_number(self._shared.value))
        self._there.set_visibility(said is not None)
        if said is not None:
            self._there.set_text(t("chat.branch_said", who=one_line(said.speaker), text=said.text))
            if not self._words.value:
                self._who.set_value(said.speaker)

    async def _branch(self) -> None:
        self._shared.error = self._limit.error = None
        at, most, last = whole_number(self._shared.value), whole_number(self._limit.value), self._viewing.board.turn
        if at is None or not 0 <= at <= last:
            self._shared.error = t("chat.branch_between", most=last)
            return
        if self._started.mode != "story" and (most is None or most <= at):
            self._limit.error = t("chat.whole_number", least=at)
            return
        changes = self._settings.changes()
        if changes is None:
            return
        if most != self._started.max_messages and self._started.mode != "story":
            changes["max_messages"] = most
        if model := (self._model.value or "").strip():
            changes["model"] = model
        say = (self._who.value, self._words.value) if self._words.value else None
        self._button.disable()
        try:
            made = await self._viewing.web.runs.branch(self._viewing.run, at, say=say, changes=changes)
        except PerSimChatError as error:
            notify_error(error)
            self._button.enable()
        else:
            self._dialog.close()
            ui.navigate.to(page_of(made.run))
