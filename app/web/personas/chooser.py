"""The dialog in which personas are chosen: those that are shipped, and one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from nicegui import ui

from persimchat.app.web.personas.library import Library
from persimchat.app.web.personas.picks import Pick, Picks
from persimchat.app.web.personas.window import Window
from persimchat.app.web.place import Place
from persimchat.app.web.widgets import FIELD, title, told
from persimchat.app.web.words import t
from persimchat.personas.catalogue import shipped
from persimchat.state.errors import PerSimChatError
from persimchat.state.folding import folded
from persimchat.state.persona import Persona


async def choose_personas(place: Place, taken: Collection[str]) -> list[Persona]:
    """Let the user choose personas.

    Args:
        place: what the pages work with.
        taken: names of those who take part already.

    Returns:
        Those chosen; none where the user has cancelled.
    """
    try:
        own = await asyncio.to_thread(lambda: list(Library(place.library).personas().values()))
    except PerSimChatError as error:
        told(error)
        own = []
    there = {folded(name) for name in taken}
    picks = Picks(lambda: count())
    window = Window(t("personas.choose_heading"))

    def count() -> None:
        number = len(picks.chosen())
        take.set_text(t("personas.take", n=number) if number else t("personas.take_nobody"))
        take.set_enabled(number > 0)

    def search() -> None:
        nobody.set_visibility(picks.filter(field.value or "") == 0)

    def group(heading: str, personas: Iterable[Persona]) -> None:
        title(heading)
        for persona in personas:
            picks.add(Pick(persona, t("personas.taken") if folded(persona.name) in there else ""))

    with window.body:
        field = ui.input(t("personas.search"), on_change=search).props(f"{FIELD} clearable autofocus type=search")
        field.classes("w-full sticky top-0 z-10")
        if own:
            group(t("personas.own"), own)
        group(t("personas.shipped"), await asyncio.to_thread(shipped))
        nobody = ui.label(t("personas.nobody_found")).classes("muted py-4")
        nobody.set_visibility(False)
    with window.buttons:
        ui.button(t("common.cancel"), on_click=window.leave).props("flat no-caps")
        take = ui.button(on_click=lambda: window.submit(picks.chosen())).props("unelevated no-caps")
    count()
    chosen = await window.closed()
    return [picks.picks[number].persona for number in chosen or []]
