"""Shows a persona: in a line, as a card of the library, and in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from nicegui import ui

from persimchat.app.web.looks import own_colour
from persimchat.app.web.personas.window import Window
from persimchat.app.web.widgets import avatar, chip, icon_button, named, title
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.normalise import folded
from persimchat.state.persona import Persona
from persimchat.state.plain_text import capitalised, clean, one_line

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
        ui.button(t("common.close"), on_click=lambda: window.submit(None)).props("unelevated no-caps")
    await window.closed()


def sheet(persona: Persona) -> None:
    """Draw all facts about a persona."""
    with ui.row().classes("items-center gap-3 no-wrap w-full"):
        avatar(persona.name, own_colour(persona.name), "56px", human=persona.human)
        ui.label(facts(persona)).classes("muted min-w-0 break-words")
    ui.label(clean(persona.description)).classes("w-full whitespace-pre-line break-words")
    if persona.characteristics:
        title(t("personas.characteristics"))
        with ui.element("dl").classes("persona-facts w-full") as pairs:
            named(pairs, t("personas.characteristics"))
            for name, value in persona.characteristics.items():
                _pair(name, value)
    if persona.traits:
        title(t("personas.traits"))
        with ui.row().classes("gap-1"):
            for trait in persona.traits:
                chip(one_line(trait), own_colour(persona.name)).classes(
                    remove="whitespace-nowrap text-xs", add="text-sm break-words"
                )
    if persona.knowledge is not None:
        title(t("personas.knowledge"))
        with ui.element("dl").classes("persona-facts w-full"):
            levels = persona.knowledge if isinstance(persona.knowledge, dict) else {"overall": persona.knowledge}
            for name, level in levels.items():
                _pair(t("personas.overall") if name == "overall" else name, level_words(level))
    for name, lines in (
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


def _pair(name: str, value: str) -> None:
    with ui.element("dt"):
        ui.label(one_line(name)).classes("muted text-sm break-words")
    with ui.element("dd"):
        ui.label(clean(value)).classes("text-sm break-words whitespace-pre-line")


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
            read = ui.button(t("personas.read"), on_click=partial(read_persona, persona)).props("flat dense no-caps")
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
