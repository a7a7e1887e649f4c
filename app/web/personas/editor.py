"""The dialog that edits a persona: fields, rows of names and values, and the errors of the Persona model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from nicegui import ui
from nicegui.elements.mixins.validation_element import ValidationElement
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from persimchat.app.web.personas.cards import level_words
from persimchat.app.web.personas.library import Library
from persimchat.app.web.personas.window import Window
from persimchat.app.web.widgets import FIELD, SEGMENTS, explained, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.normalise import visible_form
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line

USUAL: Final = ("age", "gender", "residence", "occupation", "education")
"""Characteristics suggested for a new persona."""
SUGGESTED: Final = (*USUAL, "family", "hobbies", "lifestyle", "financial status", "nationality", "pronouns", "religion")
_LISTS: Final = ("traits", "social_goals", "memories")
_OVERALL: Final = 3
"""The initial level of a slider: intermediate."""


@dataclass(eq=False)
class Row:
    """One row.

    Attributes:
        name: the field of its name.
        value: the field of its value.
        line: the element of the row.
        offered: the suggested name of an empty row; empty if the row was not suggested.
    """

    name: ui.input
    value: ValidationElement[Any]
    line: ui.row
    offered: str = ""

    @property
    def empty(self) -> bool:
        """Whether the row is not filled in."""
        name = (self.name.value or "").strip()
        return self.value.value in (None, "") and name in ("", self.offered)


class Rows:
    """Rows of a name and a value.

    Args:
        names: the label of the names, for screen readers.
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
        """Add an empty row, and move the focus there."""
        row = self.add("", None)
        row.name.run_method("focus")

    def add(self, name: str, value: Any, *, offered: bool = False) -> Row:
        """Add a row.

        Args:
            name: its name.
            value: its value.
            offered: whether the row is a suggestion, which is ignored until it has a value.
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
        """Remove a row."""
        self.rows.remove(row)
        row.line.delete()

    def values(self) -> dict[str, Any]:
        """Name → value of the filled rows; the last one counts if two have the same name."""
        return {(row.name.value or "").strip(): row.value.value for row in self.rows if not row.empty}

    def mark_lost(self) -> bool:
        """Mark rows whose value would be lost, as the name is missing or given twice; returns whether there are any."""
        seen: set[str] = set()
        wrong = False
        for row in (row for row in self.rows if not row.empty):
            name = (row.name.value or "").strip()
            if not visible_form(name) or visible_form(name) in seen:
                row.name.error = t("personas.wrong_twice" if name else "personas.wrong_empty")
                wrong = True
            seen.add(visible_form(name))
        return wrong

    def row_of(self, name: str) -> Row | None:
        """The row of a name."""
        return next((row for row in self.rows if not row.empty and (row.name.value or "").strip() == name), None)


class PersonaForm:
    """The fields of a persona.

    Args:
        persona: the persona to edit; None for a new one.
    """

    def __init__(self, persona: Persona | None) -> None:
        self.fields: dict[str, ValidationElement[Any]] = {}
        self._text("name", persona.name if persona else "", lines=False)
        self._text("description", persona.description if persona else "")
        with _group("characteristics"):
            self.characteristics = Rows(t("personas.characteristic"), list(SUGGESTED), _text_value)
            self.characteristics.fill(persona.characteristics if persona else {})
            for name in USUAL if persona is None else ():
                self.characteristics.add(name, None, offered=True)
        self._text("traits", "\n".join(persona.traits) if persona else "")
        with _group("knowledge"):
            self._knowledge(persona.knowledge if persona else None)
        self._text("speaking_style", (persona.speaking_style or "") if persona else "")
        self._text("social_goals", "\n".join(persona.social_goals) if persona else "")
        self._memories = {one_line(memory.text): memory.model_dump() for memory in persona.memories} if persona else {}
        self._text("memories", "\n".join(one_line(memory.text) for memory in persona.memories) if persona else "")
        with ui.row().classes("w-full items-center gap-1"):
            self.human = ui.switch(t("personas.human"), value=persona.human if persona else False)
            explained(t("personas.human_explained"))

    def data(self) -> dict[str, Any]:
        """The values of the fields, as `Persona` takes them; empty fields except the name are left out."""
        texts = {key: str(field.value or "").strip() for key, field in self.fields.items()}
        given: dict[str, Any] = {
            "description": texts["description"],
            "characteristics": {name: value or "" for name, value in self.characteristics.values().items()},
            "traits": _lines(texts["traits"]),
            "knowledge": self._levels(),
            "speaking_style": texts["speaking_style"],
            "social_goals": _lines(texts["social_goals"]),
            # a line that was not changed keeps importance and keywords, which have no field
            "memories": [self._memories.get(line, line) for line in _lines(texts["memories"])],
            "human": bool(self.human.value),
        }
        return {
            "name": texts["name"],
            **{key: value for key, value in given.items() if value not in ("", [], {}, None)},
        }

    def persona(self) -> Persona | None:
        """The persona that the fields describe; None if some are wrong, which are then marked."""
        lost = [rows.mark_lost() for rows in (self.characteristics, *([self.levels] if self._by_field else []))]
        try:
            persona = Persona.model_validate(self.data())
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._mark(detail)
            return None
        return None if any(lost) else persona

    @property
    def _by_field(self) -> bool:
        return bool(self.how.value == "fields")

    def _levels(self) -> int | dict[str, int] | None:
        if self.how.value == "overall":
            return int(self.level.value)
        return self.levels.values() if self._by_field else None

    def _text(self, key: str, value: str, *, lines: bool = True) -> None:
        with ui.row().classes("w-full no-wrap items-start gap-1"):
            make = ui.textarea if lines else ui.input
            label = t(f"personas.{key}_field" if key in _LISTS else f"personas.{key}")
            field = make(label, value=value, placeholder=t(f"personas.{key}_example"))
            field.props(f"{FIELD} {'autogrow' if lines else ''}").classes("grow min-w-0")
            explained(t(f"personas.{key}_explained"))
        self.fields[key] = field

    def _knowledge(self, knowledge: int | dict[str, int] | None) -> None:
        ways = {way: t(f"personas.knowledge_{way}") for way in ("derived", "overall", "fields")}
        way = "derived" if knowledge is None else "fields" if isinstance(knowledge, dict) else "overall"
        self.how = ui.toggle(ways, value=way).props(SEGMENTS).classes("seg surface")
        named(self.how, t("personas.knowledge"))
        with ui.row().classes("w-full items-center gap-3 no-wrap pl-2") as overall:
            self.level = ui.slider(min=0, max=5, step=1, value=knowledge if isinstance(knowledge, int) else _OVERALL)
            named(self.level.props("snap markers").classes("grow"), t("personas.knowledge"))
            words = ui.label().classes("text-sm w-48").props("aria-live=polite")
            words.bind_text_from(self.level, "value", lambda level: level_words(int(level)))
        with ui.column().classes("w-full gap-2") as fields:
            self.levels = Rows(t("personas.knowledge_field"), ["overall"], _level_value)
            self.levels.fill(knowledge if isinstance(knowledge, dict) else {})
            if not self.levels.rows:
                self.levels.add("", _OVERALL)
        overall.bind_visibility_from(self.how, "value", value="overall")
        fields.bind_visibility_from(self.how, "value", value="fields")

    def _mark(self, detail: ErrorDetails) -> None:
        """Mark the field of an error."""
        key, *rest = detail["loc"] or ("name",)
        words = _worded(detail)
        if key == "characteristics" and rest and (row := self.characteristics.row_of(str(rest[0]))):
            (row.name if "[key]" in rest else row.value).error = words
        elif key in self.fields:
            number = next((part for part in rest if isinstance(part, int)), None)
            line = "" if number is None else t("personas.wrong_line", n=number + 1) + " "
            self.fields[str(key)].error = line + words
        else:
            ui.notify(f"{key}: {words}", type="negative")


@contextmanager
def _group(key: str) -> Iterator[None]:
    """A part of the form with a heading and an explanation."""
    with ui.column().classes("w-full gap-2") as box:
        named(box.props("role=group"), t(f"personas.{key}"))
        with ui.row().classes("items-center gap-1"):
            ui.label(t(f"personas.{key}")).classes("text-sm font-semibold")
            explained(t(f"personas.{key}_explained"))
        yield


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _text_value(value: Any) -> ValidationElement[Any]:
    return ui.textarea(value=value or "", placeholder=t("personas.value")).props(f"{FIELD} autogrow")


def _level_value(value: Any) -> ValidationElement[Any]:
    levels = {level: level_words(level) for level in range(6)}
    return ui.select(levels, value=_OVERALL if value is None else value).props(f"{FIELD} options-dense")


def _worded(detail: ErrorDetails) -> str:
    """The error in the page's language; in English if the catalogue lacks it."""
    if detail["type"] in ("missing", "string_too_short"):
        return t("personas.wrong_empty")
    if detail["type"] == "string_too_long":
        return t("personas.wrong_long", most=f"{detail['ctx']['max_length']:,}")
    if detail["type"] == "value_error":
        return t("personas.wrong_unseen")
    return detail["msg"]


async def edit_persona(persona: Persona | None, *, keep_in: Library | None = None) -> Persona | None:
    """Let the user write a persona or change one.

    Args:
        persona: the one to change; None for a new one.
        keep_in: the library in which the user may keep it, too, and by default does; None if the caller saves it.

    Returns:
        The new or changed persona; None if the user has cancelled.
    """
    window = Window(t("personas.edit_heading" if persona else "personas.new_heading"), width="middle")
    with window.body:
        form = PersonaForm(persona)
    before = form.data()
    window.unsaved = lambda: form.data() != before

    def save() -> Awaitable[None] | None:
        found = form.persona()
        if found is None:
            ui.notify(t("personas.wrong_somewhere"), type="warning", position="top")
            return None
        if keep_in is not None and kept is not None and kept.value and found != persona:
            return keep(keep_in, found)
        window.submit(found)
        return None

    async def keep(library: Library, found: Persona) -> None:
        try:
            await asyncio.to_thread(library.keep, found)
        except PerSimChatError as error:
            notify_error(error)
        else:
            window.submit(found)

    kept = None
    with window.buttons:
        if keep_in is not None:
            kept = ui.checkbox(t("personas.keep_in_mine"), value=persona is None or not persona.human)
            kept.mark("keep").props("dense").classes("text-sm mr-auto")
        ui.button(t("common.cancel"), on_click=window.leave).props("flat no-caps")
        ui.button(t("personas.save"), icon="check", on_click=save).props("unelevated no-caps").mark("save-persona")
    result = await window.closed()
    return result if isinstance(result, Persona) else None
