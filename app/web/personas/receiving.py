"""Persona files that a user sends: checked as persona files, then kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from nicegui import ui
from nicegui.elements.upload_files import FileUpload

from persimchat.app.web.personas.library import Library, head_of
from persimchat.app.web.personas.uploads import check, kept_for_now, upload_field
from persimchat.app.web.personas.window import Window
from persimchat.app.web.words import t
from persimchat.personas.files import SUFFIXES, load_persona
from persimchat.personas.fragments import SHIPPED_FRAGMENTS
from persimchat.state.document import Document, read_document
from persimchat.state.errors import InputError, PerSimChatError, suggestion
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line


async def receive(library: Library) -> bool:
    """Let the user send persona files; whether any was kept."""
    window = Window(t("personas.upload_heading"), width="small")
    kept: list[str] = []

    async def arrived(files: list[FileUpload]) -> None:
        for file in files:
            try:
                name = await keep(library, file)
            except PerSimChatError as error:
                with told_box:
                    ui.label(str(error)).classes("text-sm text-negative break-words").props("role=alert")
            else:
                kept.append(name)
                with told_box:
                    ui.label(t("personas.kept_one", name=one_line(name))).classes("text-sm break-words")

    with window.body:
        ui.label(t("personas.upload_explained")).classes("text-sm muted")
        upload_field(t("personas.upload_field"), SUFFIXES, arrived)
        told_box = ui.column().classes("w-full gap-1").props("aria-live=polite")
    with window.buttons:
        ui.button(t("personas.done"), on_click=lambda: window.submit(True)).props("unelevated no-caps")
    await window.closed()
    return bool(kept)


async def keep(library: Library, file: FileUpload) -> str:
    """Keep a persona file that was sent; the persona's name.

    Raises:
        InputError: it is no persona's, is too large, or cannot be kept.
    """
    check([file], SUFFIXES)
    async with kept_for_now([file]) as paths:
        persona, notes = await asyncio.to_thread(_read, paths)
    await asyncio.to_thread(library.add, persona, notes)
    return persona.name


def _read(paths: Sequence[Path]) -> tuple[Persona, list[str]]:
    (path,) = paths
    _require_shipped_fragments(read_document(path))
    notes = head_of(path.read_text(encoding="utf-8-sig")) if path.suffix.lower() != ".json" else []
    return load_persona(path), notes


def _require_shipped_fragments(document: Document) -> None:
    """Refuse fragments that are files: what is sent may not read the server's files."""
    given = document.data.get("include") or []
    shipped = sorted(path.stem for path in SHIPPED_FRAGMENTS.glob("*.yaml"))
    for name in [given] if isinstance(given, str) else given if isinstance(given, list) else []:
        if isinstance(name, str) and name.strip().replace("-", "_") not in shipped:
            what = f"the fragment {name!r} did not come with the file"
            remedy = suggestion(name, shipped, otherwise="Write what it says into the file itself.")
            raise InputError(what, where=document.where(("include",)), remedy=remedy)
