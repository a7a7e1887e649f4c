"""Files that a user sends: checked, held in a temporary folder while they are read, and persona files that are kept."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from persimchat.app.web.personas.library import Library, head_of
from persimchat.app.web.personas.window import Window
from persimchat.app.web.words import t
from persimchat.personas.files import SUFFIXES, load_persona
from persimchat.personas.fragments import SHIPPED_FRAGMENTS
from persimchat.state.document import Document, read_document
from persimchat.state.errors import InputError, PerSimChatError, suggestion
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line

MOST_BYTES: Final = 5_000_000
"""The largest file that is taken."""
MOST_FILES: Final = 100
"""Files that are taken at once."""
_LONGEST_NAME: Final = 80


def upload_field(label: str, endings: Sequence[str], on_files: Callable[[list[FileUpload]], object]) -> ui.upload:
    """A field for files: chosen, or dragged onto it.

    Args:
        label: what it says.
        endings: endings of the files that it takes, with the dot.
        on_files: called with the files as soon as they have arrived.
    """

    def arrived(event: events.MultiUploadEventArguments) -> object:
        field.reset()
        return on_files(event.files)

    def refused() -> None:
        ui.notify(
            t("personas.upload_refused", endings=", ".join(endings), size=MOST_BYTES // 1_000_000), type="negative"
        )

    field = ui.upload(
        label=label,
        multiple=True,
        auto_upload=True,
        max_file_size=MOST_BYTES,
        max_files=MOST_FILES,
        on_multi_upload=arrived,
        on_rejected=refused,
    )
    field.props["accept"] = ",".join(endings)
    field.props("flat").classes("persona-upload w-full")
    with field.add_slot("header"):  # Quasar's own button has no name and cannot be reached by a screen reader
        button = ui.button(label, icon="upload_file").props("flat no-caps").classes("w-full")
        button.on("click", js_handler=f"() => getElement({field.id}).$refs.qRef.pickFiles()")
        with ui.element("div").style("display:none"):
            ui.element("q-uploader-add-trigger")  # holds the browser's field for files
    return field


def check(files: Sequence[FileUpload], endings: Sequence[str]) -> None:
    """Refuse what is too large, too much or of another kind, whatever the browser has let pass.

    Raises:
        InputError: naming the file.
    """
    if len(files) > MOST_FILES:
        raise InputError(f"{len(files):,} files at once", remedy=f"Send up to {MOST_FILES}.")
    for file in files:
        name = safe_name(file.name)
        if file.size() > MOST_BYTES:
            remedy = f"Keep it below {MOST_BYTES // 1_000_000} MB."
            raise InputError("the file is too large", where=name, remedy=remedy)
        if Path(name).suffix.lower() not in endings:
            raise InputError("files of this kind are not read", where=name, remedy=f"Use {', '.join(endings)}.")


@asynccontextmanager
async def kept_for_now(files: Sequence[FileUpload]) -> AsyncIterator[list[Path]]:
    """The files in a folder of their own, which is gone afterwards; errors name them without the folder.

    Args:
        files: what was sent; they keep their names as far as a name is safe, and differ.
    """
    folder = await asyncio.to_thread(lambda: tempfile.TemporaryDirectory(prefix="persimchat-"))
    try:
        paths: list[Path] = []
        for file in files:
            path = _free(Path(folder.name), safe_name(file.name), paths)
            await file.save(path)
            paths.append(path)
        yield paths
    except PerSimChatError as error:
        raise _elsewhere(error, folder.name) from error
    finally:
        await asyncio.to_thread(folder.cleanup)


def safe_name(name: str) -> str:
    """A file's name of which nothing can reach another folder, nor hide the file; its ending stays."""
    plain = re.sub(r"[^\w .()-]", "_", one_line(re.split(r"[/\\]", name)[-1])).strip(" .") or "file"
    stem, dot, ending = plain.rpartition(".")
    return f"{stem[:_LONGEST_NAME]}.{ending[:8]}" if dot and stem else plain[:_LONGEST_NAME]


def _free(folder: Path, name: str, taken: Sequence[Path]) -> Path:
    names = {path.name.casefold() for path in taken}
    stem, ending = Path(name).stem, Path(name).suffix
    number = 1
    while (free := name if number == 1 else f"{stem}-{number}{ending}").casefold() in names:
        number += 1
    return folder / free


def _elsewhere(error: PerSimChatError, folder: str) -> PerSimChatError:
    """The error as people of the page see it: their files' names, and no options of a command line."""
    what, where, remedy = (text.replace(f"{folder}/", "") for text in (error.what, error.where, error.remedy))
    return InputError(what, where=where, remedy=remedy)


def for_the_page(error: PerSimChatError, remedy: str) -> PerSimChatError:
    """An error whose remedy may name options of the command line, with a remedy that the page has."""
    where = "" if error.where.startswith("--") else error.where
    return InputError(error.what, where=where, remedy=remedy if "--" in error.remedy else error.remedy)


async def receive(library: Library) -> bool:
    """Let the user send persona files; returns whether any was kept."""
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
