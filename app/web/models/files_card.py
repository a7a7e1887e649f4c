"""The model files of this machine: a list, getting another after consent, removing one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.downloads import Download, Downloads
from persimchat.app.web.models.picker import size_of
from persimchat.app.web.widgets import FIELD, answered, card, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.models.local import files
from persimchat.models.local.files import Stored
from persimchat.models.local.getting import Announced, announced
from persimchat.models.naming import SMOLLM2
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised

_LOOK_S: Final = 0.5
"""Seconds between looks at downloads."""


def files_card(downloads: Downloads, choose: Callable[[str], object]) -> None:
    """Draw the card.

    Args:
        downloads: of the server.
        choose: called with the name of a file that the user wants to try.
    """
    _FilesCard(downloads, choose)


class _FilesCard:
    def __init__(self, downloads: Downloads, choose: Callable[[str], object]) -> None:
        self._downloads, self._choose = downloads, choose
        self._drawn: object = None
        self._lines: list[_Line] = []
        with card(t("models.files")):
            ui.label(t("models.files_about")).classes("text-sm muted")
            self._list = ui.column().classes("w-full gap-0").props("role=list")
            self._loading = ui.column().classes("w-full gap-2")
            with ui.row().classes("w-full items-center gap-2 pt-1"):
                self._name = ui.input(t("models.get_name"), placeholder=t("models.get_example"))
                self._name.props(f"{FIELD} spellcheck=false").classes("grow basis-60 min-w-0").mark("get-name")
                self._name.without_auto_validation().on("keydown.enter", self._ask)
                self._button = ui.button(t("models.get"), icon="download", on_click=self._ask)
                self._button.props("unelevated no-caps").mark("get")
            with ui.row().classes("w-full items-center gap-2") as self._small:
                ui.label(t("models.small")).classes("text-xs muted grow basis-60")
                small = ui.button(t("models.get_small"), on_click=self._ask_small).props("flat dense no-caps")
                small.mark("get-small").classes("text-sm px-2")
            self._where = ui.label().classes("text-xs muted [overflow-wrap:anywhere]")
        ui.timer(0, self.look, once=True)
        ui.timer(_LOOK_S, self.look)

    async def look(self) -> None:
        """Show what there is, and how far downloads are."""
        try:
            stored, room = await asyncio.to_thread(_here)
        except PerSimChatError as error:
            stored, room = [], None
            self._name.error = capitalised(str(error))
        loads = [load for load in self._downloads.all if load.state != "done"]
        seen = (stored, [(load.name, load.state) for load in loads])
        if seen != self._drawn:
            self._drawn = seen
            self._draw(stored, loads)
        for load, line in zip(loads, self._lines, strict=True):
            line.show(load)
        space = "" if room is None else t("models.room", folder=str(files.folder()), size=size_of(room))
        self._where.set_text(space)

    def _draw(self, stored: list[Stored], loads: list[Download]) -> None:
        self._list.clear()
        with self._list:
            if not stored:
                ui.label(t("models.none")).classes("text-sm py-2").props("role=listitem")
            for entry in stored:
                self._row(entry)
        self._small.set_visibility(all(entry.name != SMOLLM2 for entry in stored))
        self._loading.clear()
        with self._loading:
            self._lines = [_Line(load, self._downloads) for load in loads]

    def _row(self, entry: Stored) -> None:
        with (
            ui.row().classes("w-full items-center gap-2 py-2 border-t no-wrap").style("border-color:var(--line)") as row
        ):
            row.props("role=listitem")
            with ui.column().classes("gap-0 grow min-w-0"):
                ui.label(entry.name).classes("text-sm font-semibold [overflow-wrap:anywhere]")
                about = (size_of(entry.size), entry.licence or t("models.no_licence"), entry.source)
                ui.label(" · ".join(about)).classes("text-xs muted [overflow-wrap:anywhere]")
            use = ui.button(t("models.try_it"), on_click=lambda: self._choose(entry.name)).props("flat dense no-caps")
            named(use, t("models.try_named", name=entry.name)).classes("text-sm px-2")
            remove = icon_button("delete_outline", t("models.remove", name=entry.name), lambda: self._remove(entry))
            remove.mark("remove-model")

    async def _ask_small(self) -> None:
        self._name.set_value(SMOLLM2)
        await self._ask()

    async def _ask(self) -> None:
        """Say what a download would be; only a second click downloads."""
        name = (self._name.value or "").strip()
        self._name.error = None
        if not name:
            self._name.error = t("models.name_missing")
            return
        self._button.props(add="loading")
        try:
            found = await asyncio.to_thread(announced, name)
        except PerSimChatError as error:
            self._name.error = error.sentence
            return
        finally:
            self._button.props(remove="loading")
        if found.there:
            self._name.error = t("models.there_already")
        elif await _consents(found):
            try:
                self._downloads.start(name)
            except PerSimChatError as error:
                notify_error(error)
            self._name.set_value("")
            await self.look()

    async def _remove(self, entry: Stored) -> None:
        if not await _sure(entry):
            return
        try:
            await asyncio.to_thread(files.remove, entry.name)
        except PerSimChatError as error:
            notify_error(error)
        self._downloads.forget(entry.name)
        await self.look()


class _Line:
    """How far a download is."""

    def __init__(self, load: Download, downloads: Downloads) -> None:
        with ui.row().classes("w-full items-center gap-3 no-wrap"):
            with ui.column().classes("gap-1 grow min-w-0"):
                self._text = ui.label().classes("text-xs [overflow-wrap:anywhere]").props("role=status")
                self._bar = ui.linear_progress(0, show_value=False).props("rounded aria-hidden=true")
            if load.state == "failed":
                icon_button("close", t("common.close"), lambda: downloads.forget(load.name))
        self.show(load)

    def show(self, load: Download) -> None:
        """Bring it up to date."""
        self._bar.set_visibility(load.state == "loading")
        if load.state == "failed":
            self._text.set_text(t("models.get_failed", name=load.name, why=load.error))
            self._text.classes(add="text-negative")
            return
        of = size_of(load.total) if load.total else t("models.unknown_size")
        self._text.set_text(t("models.getting", name=load.name, done=size_of(load.done), of=of))
        self._bar.set_value(min(1.0, load.done / load.total) if load.total else 0)


async def _consents(found: Announced) -> bool:
    """Ask whether a file shall be downloaded: what, from where, how large, to where."""
    size = t("models.unknown_size") if found.size is None else size_of(found.size)
    with ui.dialog() as dialog, ui.card().classes("surface w-[30rem] max-w-full gap-3"):
        named(dialog, t("models.consent"))
        ui.label(t("models.consent")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        rows = {
            "models.model": found.name,
            "models.size": size,
            "models.source": found.source,
            "models.licence": found.licence or t("models.licence_there"),
            "models.folder": str(files.folder()),
        }
        with ui.element("dl").classes("grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 m-0 w-full text-sm"):
            for key, value in rows.items():
                with ui.element("dt").classes("muted"):
                    ui.label(t(key))
                with ui.element("dd").classes("m-0 [overflow-wrap:anywhere]"):
                    ui.label(value)
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=lambda: dialog.submit(False)).props("flat no-caps")
            yes = ui.button(t("models.download", size=size), on_click=lambda: dialog.submit(True))
            yes.props("unelevated no-caps").mark("consent")
    return bool(await answered(dialog))


async def _sure(entry: Stored) -> bool:
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        named(dialog, t("models.remove_title"))
        ui.label(t("models.remove_title")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        text = t("models.remove_about", name=entry.name, size=size_of(entry.size))
        ui.label(text).classes("text-sm [overflow-wrap:anywhere]")
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=lambda: dialog.submit(False)).props("flat no-caps")
            yes = ui.button(t("models.remove_it"), on_click=lambda: dialog.submit(True))
            yes.props("unelevated no-caps color=negative").mark("remove-it")
    return bool(await answered(dialog))


def _here() -> tuple[list[Stored], int | None]:
    """The files of this machine, and the bytes that are free where they are. Blocks."""
    where: Path = files.folder()
    while not where.exists() and where != where.parent:
        where = where.parent
    try:
        room = shutil.disk_usage(where).free
    except OSError:
        room = None
    return files.stored(), room
