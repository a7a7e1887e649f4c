"""Saves, loads and shares the set-up."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui
from nicegui.events import UploadEventArguments

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.more_settings import QUIET
from persimchat.app.web.setup.scenario_files import (
    NameTaken,
    SavedSetups,
    file_name,
    scenario_text,
    servers_in,
    uploaded,
)
from persimchat.app.web.widgets import FIELD, answered, icon_button, item, named, notify_error
from persimchat.app.web.words import t
from persimchat.state.document import MAX_BYTES
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.plain_text import capitalised

_TOPIC_IN_NAME: Final = 40


def files_menu(web: WebContext, form: Form) -> None:
    """Draw the menu that saves, opens and shares the set-up."""
    _Files(web, form)


class _Files:
    def __init__(self, web: WebContext, form: Form) -> None:
        self._form = form
        self._saved = SavedSetups(web.library)
        button = (
            ui.button(t("setup.files"), icon="folder_open")
            .props(f"{QUIET} aria-haspopup=menu")
            .mark("files")
            .classes("files")
        )
        with button, ui.menu().props("auto-close role=menu"):
            for key, icon, act in (
                ("open", "folder_open", self._open),
                ("save", "save", self._save),
                ("download", "download", self._download),
                ("upload", "upload", self._upload),
            ):
                item(icon, t(f"setup.{key}"), act).mark(f"files-{key}")

    def _download(self) -> None:
        try:
            name = file_name(self._form.draft.topic[:_TOPIC_IN_NAME])
        except InputError:
            name = "scenario"
        ui.download.content(scenario_text(self._form.draft).encode(), f"{name}.yaml", "application/yaml")

    async def _save(self) -> None:
        with ui.dialog() as dialog, ui.card().classes("surface w-96 gap-3"):
            named(dialog, t("setup.save"))
            ui.label(t("setup.save")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            name = ui.input(t("setup.save_name"), value=self._form.draft.topic[:_TOPIC_IN_NAME]).mark("save-name")
            name.props(f"{FIELD} autofocus maxlength=80").classes("w-full")
            ui.label(t("setup.save_about")).classes("text-xs muted")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
                replace = ui.button(t("setup.replace"), on_click=lambda: keep(replace=True))
                replace.props("flat no-caps color=negative")
                replace.set_visibility(False)
                ui.button(t("setup.save_do"), on_click=lambda: keep()).props("unelevated no-caps").mark("save-do")

        async def keep(*, replace: bool = False) -> None:
            try:
                kept = await asyncio.to_thread(self._saved.save, name.value or "", self._form.draft, replace=replace)
            except NameTaken as taken:
                name.error = str(taken)
                offer()
            except PerSimChatError as error:
                name.error = capitalised(str(error))
            else:
                dialog.close()
                ui.notify(t("setup.saved", name=kept), type="positive")

        def offer() -> None:
            replace.set_visibility(True)

        def retried() -> None:
            replace.set_visibility(False)
            name.error = None

        name.on("keydown.enter", lambda: keep())
        name.on_value_change(retried)
        await answered(dialog)

    async def _open(self) -> None:
        names = await asyncio.to_thread(self._saved.names)
        with ui.dialog() as dialog, ui.card().classes("surface w-96 gap-2"):
            named(dialog, t("setup.open"))
            ui.label(t("setup.open")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            if not names:
                ui.label(t("setup.none_saved")).classes("text-sm muted")
            with ui.column().classes("scroll w-full gap-1 max-h-[50vh] no-wrap"):
                for name in names:
                    self._entry(name, dialog)
            with ui.row().classes("w-full justify-end"):
                ui.button(t("common.close"), on_click=dialog.close).props("flat no-caps")
        await answered(dialog)

    def _entry(self, name: str, dialog: ui.dialog) -> None:
        async def load() -> None:
            try:
                draft = await asyncio.to_thread(self._saved.load, name)
            except PerSimChatError as error:
                notify_error(error)
                return
            dialog.close()
            self._form.take(draft)

        async def delete() -> None:
            if not sure.visible:
                sure.set_visibility(True)
                return
            try:
                await asyncio.to_thread(self._saved.delete, name)
            except PerSimChatError as error:
                notify_error(error)
                return
            row.set_visibility(False)
            ui.notify(t("setup.deleted", name=name))

        with ui.row().classes("w-full items-center gap-1 no-wrap") as row:
            button = ui.button(on_click=load).props("flat no-caps align=left").classes("grow min-w-0")
            with button:
                ui.label(name).classes("truncate")
            sure = ui.label(t("setup.sure")).classes("text-xs text-negative").props("role=alert")
            sure.set_visibility(False)
            icon_button("delete", t("setup.delete", name=name), delete).props("size=sm")

    async def _upload(self) -> None:
        def refuse(why: str) -> None:
            fault.set_text(why)
            fault.set_visibility(True)

        async def take(event: UploadEventArguments) -> None:
            try:
                if event.file.size() > MAX_BYTES:
                    raise InputError("the file is too large", remedy=f"Keep it below {MAX_BYTES:,} bytes.")
                draft = await asyncio.to_thread(uploaded, event.file.name, await event.file.read())
            except PerSimChatError as error:
                refuse(capitalised(str(error)))
                upload.reset()
                return
            dialog.close()
            self._form.take(draft)
            ui.notify(t("setup.uploaded"), type="positive")
            if servers := servers_in(draft):
                close = {"label": t("common.close"), "color": "white"}
                told = t("setup.servers", servers=", ".join(servers))
                ui.notify(told, type="warning", position="top", multi_line=True, timeout=0, actions=[close])

        with ui.dialog() as dialog, ui.card().classes("surface w-96 gap-3"):
            named(dialog, t("setup.upload"))
            ui.label(t("setup.upload")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            ui.label(t("setup.upload_about")).classes("text-sm muted")
            upload: ui.upload = ui.upload(
                auto_upload=True,
                max_file_size=MAX_BYTES,
                on_upload=take,
                on_rejected=lambda: refuse(t("setup.upload_refused")),
            )
            upload.props('accept=".yaml,.yml,.json"').classes("hidden").mark("upload")  # its parts have no names
            choose = ui.button(t("setup.upload_choose"), icon="upload_file").props("outline no-caps").classes("w-full")
            choose.on("click", js_handler=f"() => getElement({upload.id}).$refs.qRef.pickFiles()")
            fault: ui.label = ui.label().classes("text-sm text-negative").props("role=alert").mark("upload-fault")
            fault.set_visibility(False)
            with ui.row().classes("w-full justify-end"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
        await answered(dialog)
