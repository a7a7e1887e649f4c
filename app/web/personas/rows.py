"""Rows of a name and a value that can be added and removed: characteristics, and knowledge by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.validation_element import ValidationElement

from persimchat.app.web.widgets import FIELD, icon_button, named
from persimchat.app.web.words import t


@dataclass(eq=False)
class Row:
    """One row.

    Attributes:
        name: the field of its name.
        value: the field of its value.
        line: what shows it.
        offered: the name that it was offered with, as an empty row to fill in; empty where it was not.
    """

    name: ui.input
    value: ValidationElement[Any]
    line: ui.row
    offered: str = ""

    @property
    def empty(self) -> bool:
        """Whether nobody has filled it in."""
        name = (self.name.value or "").strip()
        return self.value.value in (None, "") and name in ("", self.offered)


class Rows:
    """Rows of a name and a value.

    Args:
        names: what the names are, for screen readers.
        suggested: names that are suggested while one is typed.
        value_field: makes the field of a value.
    """

    def __init__(self, names: str, suggested: list[str], value_field: Callable[[Any], ValidationElement[Any]]) -> None:
        self.names = names
        self.suggested = suggested
        self.value_field = value_field
        self.rows: list[Row] = []
        self.box = ui.column().classes("w-full gap-2")
        ui.button(t("personas.add_row"), icon="add", on_click=self.add_empty).props("flat dense no-caps size=sm")

    def fill(self, values: Mapping[str, Any]) -> None:
        """Add a row for each pair."""
        for name, value in values.items():
            self.add(name, value)

    def add_empty(self) -> None:
        """Add a row to fill in, and go there."""
        row = self.add("", None)
        row.name.run_method("focus")

    def add(self, name: str, value: Any, *, offered: bool = False) -> Row:
        """Add a row.

        Args:
            name: its name.
            value: its value.
            offered: whether it is there to be filled in, and counts as nothing until then.
        """
        with self.box, ui.row().classes("w-full gap-2 items-start no-wrap") as line:
            field = ui.input(value=name, autocomplete=self.suggested, placeholder=self.names).props(FIELD)
            field.classes("w-2/5 min-w-0")
            named(field, self.names)
            value_field = self.value_field(value)
            value_field.classes("grow min-w-0")
            named(value_field, t("personas.value_of", name=name) if name else t("personas.value"))
            row = Row(field, value_field, line, name if offered else "")
            icon_button("remove_circle_outline", t("personas.remove_row"), lambda: self.remove(row))
        self.rows.append(row)
        return row

    def remove(self, row: Row) -> None:
        """Take a row away."""
        self.rows.remove(row)
        row.line.delete()

    def values(self) -> dict[str, Any]:
        """Name → value of the rows that somebody has filled in; of two with the same name the last."""
        return {(row.name.value or "").strip(): row.value.value for row in self.rows if not row.empty}

    def mark_lost(self) -> bool:
        """Mark rows whose names are missing or given twice, so that a value would be lost; whether there are any."""
        seen: set[str] = set()
        wrong = False
        for row in (row for row in self.rows if not row.empty):
            name = (row.name.value or "").strip()
            if not name or name.casefold() in seen:
                row.name.error = t("personas.wrong_twice" if name else "personas.wrong_empty")
                wrong = True
            seen.add(name.casefold())
        return wrong

    def row_of(self, name: str) -> Row | None:
        """The row of a name."""
        return next((row for row in self.rows if not row.empty and (row.name.value or "").strip() == name), None)
