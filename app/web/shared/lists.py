"""Lists of the page: rows of a name and a value that come and go, and lists that are drawn page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.validation_element import ValidationElement

from ..widgets import icon_button, text_button
from ..words import t

Field = ValidationElement[Any]


@dataclass(eq=False)
class Row:
    """One row.

    Attributes:
        line: the element of the row.
        name: the field of its name; its name itself if that cannot be changed.
        value: the field of its value.
        offered: the suggested name of an empty row; empty if the row was not suggested.
    """

    line: ui.element
    name: Field | str
    value: Field
    offered: str = ""

    @property
    def named(self) -> str:
        """Its name; empty if there is none yet."""
        return self.name if isinstance(self.name, str) else str(self.name.value or "").strip()

    @property
    def empty(self) -> bool:
        """Whether the row is not filled in."""
        return self.value.value in (None, "") and self.named in ("", self.offered)


class Rows:
    """Rows of a name and a value.

    Args:
        name: makes the field of a name; None where the names are fixed, so that no row comes or goes.
        value: makes the field of a row's value, by its name.
        changed: called when a row is gone.
        look: classes of a row.
    """

    def __init__(
        self,
        name: Callable[[str], Field] | None,
        value: Callable[[str, Any], Field],
        changed: Callable[[], object] = lambda: None,
        look: str = "w-full gap-2 items-start no-wrap",
    ) -> None:
        self._name, self._value, self._changed, self._look = name, value, changed, look
        self.rows: list[Row] = []
        self.box = ui.column().classes("w-full gap-2")

    def button(self, text: str, add: Callable[[], object] | None = None) -> ui.button:
        """A button that adds a row, and moves the focus there."""

        def empty() -> None:
            row = self.add()
            if not isinstance(row.name, str):
                row.name.run_method("focus")

        return text_button(text, add or empty, icon="add", look="flat dense size=sm")

    def fill(self, values: Mapping[str, Any]) -> None:
        """Draw a row for each of these, and no other."""
        self.box.clear()
        self.rows = []
        for name, value in values.items():
            self.add(str(name), value)

    def add(self, name: str = "", value: Any = None, *, offered: bool = False) -> Row:
        """Add a row; `offered` for a suggestion, which is ignored until it has a value."""
        with self.box, ui.row().classes(self._look) as line:
            row = Row(line, self._name(name) if self._name else name, self._value(name, value), name if offered else "")
            if self._name is not None:
                icon_button("close", t("common.row_remove"), lambda: self.remove(row)).props("size=sm")
        self.rows.append(row)
        return row

    def remove(self, row: Row) -> None:
        """Remove a row."""
        self.rows.remove(row)
        row.line.delete()
        self._changed()

    def values(self) -> dict[str, Any]:
        """Name → value of the filled rows; the last one counts if two have the same name."""
        return {row.named: row.value.value for row in self.rows if not row.empty}


def pairs(of: Mapping[str, str], look: str = "") -> None:
    """Draw names with a text each; `look` has classes of the texts."""
    with ui.element("dl").classes("pairs w-full text-sm"):
        for name, text in of.items():
            with ui.element("dt").classes("muted"):
                ui.label(name).classes("break-words")
            with ui.element("dd"):
                ui.label(text).classes(f"{look} [overflow-wrap:anywhere] whitespace-pre-line")


def page_by_page(
    total: int, draw: Callable[[int], object], at_once: int, more: str, first: int = 0
) -> Callable[[], int]:
    """Draw the first items of many, and more of them on demand; returns what tells how many are drawn.

    Args:
        total: how many there are.
        draw: draws the item of a number.
        at_once: how many are drawn at a time.
        more: the text of the button, by its key in the catalogue; `n` is how many come.
        first: how many are drawn at first, if these are more.
    """
    drawn = 0
    inside = ui.column().classes("w-full gap-3")
    button = text_button("", lambda: show(), look="outline").classes("self-center")

    def show(number: int = at_once) -> None:
        nonlocal drawn
        begin, drawn = drawn, min(drawn + number, total)
        with inside:
            for at in range(begin, drawn):
                draw(at)
        button.set_text(t(more, n=min(at_once, total - drawn)))
        button.set_visibility(drawn < total)

    show(max(first, at_once))
    return lambda: drawn


def draw_unread(heading: str, problems: Sequence[str], why: str = "") -> None:
    """Draw folders that cannot be read.

    Args:
        heading: how many they are.
        problems: a line for each; nothing is drawn without any.
        why: what is wrong with all of them.
    """
    if not problems:
        return
    with ui.expansion(heading, icon="folder_off").classes("surface w-full"):
        if why:
            ui.label(why).classes("text-sm muted")
        for problem in problems:
            ui.label(problem).classes("text-sm [overflow-wrap:anywhere] pb-1")
