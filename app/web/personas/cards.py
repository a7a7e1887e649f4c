"""A persona as a card of the library's page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nicegui import ui

from persimchat.app.web.personas.shown import head, read_persona
from persimchat.app.web.widgets import icon_button, named
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.persona import Persona
from persimchat.state.plain_text import clean, one_line

Act = Callable[[], object]


@dataclass(frozen=True)
class Acts:
    """What can be done with a persona from its card; `edit` and `delete` only with one's own."""

    tick: Callable[[bool], object]
    copy: Act
    download: Act
    edit: Act | None = None
    delete: Act | None = None


def persona_card(persona: Persona, acts: Acts, *, ticked: bool) -> ui.checkbox:
    """Draw the card; its box, by which the persona is chosen."""
    name = one_line(persona.name)
    with ui.column().classes("surface gap-2 p-4 min-w-0 persona-card") as card:
        named(card.props("role=group"), name)
        with ui.row().classes("w-full items-start gap-1 no-wrap"):
            head(persona)
            box = ui.checkbox(value=ticked, on_change=lambda event: acts.tick(event.value)).props("dense")
            named(box, t("personas.choose_one", name=name))
        ui.label(clean(persona.description)).classes("text-sm persona-text grow")
        with ui.row().classes("w-full items-center gap-0 no-wrap"):
            read = ui.button(t("personas.read"), on_click=partial(read_persona, persona)).props("flat dense no-caps")
            named(read.classes("px-2 -ml-2"), t("personas.read_one", name=name))
            ui.space()
            if acts.edit is not None:
                icon_button("edit", t("personas.edit_one", name=name), acts.edit)
            icon_button("content_copy", t("personas.copy_one", name=name), acts.copy)
            icon_button("download", t("personas.download_one", name=name), acts.download)
            if acts.delete is not None:
                icon_button("delete_outline", t("personas.delete_one", name=name), acts.delete)
    return box


def damaged_card(path: Path, error: PerSimChatError, delete: Act) -> None:
    """A file that is no persona's, and what is wrong with it."""
    with ui.row().classes("surface w-full items-start gap-3 no-wrap px-4 py-3"):
        ui.icon("error_outline", size="24px", color="negative").props("aria-hidden=true")
        with ui.column().classes("gap-1 grow min-w-0"):
            ui.label(one_line(path.name)).classes("font-semibold break-words")
            ui.label(one_line(str(error).replace(f"{path.parent}/", ""))).classes("text-sm break-words")
        icon_button("delete_outline", t("personas.delete_one", name=one_line(path.name)), delete)
