"""The step in which a user says what each column of a table becomes, with its first rows below."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from nicegui import ui
from nicegui.elements.upload_files import FileUpload

from persimchat.app.web.personas.uploads import kept_for_now
from persimchat.app.web.widgets import FIELD, named
from persimchat.app.web.words import t
from persimchat.personas.conversion.columns import LEFT_OUT, OWN_FIELDS, Table, characteristics, guessed, table_in
from persimchat.state.errors import PerSimChatError
from persimchat.state.normalise import folded
from persimchat.state.plain_text import one_line

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
        self._box.clear()
        with self._box:
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
            field.props(f"{FIELD} options-dense").classes("w-full")
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
