"""The panel in which a conversation is set up."""

from __future__ import annotations

import asyncio

from nicegui import ui

from persimchat.app.web.personas.together import taken_along
from persimchat.app.web.place import Place
from persimchat.app.web.setup.cost_line import CostLine
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.files_bar import FilesBar
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.participants import participants_part
from persimchat.app.web.setup.sections import settings_parts
from persimchat.app.web.setup.setting_field import label_of
from persimchat.app.web.setup.shelf import Shelf
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.setup.starting import Starter
from persimchat.app.web.setup.topics import topic_part
from persimchat.app.web.widgets import told
from persimchat.app.web.words import t
from persimchat.runs.reading import read_manifest
from persimchat.state.configuration import load_settings
from persimchat.state.errors import PerSimChatError
from persimchat.state.settings import Settings


async def setup_panel(place: Place, *, like: str = "", setup: str = "") -> None:
    """Draw the panel; see `conversation_page.new_page` for `like` and `setup`."""
    try:
        base = load_settings()
    except PerSimChatError as error:  # of the environment; a start is refused with the same words
        told(error)
        base = Settings()
    try:
        draft = await asyncio.to_thread(_draft, place, base, like, setup)
    except PerSimChatError as error:
        told(error)
        draft = Draft.fresh(base)
    if not (like or setup) and (personas := taken_along()):
        draft.seats = [Seat(persona) for persona in personas]
    form = Form(draft, base)
    with ui.column().classes("setup scroll w-full grow p-4 gap-5 no-wrap"):
        FilesBar(place, form)
        topic_part(form)
        participants_part(place, form)
        settings_parts(form)
    with ui.column().classes("w-full px-4 pt-2 pb-3 gap-2 border-t").style("border-color:var(--line)"):
        CostLine(form)
        _start(place, form, t("setup.start_again" if like else "setup.start"))
    form.changed()


def _draft(place: Place, base: Settings, like: str, setup: str) -> Draft:
    if setup:
        return Shelf(place.library).load(setup)
    return Draft.of_run(read_manifest(place.runs.folder(like)), base) if like else Draft.fresh(base)


def _start(place: Place, form: Form, name: str) -> None:
    """The button, and above it what keeps the conversation from being started."""
    wrong = ui.label().classes("text-xs text-negative").props("role=alert").mark("wrong")
    wrong.set_visibility(False)
    button = ui.button(name, icon="play_arrow").props("unelevated no-caps").classes("w-full").mark("start")
    starter = Starter(place, button, lambda: form.draft.simulation(), form)

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
