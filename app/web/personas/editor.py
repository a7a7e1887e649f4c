"""The dialog that edits a persona: fields, rows of names and values, and the errors of the Persona model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from nicegui import ui
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ....state.errors import PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import one_line, visible_form
from ..shared.dialogs import Window
from ..shared.lists import Field, Rows
from ..widgets import SEGMENTS, explained, named, notify_error
from ..words import t
from .library import Library
from .persona_lists import level_words

USUAL: Final = ("age", "gender", "residence", "occupation", "education")
"""Characteristics suggested for a new persona."""
SUGGESTED: Final = (*USUAL, "family", "hobbies", "lifestyle", "financial status", "nationality", "pronouns", "religion")
_LISTS: Final = ("traits", "social_goals", "memories")
_OVERALL: Final = 3
"""The initial level of a slider: intermediate."""


class PersonaForm:
    """The fields of a persona.

    Args:
        persona: the persona to edit; None for a new one.
    """

    def __init__(self, persona: Persona | None) -> None:
        self.fields: dict[str, Field] = {}
        self._text("name", persona.name if persona else "", lines=False)
        self._text("called", ", ".join(persona.called) if persona else "", lines=False)
        self._text("description", persona.description if persona else "")
        with _group("characteristics"):
            self.characteristics = _rows("personas.characteristic", [*SUGGESTED], _text_value)
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
            "called": [form.strip() for form in texts["called"].split(",") if form.strip()],
            "human": bool(self.human.value),
        }
        return {
            "name": texts["name"],
            **{key: value for key, value in given.items() if value not in ("", [], {}, None)},
        }

    def persona(self) -> Persona | None:
        """The persona that the fields describe; None if some are wrong, which are then marked."""
        lost = [_mark_lost(rows) for rows in (self.characteristics, *([self.levels] if self._by_field else []))]
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
            field.props(f"{'autogrow' if lines else ''}").classes("grow min-w-0")
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
            self.levels = _rows("personas.knowledge_field", ["overall"], _level_value)
            self.levels.fill(knowledge if isinstance(knowledge, dict) else {})
            if not self.levels.rows:
                self.levels.add("", _OVERALL)
        overall.bind_visibility_from(self.how, "value", value="overall")
        fields.bind_visibility_from(self.how, "value", value="fields")

    def _mark(self, detail: ErrorDetails) -> None:
        """Mark the field of an error."""
        key, *rest = detail["loc"] or ("name",)
        words = _worded(detail)
        rows = (row for row in self.characteristics.rows if rest and not row.empty and row.named == str(rest[0]))
        if key == "characteristics" and (row := next(rows, None)) is not None:
            (row.name if "[key]" in rest and not isinstance(row.name, str) else row.value).error = words
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


def _rows(names: str, suggested: list[str], value: Callable[[Any], Field]) -> Rows:
    """Rows whose names are suggested while one is typed; `names` is their label, by its key."""

    def name_field(name: str) -> Field:
        field = ui.input(value=name, autocomplete=suggested, placeholder=t(names))
        named(field.classes("w-2/5 min-w-0"), t(names))
        return field

    def value_field(name: str, given: Any) -> Field:
        field = value(given).classes("grow min-w-0")
        named(field, t("personas.value_of", name=name) if name else t("personas.value"))
        return field

    rows = Rows(name_field, value_field)
    rows.button(t("personas.add_row"))
    return rows


def _mark_lost(rows: Rows) -> bool:
    """Mark rows whose value would be lost, as the name is missing or given twice; returns whether there are any."""
    seen: set[str] = set()
    wrong = False
    for row in rows.rows:
        name = visible_form(row.named)
        if not row.empty and not isinstance(row.name, str):
            if not name or name in seen:
                row.name.error = t("personas.wrong_twice" if row.named else "personas.wrong_empty")
                wrong = True
            seen.add(name)
    return wrong


def _text_value(value: Any) -> Field:
    return ui.textarea(value=value or "", placeholder=t("personas.value")).props("autogrow")


def _level_value(value: Any) -> Field:
    levels = {level: level_words(level) for level in range(6)}
    return ui.select(levels, value=_OVERALL if value is None else value).props("options-dense")


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
    heading = t("personas.edit_heading" if persona else "personas.new_heading")
    window = Window(heading, unsaved=lambda: form.data() != before)
    with window.body:
        form = PersonaForm(persona)
    before = form.data()

    def save() -> Awaitable[None] | None:
        found = form.persona()
        if found is None:
            ui.notify(t("personas.wrong_somewhere"), type="warning", position="top")
        return None if found is None else keep(found)

    async def keep(found: Persona) -> None:
        try:
            if keep_in is not None and kept.value and found != persona:
                await asyncio.to_thread(keep_in.keep, found)
        except PerSimChatError as error:
            notify_error(error)
        else:
            window.submit(found)

    with window.buttons:
        kept = ui.checkbox(t("personas.keep_in_mine"), value=persona is None or not persona.human).mark("keep")
        kept.props("dense").classes("text-sm mr-auto").set_visibility(keep_in is not None)
    window.offer(t("personas.save"), save, "check").mark("save-persona")
    result = await window.closed()
    return result if isinstance(result, Persona) else None
