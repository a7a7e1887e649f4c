"""Chooses personas: the dialog with one's own, the shipped ones and those of files, and passing on the chosen ones."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nicegui import app, ui
from pydantic import ValidationError

from ....personas.catalogue import shipped
from ....state.persona import Persona
from ....state.plain_text import visible_form
from ..context import WebContext
from ..shared.dialogs import Window
from ..widgets import errors_shown, text_button, title
from ..words import t
from .library import Library
from .persona_lists import Pick, Picks

_PENDING: Final = "personas_taken_along"


def set_pending_personas(personas: Sequence[Persona]) -> None:
    """Keep personas for the next set-up that this user opens."""
    app.storage.user[_PENDING] = [persona.model_dump(mode="json") for persona in personas]


def take_pending_personas() -> list[Persona]:
    """Take the personas kept for the next set-up; the next call returns none."""
    kept = app.storage.user.pop(_PENDING, [])
    try:
        return [Persona.model_validate(one) for one in kept]
    except ValidationError:  # kept by another version
        return []


@dataclass(frozen=True)
class Chosen:
    """The personas that the user chose.

    Attributes:
        personas: in the order of the list.
        of_files: whether all of them were brought in from files just now.
    """

    personas: Sequence[Persona] = ()
    of_files: bool = False


async def choose_personas(web: WebContext, taken: Collection[str]) -> Chosen:
    """Let the user choose personas: their own, shipped ones, and those that they bring in from files.

    Args:
        web: what the pages work with.
        taken: names of the present participants.

    Returns:
        The chosen personas; none if the user has cancelled.
    """
    library = Library(web.library)
    own: list[Persona] = []
    with errors_shown():
        own += (await asyncio.to_thread(library.personas)).values()
    there = {visible_form(name) for name in taken}
    picks = Picks(lambda: count())
    of_files: set[int] = set()
    window = Window(t("personas.choose_heading"))

    def count() -> None:
        number = len(picks.chosen())
        take.set_text(t("personas.take", n=number) if number else t("personas.take_nobody"))
        take.set_enabled(number > 0)

    def search() -> None:
        nobody.set_visibility(picks.filter(field.value or "") == 0)

    def add(personas: Iterable[Persona], *, ticked: bool = False) -> None:
        for persona in personas:
            blocked = t("personas.taken") if visible_form(persona.name) in there else ""
            picks.add(Pick(persona, blocked), ticked=ticked)

    async def bring_in() -> None:
        from .importing import ImportDialog  # the first page does not need what it loads

        dialog = ImportDialog(library)
        with errors_shown():  # of the environment
            await dialog.run()
        if not dialog.kept or window.dialog.is_deleted:
            return
        of_files.update(range(len(picks.picks), len(picks.picks) + len(dialog.kept)))
        with brought:
            title(t("personas.of_files"))
            add(dialog.kept, ticked=True)
        count()

    with window.body:
        field = ui.input(t("personas.search"), on_change=search).props("clearable autofocus type=search")
        field.classes("w-full sticky top-0 z-10")
        brought = ui.column().classes("w-full gap-3")
        if own:
            title(t("personas.own"))
            add(own)
        title(t("personas.shipped"))
        add(await asyncio.to_thread(shipped))
        nobody = ui.label(t("personas.nobody_found")).classes("muted py-4")
        nobody.set_visibility(False)
    with window.buttons:
        files = text_button(t("personas.import_button"), bring_in, icon="upload_file")
        files.props["title"] = t("personas.import_help")
        ui.space()
        text_button(t("common.cancel"), window.leave)
        take = text_button("", lambda: window.submit(picks.chosen()), look="unelevated")
    count()
    numbers: list[int] = await window.closed() or []
    return Chosen([picks.picks[number].persona for number in numbers], bool(numbers) and of_files.issuperset(numbers))
