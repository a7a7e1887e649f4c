"""Personas in a line, as a card and in full; lists of them with boxes; and the dialog that chooses some."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from ....state.errors import PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import capitalised, clean, folded, one_line, visible_form
from ..shared.dialogs import Window
from ..shared.lists import pairs
from ..widgets import avatar, chip, errors_shown, icon_button, named, own_colour, text_button, title
from ..words import t
from .library import Library

_FACTS: Final = ("age", "occupation", "residence")
_LONGEST: Final = 60
"""The most characters of a fact in the line."""


def facts(persona: Persona) -> str:
    """Age, occupation and residence in a line; a note if none is known."""
    known = [_short(one_line(value)) for name in _FACTS if (value := persona.characteristic(name))]
    return " · ".join(known) or t("personas.person" if persona.human else "personas.no_facts")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def matches(persona: Persona, query: str) -> bool:
    """Whether a persona contains every word of the query, regardless of case and diacritics."""
    known = (persona.name, persona.description, *persona.characteristics.values(), *persona.traits)
    text = folded(" ".join(known))
    return all(word in text for word in folded(query).split())


def level_words(level: int) -> str:
    """A knowledge level with its number and meaning."""
    return f"{level} – {t(f'personas.level_{level}')}"


def head(persona: Persona, size: str = "44px") -> None:
    """Avatar, name and the facts in a line."""
    with ui.row().classes("items-center gap-3 no-wrap min-w-0 w-full"):
        avatar(persona.name, own_colour(persona.name), size, human=persona.human)
        with ui.column().classes("gap-0 min-w-0 grow"):
            ui.label(one_line(persona.name)).classes("font-semibold leading-snug break-words w-full text-left")
            ui.label(facts(persona)).classes("text-xs muted break-words w-full text-left")


async def read_persona(persona: Persona) -> None:
    """Show all facts about a persona in a dialog."""
    window = Window(one_line(persona.name), width="middle")
    with window.body:
        sheet(persona)
    window.body.props("tabindex=0")  # the keyboard scrolls it
    with window.buttons:
        text_button(t("common.close"), lambda: window.submit(None), look="unelevated")
    await window.closed()


def sheet(persona: Persona) -> None:
    """Draw all facts about a persona."""
    with ui.row().classes("items-center gap-3 no-wrap w-full"):
        avatar(persona.name, own_colour(persona.name), "56px", human=persona.human)
        ui.label(facts(persona)).classes("muted min-w-0 break-words")
    ui.label(clean(persona.description)).classes("w-full whitespace-pre-line break-words")
    if persona.characteristics:
        title(t("personas.characteristics"))
        pairs({one_line(name): clean(value) for name, value in persona.characteristics.items()})
    if persona.traits:
        title(t("personas.traits"))
        with ui.row().classes("gap-1"):
            for trait in persona.traits:
                shown = chip(one_line(trait), own_colour(persona.name))
                shown.classes(remove="whitespace-nowrap text-xs", add="text-sm break-words")
    if persona.knowledge is not None:
        title(t("personas.knowledge"))
        levels = {"overall": persona.knowledge} if isinstance(persona.knowledge, int) else persona.knowledge
        names = {name: t("personas.overall") if name == "overall" else one_line(name) for name in levels}
        pairs({names[name]: level_words(level) for name, level in levels.items()})
    for name, lines in (
        ("called", persona.called),
        ("speaking_style", [persona.speaking_style] if persona.speaking_style else []),
        ("social_goals", persona.social_goals),
        ("memories", [memory.text for memory in persona.memories]),
    ):
        if lines:
            title(t(f"personas.{name}"))
            for line in lines:
                ui.label(clean(line)).classes("w-full whitespace-pre-line break-words")
    if persona.human:
        ui.label(t("personas.human_explained")).classes("text-sm muted")


Act = Callable[[], object]


@dataclass(frozen=True)
class CardActions:
    """Actions of a persona's card; only personas of the library have `edit` and `delete`."""

    tick: Callable[[bool], object]
    copy: Act
    download: Act
    edit: Act | None = None
    delete: Act | None = None


def persona_card(persona: Persona, actions: CardActions, *, ticked: bool) -> ui.checkbox:
    """Draw the card; returns the box that selects the persona."""
    name = one_line(persona.name)
    with ui.column().classes("surface gap-2 p-4 min-w-0 persona-card") as card:
        named(card.props("role=group"), name)
        with ui.row().classes("w-full items-start gap-1 no-wrap"):
            head(persona)
            box = ui.checkbox(value=ticked, on_change=lambda event: actions.tick(event.value)).props("dense")
            named(box, t("personas.choose_one", name=name))
        ui.label(clean(persona.description)).classes("text-sm persona-text grow")
        with ui.row().classes("w-full items-center gap-0 no-wrap"):
            read = text_button(t("personas.read"), partial(read_persona, persona), look="flat dense")
            named(read.classes("px-2 -ml-2"), t("personas.read_one", name=name))
            ui.space()
            if actions.edit is not None:
                icon_button("edit", t("personas.edit_one", name=name), actions.edit)
            icon_button("content_copy", t("personas.copy_one", name=name), actions.copy)
            icon_button("download", t("personas.download_one", name=name), actions.download)
            if actions.delete is not None:
                icon_button("delete_outline", t("personas.delete_one", name=name), actions.delete)
    return box


def damaged_card(path: Path, error: PerSimChatError, delete: Act) -> None:
    """Draw a file that holds no persona, with its error."""
    with ui.row().classes("surface w-full items-start gap-3 no-wrap px-4 py-3"):
        ui.icon("error_outline", size="24px", color="negative").props("aria-hidden=true")
        with ui.column().classes("gap-1 grow min-w-0"):
            ui.label(one_line(path.name)).classes("font-semibold break-words")
            ui.label(capitalised(one_line(str(error).replace(f"{path.parent}/", "")))).classes("text-sm break-words")
        icon_button("delete_outline", t("personas.delete_one", name=one_line(path.name)), delete)


# A list of personas with boxes, and saving the ticked ones


@dataclass(frozen=True)
class Pick:
    """A persona in the list.

    Attributes:
        persona: the persona.
        blocked: why it cannot be selected; empty if it can.
        notes: remarks, a line each, behind a small arrow.
    """

    persona: Persona
    blocked: str = ""
    notes: Sequence[str] = field(default=())


class Picks:
    """The list. Of two personas with the same name only one can be ticked, as they could not take part together.

    Args:
        changed: called when a box was ticked or unticked.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self.changed = changed
        self.picks: list[Pick] = []
        self._boxes: list[ui.checkbox] = []
        self._lines: list[ui.element] = []

    def add(self, pick: Pick, *, ticked: bool = False) -> None:
        """Draw a persona in the current element."""
        number = len(self.picks)
        self.picks.append(pick)
        with ui.column().classes("surface w-full gap-1 px-3 py-2") as line:
            with ui.row().classes("w-full items-center gap-2 no-wrap"):
                box = ui.checkbox(value=ticked and not pick.blocked, on_change=partial(self._ticked, number))
                named(box, t("personas.choose_one", name=one_line(pick.persona.name)))
                box.set_enabled(not pick.blocked)
                with ui.row().classes("grow min-w-0 items-center gap-x-2 gap-y-1").mark(f"pick-{number}") as face:
                    with ui.element("div").classes("grow basis-[180px] min-w-0"):
                        head(pick.persona, "36px")
                    if pick.blocked:  # under the name on a phone
                        chip(pick.blocked)
                if not pick.blocked:
                    face.classes("cursor-pointer").on("click", lambda: box.set_value(not box.value))
                name = t("personas.read_one", name=one_line(pick.persona.name))
                icon_button("article", name, partial(read_persona, pick.persona))
            if pick.notes:
                more = ui.expansion(t("personas.where_from")).props("dense header-class=text-xs").classes("w-full")
                with more, ui.column().classes("w-full gap-1"):
                    for note in pick.notes:
                        ui.label(note).classes("text-xs muted break-words")
        self._boxes.append(box)
        self._lines.append(line)

    def chosen(self) -> list[int]:
        """The numbers of the ticked personas, from 0, in the order of the list."""
        return [number for number, box in enumerate(self._boxes) if box.value]

    def filter(self, query: str) -> int:
        """Show only personas that match; ticks stay. Returns how many are shown."""
        found = [matches(pick.persona, query) for pick in self.picks]
        for line, visible in zip(self._lines, found, strict=True):
            line.set_visibility(visible)
        return sum(found)

    def _ticked(self, number: int) -> None:
        if self._boxes[number].value:
            name = visible_form(self.picks[number].persona.name)
            for other, box in enumerate(self._boxes):
                if other != number and box.value and visible_form(self.picks[other].persona.name) == name:
                    box.set_value(False)
        self.changed()


async def keep_chosen(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> bool:
    """Keep personas with the comments of their files' heads, all or none; returns whether they were kept."""
    if not chosen:
        ui.notify(t("personas.nobody_chosen"), type="warning", position="top")
        return False
    with errors_shown():
        await asyncio.to_thread(_add_all, library, chosen)
        return True
    return False


def _add_all(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> None:
    added = []
    try:
        for persona, notes in chosen:
            added.append(library.add(persona, notes))
    except PerSimChatError:
        for path in added:
            library.delete(path)
        raise
