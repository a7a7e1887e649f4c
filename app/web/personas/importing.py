"""The dialog that brings in people of files: the files, the result, and which personas to keep.

Persona files are read as they are; tables, texts and files of other programs are converted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui
from nicegui.elements.upload_files import FileUpload

from ....personas.catalogue import SUFFIXES
from ....personas.conversion.columns import LEFT_OUT, OWN_FIELDS, Table, characteristics, guessed, table_in
from ....personas.conversion.conversion import Conversion, Converted, Summary, convert, summaries, texts_of
from ....personas.conversion.mapping import ready
from ....state.configuration import load_settings
from ....state.errors import InputError, PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import folded, one_line
from ..live_runs import refuse_model_files
from ..widgets import anew, explained, icon_button, named
from ..words import t
from .library import Library, head_of
from .making import MakingDialog
from .persona_lists import Pick
from .uploads import MOST_BYTES, PersonaFile, check, kept_for_now, read_persona_file, safe_name, upload_field

ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".md", ".pdf", ".png", ".yaml", ".yml")
MAPPINGS: Final = (".yaml", ".yml")
_REFUSED: Final = 20
"""The most wrong rows that are listed."""
_SHAPE: Final = "shape"
_MODEL: Final = "model"


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
        is_json = path.suffix.lower() == ".json"
        if path.suffix.lower() in SUFFIXES and (json or not is_json):
            try:
                found.append(read_persona_file(path))
                continue
            except InputError as error:
                if not is_json:
                    wrong.append((path, error))
                    continue
        others.append(path)
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
        shown = [
            (f"{what}: {summary.values[what]}" if kind == "left out" else what)
            + (f" ({number}/{summary.people})" if number < summary.people else "")
            for (of, what), number in summary.facts.items()
            if of == kind
        ]
        lines.append(_of_kind(kind.replace(" ", "_"), shown))
    if summary.skipped:
        lines.append(t("personas.skipped", n=summary.skipped))
    return [line for line in lines if line]


def _of_kind(kind: str, what: list[str]) -> str:
    return t(f"personas.of_kind_{kind}", what="; ".join(what)) if what else ""


# The step in which a user says what each column of a table becomes, with its first rows below


SHOWN: Final = 5
"""How many rows are shown."""
_LONGEST: Final = 90
"""The most characters of a value that are shown."""
_OWN: Final = "own"


class ColumnChoice:
    """What the columns of the uploaded tables become.

    Attributes:
        chosen: column → what the user chose for it; columns that keep what their name suggests are not in it.
    """

    def __init__(self) -> None:
        self.chosen: dict[str, str] = {}
        self._columns: set[str] = set()
        self._box = ui.column().classes("w-full gap-3")

    async def show(self, files: Sequence[FileUpload]) -> None:
        """Draw the columns of the tables among these files; those of the same columns once."""
        tables = await _tables(files)
        if self._box.is_deleted:
            return
        different: dict[tuple[str, ...], list[Table]] = {}
        for table in tables:
            different.setdefault(table.columns, []).append(table)
        self._columns = {column for columns in different for column in columns}
        with anew(self._box):
            for columns, alike in different.items():
                self._draw(columns, alike)

    def said(self) -> dict[str, str] | None:
        """What the user chose for the columns that are there; None if no table is."""
        return {name: to for name, to in self.chosen.items() if name in self._columns} if self._columns else None

    def set_visibility(self, visible: bool) -> None:
        """Show or hide it."""
        self._box.set_visibility(visible)

    def _draw(self, columns: tuple[str, ...], alike: Sequence[Table]) -> None:
        suggested = guessed(columns)
        names = ", ".join(table.file.name for table in alike)
        rows = alike[0].rows
        with ui.column().classes("surface w-full gap-1 p-3"):
            heading = t("personas.columns_of", file=one_line(names), n=sum(len(table.rows) for table in alike))
            ui.label(heading).classes("text-sm font-semibold break-words").props("role=heading aria-level=3")
            ui.label(t("personas.columns_explained")).classes("text-xs muted")
            with ui.element("div").classes("persona-columns w-full").props("tabindex=0 role=region") as region:
                named(region, heading)
                with ui.element("table"):
                    with ui.element("thead"), ui.element("tr"):
                        for column in columns:
                            self._head(column, suggested[column])
                    with ui.element("tbody"):
                        for row in rows[:SHOWN]:
                            with ui.element("tr"):
                                for column in columns:
                                    with ui.element("td"):
                                        ui.label(_short(str(row.data[column])))

    def _head(self, column: str, suggested: str) -> None:
        with ui.element("th").props("scope=col"):
            ui.label(one_line(column)).classes("font-semibold break-words")
            field = ui.select(
                _choices(column),
                value=_key(self.chosen.get(column, suggested), column),
                on_change=lambda event, column=column: self._choose(column, event.value),
            )
            field.props("options-dense").classes("w-full")
            named(field, t("personas.column_becomes", column=one_line(column)))
            field.on_value_change(partial(_mark, field))
            _mark(field)

    def _choose(self, column: str, to: str) -> None:
        self.chosen[column] = column if to == _OWN else to


def _mark(field: ui.select, _: object = None) -> None:
    """Grey what is left out, so that what is taken stands out."""
    field.classes(**{"add" if field.value == LEFT_OUT else "remove": "persona-left-out"})


def _key(to: str, column: str) -> str:
    """The choice that stands for what a column becomes."""
    return to if to in _choices(column) else _OWN


def _choices(column: str) -> dict[str, str]:
    """What a column can become → the words for it."""
    fields = {to: t(f"personas.to_{to.replace(' ', '_')}") for to in (*OWN_FIELDS, *characteristics())}
    own = {} if folded(column) in fields else {_OWN: t("personas.to_own", column=_short(column))}
    return {LEFT_OUT: t("personas.to_nothing"), **fields, **own}


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


async def _tables(files: Sequence[FileUpload]) -> list[Table]:
    """The tables whose columns the user chooses; a file that cannot be read says so when it is converted."""
    found: list[Table] = []
    for file in files:
        try:
            async with kept_for_now([file]) as (path,):
                table = await asyncio.to_thread(table_in, path)
        except PerSimChatError:
            continue
        if table is not None and not table.known:
            found.append(table)
    return found


# The dialog


class ImportDialog(MakingDialog[Imported]):
    """The dialog: first the files and how to read them, then the result."""

    heading, width, does, again = "personas.import_heading", "wide", "personas.import_do", "personas.back"
    remedy = "personas.import_remedy"

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.files: list[FileUpload] = []
        self.mapping: FileUpload | None = None
        self.window.unsaved = lambda: self.made is not None or bool(self.files)

    async def draw_form(self) -> None:
        """Draw the files and the ways to read them."""
        known = await asyncio.to_thread(ready)
        ways = {
            _SHAPE: t("personas.by_shape"),
            **{name: f"{name}: {one.about}" if one.about else name for name, one in known.items()},
            _OWN: t("personas.by_own_mapping"),
            _MODEL: t("personas.by_model"),
        }
        ui.label(t("personas.import_explained", size=MOST_BYTES // 1_000_000)).classes("text-sm muted")
        upload_field(t("personas.import_field"), ENDINGS, self.arrived)
        self.listed_files = ui.column().classes("w-full gap-1").props("aria-live=polite")
        self.columns = ColumnChoice()
        with ui.row().classes("w-full no-wrap items-start gap-1"):
            self.way = ui.select(ways, label=t("personas.read_by"), value=_SHAPE).props("options-dense")
            self.way.classes("grow min-w-0")
            explained(t("personas.read_by_explained"))
        with ui.column().classes("w-full gap-1") as own:
            upload_field(t("personas.mapping_field"), MAPPINGS, self.mapping_arrived)
            self.mapping_name = ui.label().classes("text-sm muted")
        own.bind_visibility_from(self.way, "value", value=_OWN)
        self.way.on_value_change(lambda event: self.columns.set_visibility(event.value == _SHAPE))
        reader = self.draw_model().classes("w-full")
        reader.bind_visibility_from(self.way, "value", lambda way: way in (_SHAPE, _MODEL))

    async def arrived(self, files: list[FileUpload]) -> None:
        """Take files in; of tables, show the columns."""
        if self._fit([*self.files, *files], ENDINGS):
            await self._take([*self.files, *files])

    def _fit(self, files: list[FileUpload], endings: Sequence[str]) -> bool:
        """Whether files are taken; if not, say why."""
        self.window.complain()
        try:
            check(files, endings)
        except InputError as error:
            self.window.complain(str(error))
            return False
        return True

    def mapping_arrived(self, files: list[FileUpload]) -> None:
        """Take the user's mapping; of several, the last."""
        if self._fit(files, MAPPINGS):
            self.mapping = files[-1]
            self.mapping_name.set_text(safe_name(self.mapping.name))

    async def _take(self, files: list[FileUpload]) -> None:
        self.files = files
        with anew(self.listed_files):
            for file in files:
                with ui.row().classes("surface w-full items-center gap-2 no-wrap px-3 py-1"):
                    ui.icon("description", color="primary").props("aria-hidden=true")
                    ui.label(safe_name(file.name)).classes("text-sm grow min-w-0 truncate")
                    ui.label(f"{max(1, file.size() // 1000):,} kB").classes("text-xs muted whitespace-nowrap")
                    icon_button("close", t("personas.remove_file"), partial(self.remove, file))
        await self.columns.show(files)

    async def remove(self, file: FileUpload) -> None:
        """Remove a file."""
        await self._take([other for other in self.files if other is not file])

    async def asked(self) -> Coroutine[object, object, Imported]:
        """The files, if there are any."""
        if not self.files or (self.way.value == _OWN and self.mapping is None):
            raise InputError(t("personas.no_files" if not self.files else "personas.no_mapping"))
        return self._imported()

    async def _imported(self) -> Imported:
        way, by_shape = str(self.way.value), self.way.value == _SHAPE
        model = one_line(self.model.value or "")
        given: dict[str, Any] = {"model": model} if model and way in (_SHAPE, _MODEL) else {}
        settings = await asyncio.to_thread(lambda: load_settings(**given))
        refuse_model_files(settings.model_dump())
        mapping = [self.mapping] if way == _OWN and self.mapping is not None else []
        async with kept_for_now([*mapping, *self.files]) as paths:
            files = paths[len(mapping) :]
            ready, wrong, others = await asyncio.to_thread(_read_ready, files, json=by_shape)
            if wrong and not (ready or others):
                raise wrong[0][1]
            chosen = str(paths[0]) if mapping else None if way in (_SHAPE, _MODEL) else way
            columns = self.columns.said() if by_shape else None
            found = Conversion((), {})
            if others:
                found = await convert(others, settings, mapping=chosen, columns=columns, read=way == _MODEL)
            lines = [_without_folder(str(error), path) for path, error in wrong]
            return Imported(ready, found, [*lines, *refused_rows(found)])

    def draw_waiting(self) -> None:
        """Draw that the files are being read."""
        with ui.row().classes("items-center gap-3"):
            ui.spinner(size="28px").props("aria-hidden=true")
            ui.label(t("personas.reading")).classes("text-sm").props("role=status")

    def draw_made(self, made: Imported) -> None:
        """Draw how many there are, what could not be taken, and how the files were understood."""
        told = t("personas.imported", n=len(made.ready) + len(made.conversion.people))
        ui.label(told).classes("text-sm muted").props("role=status")
        if made.wrong:
            draw_wrong(made.wrong)
        if made.conversion.people:
            with ui.expansion(t("personas.understood"), icon="fact_check").classes("surface w-full"):
                draw_understood(made.conversion)

    def listed(self, made: Imported) -> Sequence[Pick]:
        """Those of persona files, then those of files that were converted."""
        ready = [Pick(persona, notes=notes) for persona, notes in made.ready]
        return [*ready, *(Pick(one.persona, notes=notes_on(one)) for one in made.conversion.people)]

    async def chosen(self, made: Imported, numbers: Sequence[int]) -> list[tuple[Persona, Sequence[str]]]:
        """Each with where it comes from."""
        ready, people = made.ready, made.conversion.people
        converted = [people[number - len(ready)] for number in numbers if number >= len(ready)]
        texts = await asyncio.to_thread(texts_of, converted)
        heads = ((one.persona, head_of(text)) for one, text in zip(converted, texts.values(), strict=True))
        return [*(ready[number] for number in numbers if number < len(ready)), *heads]
