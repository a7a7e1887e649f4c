"""The dialog with the requests of an utterance: what each model was asked, and what it answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.formats import joined, module_name, tokens
from persimchat.app.web.shared.would_go import open_record
from persimchat.app.web.widgets import chip, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.runs.events import Uttered
from persimchat.runs.run.past_calls import PastCall, past_calls, recorded_calls
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised, clean, one_line


async def show_calls(viewing: Viewing, said: Uttered) -> None:
    """Open the dialog; answers are there at once, prompts when they have been made again.

    Args:
        viewing: the run.
        said: the utterance.
    """
    folder = viewing.web.runs.folder(viewing.run)
    try:
        await asyncio.to_thread(open_record, folder)
        found = await asyncio.to_thread(recorded_calls, folder, said.turn)
    except PerSimChatError as error:
        notify_error(error)
        return
    dialog = _Dialog(said, found)
    if found:
        try:
            full = await viewing.web.forecasts.one(lambda: past_calls(folder, said.turn))
        except PerSimChatError as error:
            dialog.cannot(error)
        else:
            dialog.complete(full)


class _Dialog:
    def __init__(self, said: Uttered, found: Sequence[PastCall]) -> None:
        self._calls = list(found)
        self._full = False
        self._open: dict[int, ui.element] = {}
        heading = t("chat.calls_title", who=one_line(said.speaker), turn=said.turn)
        with ui.dialog(value=True) as self._dialog, ui.element("div").classes("surface would-go").mark("calls"):
            named(self._dialog, heading)
            with ui.row().classes("w-full items-center gap-2 no-wrap px-3 py-2 bar"):
                title = ui.label(heading).classes("text-sm font-semibold grow min-w-0 words")
                title.props("role=heading aria-level=2")
                icon_button("close", t("common.close"), self._dialog.close)
            with ui.element("div").classes("scroll would-body call-list").props("tabindex=0") as body:
                named(body, heading)
                with ui.row().classes("w-full items-center gap-2 no-wrap"):
                    text = t("chat.calls_making" if found else "chat.calls_none")
                    self._status = ui.label(text).classes("text-sm muted words grow").props("role=status")
                    self._wait = ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                    self._wait.set_visibility(bool(found))
                agent = None
                for place, call in enumerate(self._calls):
                    if call.agent != agent:
                        agent = call.agent
                        who = one_line(agent) or t("chat.calls_nobody")
                        ui.label(who).classes("text-sm font-semibold words pt-2").props("role=heading aria-level=3")
                    self._row(place, call)
        self._dialog.on("hide", self._dialog.delete)

    def complete(self, calls: Sequence[PastCall]) -> None:
        """Take the requests with their prompts; those that are unfolded show them."""
        if self._dialog.is_deleted or len(calls) != len(self._calls):
            return  # the run went on meanwhile
        self._calls, self._full = list(calls), True
        same = all(call.same for call in calls)
        self._say(t("chat.calls_made" if same else "chat.calls_differ"))
        for place in self._open:
            self._fill(place)

    def cannot(self, error: PerSimChatError) -> None:
        """The prompts cannot be made again; the answers stay."""
        if not self._dialog.is_deleted:
            self._say(capitalised(str(error)))

    def _say(self, text: str) -> None:
        self._status.set_text(text)
        self._wait.set_visibility(False)

    def _row(self, place: int, call: PastCall) -> None:
        with ui.element("details").classes("w-full call") as details:
            with ui.element("summary").classes("text-sm py-1"):
                words = call.module == "natural_language"
                ui.label(t("chat.calls_words") if words else module_name(call.module)).classes("font-semibold")
                measured = t("insights.seconds", value=f"{call.seconds:.1f}") if call.model != OFFLINE else ""
                used = tokens(call.input_tokens + call.output_tokens)
                more = joined([one_line(call.part), one_line(call.model), used, measured])
                ui.label(more).classes("text-xs muted words")
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
        box.clear()
        with box:
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
