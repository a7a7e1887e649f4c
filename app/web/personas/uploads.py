"""Files that a user uploads: checks, a temporary folder while they are read, and the personas in persona files."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from ....personas.catalogue import SHIPPED_FRAGMENTS, load_persona
from ....state.document import Document, read_document
from ....state.errors import InputError, PerSimChatError, suggestion
from ....state.persona import Persona
from ....state.plain_text import one_line
from ..widgets import text_button
from ..words import t
from .library import head_of

MOST_BYTES: Final = 5_000_000
"""The size limit of a file, in bytes."""
MOST_FILES: Final = 100
"""The most files in one upload."""
_LONGEST_NAME: Final = 80


def upload_field(
    label: str, endings: Sequence[str], on_files: Callable[[list[FileUpload]], object], most: int = MOST_BYTES
) -> ui.upload:
    """A field for files that the user chooses or drags onto it.

    Args:
        label: its text.
        endings: endings of the accepted files, with the dot.
        on_files: called with the files as soon as they have arrived.
        most: the size limit of a file, in bytes.
    """

    def arrived(event: events.MultiUploadEventArguments) -> object:
        field.reset()
        return on_files(event.files)

    def refused() -> None:
        ui.notify(t("personas.upload_refused", endings=", ".join(endings), size=most // 1_000_000), type="negative")

    field = ui.upload(
        label=label,
        multiple=True,
        auto_upload=True,
        max_file_size=most,
        max_files=MOST_FILES,
        on_multi_upload=arrived,
        on_rejected=refused,
    )
    field.props["accept"] = ",".join(endings)
    field.props("flat").classes("persona-upload w-full")
    with field.add_slot("header"):  # Quasar's own button has no name and cannot be reached by a screen reader
        button = text_button(label, icon="upload_file").classes("w-full")
        button.on("click", js_handler=f"() => getElement({field.id}).$refs.qRef.pickFiles()")
        with ui.element("div").style("display:none"):
            ui.element("q-uploader-add-trigger")  # holds the browser's field for files
    return field


def check(files: Sequence[FileUpload], endings: Sequence[str], most: int = MOST_BYTES) -> None:
    """Refuse files that are too large, too many or of another kind, because the browser's checks can be bypassed.

    Raises:
        InputError: naming the file.
    """
    if len(files) > MOST_FILES:
        raise InputError(f"{len(files):,} files at once", remedy=f"Send up to {MOST_FILES}.")
    for file in files:
        name = safe_name(file.name)
        if file.size() > most:
            remedy = f"Keep it below {most // 1_000_000} MB."
            raise InputError("the file is too large", where=name, remedy=remedy)
        if Path(name).suffix.lower() not in endings:
            raise InputError("files of this kind are not read", where=name, remedy=f"Use {', '.join(endings)}.")


@asynccontextmanager
async def kept_for_now(files: Sequence[FileUpload]) -> AsyncIterator[list[Path]]:
    """The files in a temporary folder; errors name them without the folder.

    Args:
        files: the uploaded files; they keep their names as far as these are safe and different.
    """
    folder = await asyncio.to_thread(lambda: tempfile.TemporaryDirectory(prefix="persimchat-"))
    try:
        paths: list[Path] = []
        for file in files:
            path = _free(Path(folder.name), safe_name(file.name), paths)
            await file.save(path)
            paths.append(path)
        yield paths
    except PerSimChatError as error:  # for the user: with the names of the user's files
        told = (text.replace(f"{folder.name}/", "") for text in (error.what, error.where, error.remedy))
        raise InputError(next(told), where=next(told), remedy=next(told)) from error
    finally:
        await asyncio.to_thread(folder.cleanup)


def safe_name(name: str) -> str:
    """A safe file name, which reaches no other folder and is not hidden; its ending stays."""
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


class PersonaFile(NamedTuple):
    """A persona in a file of its own.

    Attributes:
        persona: the persona.
        notes: the comments at the file's beginning.
    """

    persona: Persona
    notes: list[str]


def read_persona_file(path: Path) -> PersonaFile:
    """Read the persona of a file that a user sent. Blocks.

    Raises:
        InputError: it does not hold a persona, or names files of the server.
    """
    _require_shipped_fragments(read_document(path))
    notes = head_of(path.read_text(encoding="utf-8-sig")) if path.suffix.lower() != ".json" else []
    return PersonaFile(load_persona(path), notes)


def _require_shipped_fragments(document: Document) -> None:
    """Refuse fragments that are files: an upload must not read the server's files."""
    given = document.data.get("include") or []
    shipped = sorted(path.stem for path in SHIPPED_FRAGMENTS.glob("*.yaml"))
    for name in [given] if isinstance(given, str) else given if isinstance(given, list) else []:
        if isinstance(name, str) and name.strip().replace("-", "_") not in shipped:
            what = f"the fragment {name!r} cannot be read from an uploaded file"
            remedy = suggestion(name, shipped, otherwise="Copy the fragment's fields into the file itself.")
            raise InputError(what, where=document.where(("include",)), remedy=remedy)
