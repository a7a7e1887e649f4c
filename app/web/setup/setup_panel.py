"""The panel in which a conversation is set up, with the estimate of what it will take."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.personas.chooser import take_pending_personas
from persimchat.app.web.setup.checking import TOPIC
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.files_bar import FilesBar
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.participants import participants_part
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.app.web.setup.sections import settings_parts
from persimchat.app.web.setup.setting_field import label_of
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.setup.starting import Starter
from persimchat.app.web.setup.topics import topic_part
from persimchat.app.web.widgets import explained, notify_error
from persimchat.app.web.words import number, t
from persimchat.models.naming import OFFLINE
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.reports.estimate import Estimate, estimate
from persimchat.state.configuration import load_settings
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings

WAIT_S: Final = 0.5
"""The draft has to stay as it is for so long before it is estimated."""


_DIGITS: Final = 3


class CostLine:
    """The line, and below it the budgets that would be reached."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._seen = self._told = -1
        self._working = False
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.icon("calculate", size="18px").classes("muted").props("aria-hidden=true")
            self._line = ui.label(t("setup.estimating")).classes("text-xs muted grow").props("aria-live=polite")
            self._line.mark("estimate")
            explained(t("setup.estimate_help"))
        self._warning = ui.label().classes("text-xs text-negative").props("role=alert").mark("over-budget")
        self._warning.set_visibility(False)
        ui.timer(WAIT_S, self.look)

    async def look(self) -> None:
        """Estimate where there is something new that has stayed for a while."""
        revision = self._form.revision
        if self._working or revision == self._told or revision != self._seen:
            self._seen = revision
            return
        self._working = True
        try:
            self._show(*await asyncio.to_thread(self._estimated, t("setup.demo_topic")))
            self._told = revision
        finally:
            self._working = False

    def _estimated(self, example: str) -> tuple[Estimate, Settings] | tuple[None, str]:
        """The estimate, or why there is none; an example stands for a topic that is still to be written."""
        if set(self._form.wrong) - {TOPIC}:
            return None, ""
        draft = self._form.draft
        try:
            scenario, settings = replace(draft, topic=draft.topic.strip() or example).simulation()
            return estimate(scenario, settings), settings
        except PerSimChatError as error:
            return None, error.what

    def _show(self, found: Estimate | None, settings: Settings | str) -> None:
        if found is None or isinstance(settings, str):
            why = t("setup.no_estimate") if not settings else t("setup.no_estimate_because", why=settings)
            self._line.set_text(why)
            self._warning.set_visibility(False)
            return
        total = found.total
        key = "setup.estimate_debate" if settings.mode == "debate" else "setup.estimate"
        self._line.set_text(
            t(
                key,
                calls=number(_about(total.calls)),
                tokens=number(_about(total.input_tokens + total.output_tokens)),
                cost=_cost(found),
            )
        )
        reached = [label_of(name) for name in found.exceeded(settings)]
        self._warning.set_text(t("setup.over_budget", budgets=", ".join(reached)) if reached else "")
        self._warning.set_visibility(bool(reached))


def _about(counted: int) -> int:
    """A whole number with three digits that say something; an estimate knows no more."""
    return round(counted, min(0, _DIGITS - len(str(counted))))


def _cost(found: Estimate) -> str:
    """What is paid, in words."""
    if found.unpriced():
        return t("setup.price_unknown", models=", ".join(found.unpriced()))
    if set(found.by("model")) <= {OFFLINE}:
        return t("setup.free")
    return t("setup.price", usd=number(found.total.cost_usd or 0, 4))


async def setup_panel(web: WebContext, *, like: str = "", setup: str = "") -> None:
    """Draw the panel; see `conversation_page.new_page` for `like` and `setup`."""
    try:
        base = load_settings()
    except PerSimChatError as error:  # of the environment; a start is refused with the same words
        notify_error(error)
        base = Settings()
    try:
        draft = await asyncio.to_thread(_draft, web, base, like, setup)
    except PerSimChatError as error:
        notify_error(error)
        draft = Draft.fresh(base)
    if not (like or setup) and (personas := take_pending_personas()):
        draft.seats = [Seat(persona) for persona in personas]
    form = Form(draft, base)
    with ui.column().classes("setup scroll w-full grow p-4 gap-5 no-wrap"):
        FilesBar(web, form)
        topic_part(form)
        participants_part(web, form)
        settings_parts(form)
    with ui.column().classes("w-full px-4 pt-2 pb-3 gap-2 border-t").style("border-color:var(--line)"):
        CostLine(form)
        _start(web, form, t("setup.start_again" if like else "setup.start"))
    form.changed()


def _draft(web: WebContext, base: Settings, like: str, setup: str) -> Draft:
    if setup:
        return SavedSetups(web.library).load(setup)
    return Draft.of_run(read_manifest(web.runs.folder(like)), base) if like else Draft.fresh(base)


def _start(web: WebContext, form: Form, name: str) -> None:
    """The button, and above it what keeps the conversation from being started."""
    wrong = ui.label().classes("text-xs text-negative").props("role=alert").mark("wrong")
    wrong.set_visibility(False)
    button = ui.button(name, icon="play_arrow").props("unelevated no-caps").classes("w-full").mark("start")
    starter = Starter(web, button, lambda: form.draft.simulation(), form)

    async def start() -> None:
        if form.insist():
            await starter.start()
        else:
            say()

    def say() -> None:
        wrong.set_text(t("setup.to_correct", fields=", ".join(map(_called, form.wrong))))
        wrong.set_visibility(True)

    form.follow(lambda: wrong.set_visibility(False))
    button.on_click(start)


def _called(field: str) -> str:
    return label_of(field) if field in specs() else t(f"setup.{field}")
