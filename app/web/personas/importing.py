"""The dialog that brings in people of files: the files, the result, and which personas to keep.

Persona files are read as they are; tables, texts and files of other programs are converted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui
from nicegui.elements.upload_files import FileUpload

from persimchat.app.web.live_runs import refuse_model_files
from persimchat.app.web.personas.column_choice import ColumnChoice
from persimchat.app.web.personas.library import Library, head_of
from persimchat.app.web.personas.picks import Pick, Picks, keep_chosen
from persimchat.app.web.personas.uploads import (
    MOST_BYTES,
    PersonaFile,
    check,
    for_the_page,
    kept_for_now,
    read_persona_file,
    safe_name,
    upload_field,
)
from persimchat.app.web.personas.window import Window
from persimchat.app.web.widgets import FIELD, explained, icon_button, named
from persimchat.app.web.words import t
from persimchat.models.naming import default_model_name
from persimchat.personas.conversion.conversion import Conversion, Converted, convert
from persimchat.personas.conversion.files import texts_of
from persimchat.personas.conversion.mapping import ready
from persimchat.personas.conversion.summary import Summary, summaries
from persimchat.personas.files import SUFFIXES
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line

ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".md", ".pdf", ".png", ".yaml", ".yml")
MAPPINGS: Final = (".yaml", ".yml")
_REFUSED: Final = 20
"""The most wrong rows that are listed."""
_SHAPE: Final = "shape"
_MODEL: Final = "model"
_OWN: Final = "own"


@dataclass(frozen=True)
class Imported:
    """What some files hold.

    Attributes:
        ready: the personas of persona files.
        conversion: what was converted of the other files.
        wrong: lines about what could not be taken.
    """

    ready: Sequence[PersonaFile]
    conversion: Conversion
    wrong: Sequence[str]


def draw_understood(conversion: Conversion) -> None:
    """Draw the summary of a conversion; files with the same result share one."""
    for summary in summaries(conversion):
        with ui.column().classes("w-full gap-0"):
            files = ", ".join(dict.fromkeys(file.name for file in summary.files))
            head = t("personas.summary", files=files, n=summary.people, by=summary.by)
            ui.label(one_line(head)).classes("text-sm font-semibold break-words")
            for line in _lines(summary):
                ui.label(one_line(line)).classes("text-sm muted break-words pl-3")


def draw_wrong(lines: Sequence[str]) -> None:
    """Draw what could not be taken."""
    with ui.column().classes("surface w-full gap-1 p-3") as box:
        heading = t("personas.refused", n=len(lines))
        named(box.props("role=group"), heading)
        ui.label(heading).classes("text-sm font-semibold")
        for line in lines[:_REFUSED]:
            ui.label(one_line(line)).classes("text-sm break-words")
        if len(lines) > _REFUSED:
            ui.label(t("personas.refused_more", n=len(lines) - _REFUSED)).classes("text-sm muted")


def refused_rows(conversion: Conversion) -> list[str]:
    """The rows of which no persona could be made, with what is wrong."""
    lines = []
    for row in conversion.refused:
        place = row.record.place or t("personas.row", file=row.record.file.name, n=row.record.line or 1)
        lines.append(f"{place}: {_without_folder(row.error.what, row.record.file)}")
    return lines


def _without_folder(text: str, file: Path) -> str:
    """A text that names a file, without the folder in which it lies for a moment."""
    return text.replace(f"{file.parent}/", "")


def _read_ready(
    paths: Iterable[Path], *, json: bool
) -> tuple[list[PersonaFile], list[tuple[Path, InputError]], list[Path]]:
    """The personas of persona files, what is wrong with the others of these, and the files that are none. Blocks.

    Every YAML file is one; of JSON, if that is asked for, those that hold a persona.
    """
    found: list[PersonaFile] = []
    wrong: list[tuple[Path, InputError]] = []
    others: list[Path] = []
    for path in paths:
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES or (suffix == ".json" and not json):
            others.append(path)
            continue
        try:
            found.append(read_persona_file(path))
        except InputError as error:
            if suffix == ".json":
                others.append(path)
            else:
                wrong.append((path, error))
    return found, wrong, others


def notes_on(one: Converted) -> list[str]:
    """The source of each field of a persona, what was left out and what stayed empty, one line each."""
    draft = one.draft
    left_out = [f"{name}: {value}" for name, value in draft.left_out.items()]
    taken = [f"{ours} ← {', '.join(theirs)}" for ours, theirs in draft.mapped.items() if theirs]
    lines = [_of_kind("taken", taken), _of_kind("left_out", left_out), _of_kind("empty", one.empty)]
    return [one_line(line) for line in (*lines, *draft.notes) if line]


def _lines(summary: Summary) -> list[str]:
    lines = []
    for kind in ("taken", "left out", "technical", "empty"):
        found = [(what, number) for (of, what), number in summary.facts.items() if of == kind]
        shown = [f"{what}: {summary.values[what]}" if kind == "left out" else what for what, _ in found]
        partial = [f" ({number}/{summary.people})" if number < summary.people else "" for _, number in found]
        lines.append(_of_kind(kind.replace(" ", "_"), [a + b for a, b in zip(shown, partial, strict=True)]))
    if summary.skipped:
        lines.append(t("personas.skipped", n=summary.skipped))
    return [line for line in lines if line]


def _of_kind(kind: str, what: list[str]) -> str:
    return t(f"personas.of_kind_{kind}", what="; ".join(what)) if what else ""


class ImportDialog:
    """The dialog: first the files and how to read them, then the result.

    Args:
        library: keeps the personas that the user selects.

    Attributes:
        kept: the personas that were kept.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.files: list[FileUpload] = []
        self.mapping: FileUpload | None = None
        self.found: Imported | None = None
        self.kept: list[Persona] = []
        self.window = Window(
            t("personas.import_heading"),
            width="wide",
            unsaved=lambda: self.found is not None or bool(self.files),
        )
        self.work: asyncio.Task[Imported] | None = None
        self.picks = Picks()

    async def run(self) -> int:
        """Show the dialog; returns how many personas were kept."""
        model = (await asyncio.to_thread(load_settings)).model
        known = await asyncio.to_thread(ready)
        self._draw_form(default_model_name(model)[0], {name: one.about for name, one in known.items()})
        try:
            kept = await self.window.closed()
        finally:
            if self.work is not None:
                self.work.cancel()
        return int(kept or 0)

    def _draw_form(self, model: str, known: dict[str, str]) -> None:
        ways = {
            _SHAPE: t("personas.by_shape"),
            **{name: f"{name}: {about}" if about else name for name, about in known.items()},
            _OWN: t("personas.by_own_mapping"),
            _MODEL: t("personas.by_model"),
        }
        with self.window.body:
            self.form = ui.column().classes("w-full gap-3")
            self.outcome = ui.column().classes("w-full gap-3")
        with self.form:
            ui.label(t("personas.import_explained", size=MOST_BYTES // 1_000_000)).classes("text-sm muted")
            upload_field(t("personas.import_field"), ENDINGS, self.arrived)
            self.listed = ui.column().classes("w-full gap-1").props("aria-live=polite")
            self.columns = ColumnChoice()
            with ui.row().classes("w-full no-wrap items-start gap-1"):
                self.way = ui.select(ways, label=t("personas.read_by"), value=_SHAPE).props(f"{FIELD} options-dense")
                self.way.classes("grow min-w-0")
                explained(t("personas.read_by_explained"))
            with ui.column().classes("w-full gap-1") as own:
                upload_field(t("personas.mapping_field"), MAPPINGS, self.mapping_arrived)
                self.mapping_name = ui.label().classes("text-sm muted")
            own.bind_visibility_from(self.way, "value", value=_OWN)
            self.way.on_value_change(lambda event: self.columns.set_visibility(event.value == _SHAPE))
            with ui.row().classes("w-full no-wrap items-start gap-1") as reader:
                self.model = ui.input(t("personas.model"), placeholder=model, autocomplete=[model])
                self.model.props(f"{FIELD} stack-label").classes("grow min-w-0")
                explained(t("personas.model_explained"))
            reader.bind_visibility_from(self.way, "value", lambda way: way in (_SHAPE, _MODEL))
        self._buttons_of_form()

    def _buttons_of_form(self) -> None:
        with self.window.other_buttons():
            ui.button(t("common.cancel"), on_click=self.window.leave).props("flat no-caps")
            ui.button(t("personas.import_do"), icon="arrow_forward", on_click=self.read).props("unelevated no-caps")

    async def arrived(self, files: list[FileUpload]) -> None:
        """Take files in; of tables, show the columns."""
        if not self._fit([*self.files, *files], ENDINGS):
            return
        self.files += files
        self._list()
        await self.columns.show(self.files)

    def _fit(self, files: list[FileUpload], endings: Sequence[str]) -> bool:
        """Whether files are taken; if not, say why."""
        try:
            check(files, endings)
        except InputError as error:
            self.window.complain(str(error))
            return False
        self.window.complain()
        return True

    def mapping_arrived(self, files: list[FileUpload]) -> None:
        """Take the user's mapping; of several, the last."""
        if self._fit(files, MAPPINGS):
            self.mapping = files[-1]
            self.mapping_name.set_text(safe_name(self.mapping.name))

    def _list(self) -> None:
        self.listed.clear()
        with self.listed:
            for file in self.files:
                with ui.row().classes("surface w-full items-center gap-2 no-wrap px-3 py-1"):
                    ui.icon("description", color="primary").props("aria-hidden=true")
                    ui.label(safe_name(file.name)).classes("text-sm grow min-w-0 truncate")
                    ui.label(f"{max(1, file.size() // 1000):,} kB").classes("text-xs muted whitespace-nowrap")
                    icon_button("close", t("personas.remove_file"), partial(self.remove, file))

    async def remove(self, file: FileUpload) -> None:
        """Remove a file."""
        self.files = [other for other in self.files if other is not file]
        self._list()
        await self.columns.show(self.files)

    async def read(self) -> None:
        """Read the files, and show the result."""
        if self.work is not None and not self.work.done():
            return
        if not self.files or (self.way.value == _OWN and self.mapping is None):
            self.window.complain(t("personas.no_files" if not self.files else "personas.no_mapping"))
            return
        self.window.complain()
        self.form.set_visibility(False)
        self._draw_waiting()
        self.work = asyncio.create_task(self._imported())
        await asyncio.wait({self.work})
        if self.window.dialog.is_deleted or self.work.cancelled():
            return
        try:
            self.found = self.work.result()
        except PerSimChatError as error:
            self.back()
            self.window.complain(str(for_the_page(error, t("personas.import_remedy"))))
        except BaseException:
            self.back()  # the page's frame tells of it
            raise
        else:
            self._draw_result(self.found)

    def back(self) -> None:
        """Go back to the files."""
        self.found = None
        self.window.complain()
        self.outcome.clear()
        self.form.set_visibility(True)
        self._buttons_of_form()

    def stop(self) -> None:
        """Stop reading."""
        if self.work is not None:
            self.work.cancel()
        self.back()

    async def _imported(self) -> Imported:
        way = str(self.way.value)
        model = one_line(self.model.value or "")
        given: dict[str, Any] = {"model": model} if model and way in (_SHAPE, _MODEL) else {}
        settings = await asyncio.to_thread(lambda: load_settings(**given))
        refuse_model_files(settings.model_dump())
        mapping = [self.mapping] if way == _OWN and self.mapping is not None else []
        async with kept_for_now([*mapping, *self.files]) as paths:
            files = paths[len(mapping) :]
            ready, wrong, others = await asyncio.to_thread(_read_ready, files, json=way == _SHAPE)
            if wrong and not (ready or others):
                raise wrong[0][1]
            chosen = str(paths[0]) if mapping else None if way in (_SHAPE, _MODEL) else way
            columns = self.columns.said() if way == _SHAPE else None
            found = Conversion((), {})
            if others:
                found = await convert(others, settings, mapping=chosen, columns=columns, read=way == _MODEL)
            lines = [_without_folder(str(error), path) for path, error in wrong]
            return Imported(ready, found, [*lines, *refused_rows(found)])

    def _draw_waiting(self) -> None:
        self.outcome.clear()
        with self.outcome, ui.row().classes("items-center gap-3"):
            ui.spinner(size="28px").props("aria-hidden=true")
            ui.label(t("personas.reading")).classes("text-sm").props("role=status")
        with self.window.other_buttons():
            ui.button(t("personas.stop"), on_click=self.stop).props("flat no-caps")

    def _draw_result(self, found: Imported) -> None:
        self.outcome.clear()
        self.picks = Picks()
        people = found.conversion.people
        with self.outcome:
            told = t("personas.imported", n=len(found.ready) + len(people))
            ui.label(told).classes("text-sm muted").props("role=status")
            if found.wrong:
                draw_wrong(found.wrong)
            if people:
                with ui.expansion(t("personas.understood"), icon="fact_check").classes("surface w-full"):
                    draw_understood(found.conversion)
            for file in found.ready:
                self.picks.add(Pick(file.persona, notes=file.notes), ticked=True)
            for one in people:
                self.picks.add(Pick(one.persona, notes=notes_on(one)), ticked=True)
        with self.window.other_buttons():
            ui.button(t("personas.back"), icon="arrow_back", on_click=self.back).props("flat no-caps")
            ui.button(t("personas.keep"), icon="check", on_click=self.keep).props("unelevated no-caps")

    async def keep(self) -> None:
        """Keep the ticked personas."""
        assert self.found is not None
        ready, people = self.found.ready, self.found.conversion.people
        ticked = self.picks.chosen()
        converted = [people[n - len(ready)] for n in ticked if n >= len(ready)]
        try:
            texts = await asyncio.to_thread(texts_of, converted)
        except PerSimChatError as error:
            self.window.complain(str(for_the_page(error, t("personas.import_leave_out"))))
            return
        chosen = [(ready[n].persona, ready[n].notes) for n in ticked if n < len(ready)]
        chosen += [(one.persona, head_of(text)) for one, text in zip(converted, texts.values(), strict=True)]
        if await keep_chosen(self.library, chosen):
            self.kept = [persona for persona, _ in chosen]
            self.window.submit(len(chosen))
