"""The menu of an utterance, and its dialogs: the requests to models behind it, and a branch of the run from there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from nicegui import ui

from ....models.naming import OFFLINE
from ....nodes.people import moderator_name
from ....reports.words import module_name
from ....runs.events import Started, Uttered
from ....runs.folder.reading import read_manifest
from ....runs.run.replay import PastCall, past_calls, recorded_calls
from ....state.configuration import load_settings
from ....state.errors import PerSimChatError
from ....state.plain_text import capitalised, clean, one_line
from ....state.settings import ABOUT
from ..context import Viewing
from ..setup.draft import Draft
from ..setup.form import Form
from ..setup.setting_field import setting_field
from ..shared.formats import joined, tokens
from ..shared.navigation import page_of
from ..shared.runs import open_record
from ..widgets import (
    anew,
    chip,
    dialog,
    dialog_buttons,
    errors_shown,
    explained,
    notify_error,
    say_in,
    tall_dialog,
    whole_number,
    with_waits,
)
from ..words import t
from .lines import told


def fill_menu(viewing: Viewing, said: Uttered, outside: ui.element) -> None:
    """Fill the menu of an utterance.

    Args:
        viewing: the run.
        said: the utterance.
        outside: an element that outlives the line; it owns the dialogs.
    """

    async def branch(turn: int, *, instead: bool = False) -> None:
        with outside:
            await branch_from(viewing, turn, instead=instead)

    async def again() -> None:
        with outside, errors_shown():
            made = await with_waits(viewing.web.runs.regenerate(viewing.run, said.turn))
            if made is not None:
                ui.navigate.to(page_of(made.run))

    async def calls() -> None:
        with outside, errors_shown():
            await show_calls(viewing, said)

    def copy() -> None:
        ui.clipboard.write(told(said))
        ui.notify(t("chat.copied"), type="positive")

    board = viewing.board
    idle = viewing.live is None  # only a run that is not running can be branched
    story = board.started is not None and board.started.mode == "story"
    baseline = board.started is not None and board.started.baseline is not None
    agent = said.speaker in board.participants and said.speaker not in board.people
    ui.menu_item(t("chat.copy"), copy).mark("copy-line")
    if agent and not story and not baseline:  # a story's page shows where characters stand
        ui.menu_item(t("chat.mind"), lambda: viewing.look_at(said.speaker, said.turn)).mark("mind")
    ui.menu_item(t("chat.calls"), calls).mark("calls-of")
    if viewing.experiment or baseline:
        return
    ui.separator()
    ui.menu_item(t("chat.branch_here"), lambda: branch(said.turn)).mark("branch-here").set_enabled(idle)
    instead = ui.menu_item(t("chat.branch_line"), lambda: branch(said.turn - 1, instead=True))
    instead.mark("branch-line").set_enabled(idle)
    if agent and (said.heard_by is None or story):  # a room's words are a model's own
        ui.menu_item(t("chat.regenerate"), again).mark("regenerate").set_enabled(idle)
    if not idle:
        ui.label(t("chat.not_while_live")).classes("text-xs muted px-4 py-2 max-w-60")


# The requests of an utterance: what each model was asked, and what it answered


async def show_calls(viewing: Viewing, said: Uttered) -> None:
    """Open the dialog; answers are there at once, prompts when they have been made again.

    Args:
        viewing: the run.
        said: the utterance.

    Raises:
        PerSimChatError: the run cannot be read, or its prompts are secret.
    """
    folder = viewing.web.runs.folder(viewing.run)
    await asyncio.to_thread(open_record, folder)
    found = await asyncio.to_thread(recorded_calls, folder, said.turn)
    calls = _Calls(said, found)
    if found:
        try:
            calls.complete(await viewing.web.forecasts.one(lambda: past_calls(folder, said.turn)))
        except PerSimChatError as error:  # the prompts cannot be made again; the answers stay
            calls.tell(capitalised(str(error)))


class _Calls:
    def __init__(self, said: Uttered, found: Sequence[PastCall]) -> None:
        self._calls = list(found)
        self._open: dict[int, ui.element] = {}
        with tall_dialog(t("chat.calls_title", who=one_line(said.speaker), turn=said.turn), "calls") as self._dialog:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                text = t("chat.calls_making" if found else "chat.calls_none")
                self._status = ui.label(text).classes("text-sm muted words grow").props("role=status")
                self._wait = ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                self._wait.set_visibility(bool(found))
            with ui.column().classes("w-full gap-0"):
                agent = None
                for place, call in enumerate(self._calls):
                    if call.agent != agent:
                        agent = call.agent
                        who = one_line(agent) or t("chat.calls_nobody")
                        ui.label(who).classes("text-sm font-semibold words pt-2").props("role=heading aria-level=3")
                    self._row(place, call)

    def complete(self, calls: Sequence[PastCall]) -> None:
        """Take the requests with their prompts; those that are unfolded show them."""
        if self._dialog.is_deleted or len(calls) != len(self._calls):
            return  # the run went on meanwhile
        self._calls = list(calls)
        self.tell(t("chat.calls_made" if all(call.same for call in calls) else "chat.calls_differ"))
        for place in self._open:
            self._fill(place)

    def tell(self, text: str) -> None:
        """Say how it went with the prompts."""
        if not self._dialog.is_deleted:
            self._status.set_text(text)
            self._wait.set_visibility(False)

    def _row(self, place: int, call: PastCall) -> None:
        with ui.element("details").classes("w-full call") as details:
            with ui.element("summary").classes("text-sm py-1"):
                words = call.module == "natural_language"
                ui.label(t("chat.calls_words") if words else module_name(call.module)).classes("font-semibold")
                measured = t("insights.seconds", value=f"{call.seconds:.1f}") if call.model != OFFLINE else ""
                used = tokens(call.input_tokens + call.output_tokens)
                about = joined([one_line(call.part), one_line(call.model), used, measured])
                ui.label(about).classes("text-xs muted words")
                if call.failed is not None:
                    chip(t("chat.calls_failed"), "#dc2626")
            box = ui.column().classes("w-full gap-2 py-2")

        def unfold() -> None:
            if place not in self._open:
                self._open[place] = box
                self._fill(place)

        details.on("toggle", unfold)

    def _fill(self, place: int) -> None:
        call, box = self._calls[place], self._open[place]
        with anew(box):
            for part in call.prompt or []:
                _text(t(f"chat.calls_{part.role}" if part.role in ("system", "human") else "chat.calls_ai"), part.text)
            if call.prompt and not call.same:
                ui.label(t("chat.calls_differs")).classes("text-xs muted words")
            if call.answer is not None:
                _text(t("chat.calls_answer"), call.answer)
            if call.failed is not None:
                _text(t("chat.calls_failed"), call.failed)


def _text(name: str, text: str) -> None:
    """A text under its name, shown as text and never as markup."""
    with ui.column().classes("w-full gap-1"):
        ui.label(name).classes("text-xs font-semibold muted")
        ui.label(clean(text)).classes("words text-sm call-text w-full")


# A branch: from which turn, with which other line, model, limit and settings


_ROOM: Final = 10
"""How many more messages a branch at its run's message limit gets."""


def changeable() -> list[str]:
    """The settings that the dialog offers: those that a branch may change, without the advanced ones and its fields."""
    return [
        name
        for name, about in ABOUT.items()
        if about.changes != "never" and about.group != "advanced" and name not in ("max_messages", "model", "prompts")
    ]


async def branch_from(viewing: Viewing, turn: int, *, instead: bool = False) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        turn: how many utterances the branch is to share, from 0; it can be changed in the dialog.
        instead: whether the next line is to be replaced: the field then holds its words.
    """
    if viewing.board.started is None:
        return
    with errors_shown():
        manifest = await asyncio.to_thread(read_manifest, viewing.web.runs.folder(viewing.run))
        base = load_settings(environment={}, scenario=manifest.settings.model_dump(mode="json"))
        draft = Draft.of_run(manifest, base)
        draft.settings = {}  # it holds those that the user changes
        _BranchDialog(viewing, viewing.board.started, Form(draft, base), turn, instead=instead)


class _BranchDialog:
    """The dialog, while it is open."""

    def __init__(self, viewing: Viewing, started: Started, form: Form, turn: int, *, instead: bool) -> None:
        self._viewing, self._started, self._form = viewing, started, form
        self._story = started.mode == "story"  # its stages say how long it is
        with dialog(t("chat.branch_title"), "w-[34rem]") as self._dialog:
            ui.label(t("chat.branch_text")).classes("text-sm muted")
            self._draw_line(turn, instead=instead)
            with ui.row().classes("w-full items-center gap-1 no-wrap"):
                self._model = ui.input(t("chat.branch_model")).classes("grow")
                explained(t("chat.branch_model_help"))
            limit = started.max_messages if turn < started.max_messages else turn + _ROOM
            self._limit = ui.number(t("chat.branch_limit"), value=limit, min=1, precision=0)
            self._limit.classes("w-full").set_visibility(not self._story)
            with ui.expansion(t("chat.branch_settings"), icon="tune").classes("surface w-full") as self._settings:
                self._settings.props('dense header-class="text-sm px-3 rounded-xl"').mark("branch-settings")
                with ui.column().classes("setup w-full gap-2 pb-2"):
                    for name in changeable():
                        setting_field(form, name)
            form.changed()
            self._button = dialog_buttons(self._dialog, t("chat.branch"), self._branch, icon="call_split")
            self._button.mark("branch")

    def _draw_line(self, turn: int, *, instead: bool) -> None:
        """The number of shared utterances, and the next line."""
        moderator = moderator_name(self._started.participants)
        names = {name: one_line(name) for name in self._started.participants}
        names[moderator] = t("chat.outside_as", name=moderator)
        most = self._viewing.board.turn
        self._shared = ui.number(t("chat.branch_share"), value=turn, min=0, max=most, precision=0)
        self._shared.classes("w-full").on_value_change(self._moved)
        self._there = ui.label().classes("text-xs muted line-clamp-3 break-words shrink-0")
        following = self._following(turn)
        first = following.speaker if following is not None else moderator
        self._words = ui.textarea(t("chat.branch_say")).props("autogrow").classes("w-full")
        self._who = ui.select(names, label=t("chat.branch_who"), value=first).props("options-dense").classes("w-full")
        self._who.bind_visibility_from(self._words, "value", backward=bool)  # no speaker without words
        if instead and following is not None:
            self._words.value = following.text
        self._moved()

    def _following(self, shared: int | None) -> Uttered | None:
        """The utterance after this many utterances."""
        said = self._viewing.board.utterances
        return said[shared] if shared is not None and 0 <= shared < len(said) else None

    def _moved(self) -> None:
        said = self._following(whole_number(self._shared.value))
        told = t("chat.branch_said", who=one_line(said.speaker), text=said.text) if said is not None else ""
        say_in(self._there, told)
        if said is not None and not self._words.value:
            self._who.set_value(said.speaker)

    async def _branch(self) -> None:
        at, most, last = whole_number(self._shared.value), whole_number(self._limit.value), self._viewing.board.turn
        given = at is not None and 0 <= at <= last
        enough = self._story or at is None or most is not None and most > at
        self._shared.error = None if given else t("chat.branch_between", most=last)
        self._limit.error = None if enough else t("chat.whole_number", least=at)
        self._form.changed()
        if set(changeable()) & self._form.wrong.keys():
            self._settings.open()
        elif given and enough:
            changes = dict(self._form.draft.settings)
            if most != self._started.max_messages and not self._story:
                changes["max_messages"] = most
            if model := (self._model.value or "").strip():
                changes["model"] = model
            say = (self._who.value, self._words.value) if self._words.value else None
            self._button.disable()
            try:
                made = await with_waits(self._viewing.web.runs.branch(self._viewing.run, at, say=say, changes=changes))
            except PerSimChatError as error:
                made = None
                notify_error(error)
            if made is None:
                self._button.enable()
            else:
                self._dialog.close()
                ui.navigate.to(page_of(made.run))
