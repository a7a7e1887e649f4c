"""The library of personas: the user's own and the shipped ones, as cards, and the ways to make new ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from nicegui import ui

from ....personas.catalogue import shipped
from ....personas.files import file_names, persona_text
from ....state.errors import PerSimChatError
from ....state.persona import Persona
from ....state.plain_text import one_line, visible_form
from ..context import WebContext
from ..frame import Frame, disclaimer
from ..shared.dialogs import agreed
from ..widgets import anew, notify_error, text_button
from ..words import t
from .chooser import set_pending_personas
from .editor import edit_persona
from .generating import GenerateDialog
from .importing import ImportDialog
from .library import Library, Shelf
from .making import MakingDialog
from .persona_lists import CardActions, damaged_card, matches, persona_card

SHOWN: Final = 60
"""How many cards are drawn at a time."""


async def personas_page(web: WebContext) -> None:
    """Draw the page."""
    Frame(t("common.personas"))
    await PersonasPage(Library(web.library)).draw()


class PersonasPage:
    """The page.

    Args:
        library: the user's own personas.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.shelf = Shelf({}, {})
        self.shipped: list[Persona] = []
        self.chosen: dict[str, Persona] = {}  # by a card's key: the file's name, or "shipped " and the name
        self.boxes: dict[str, ui.checkbox] = {}
        self.most = SHOWN

    async def draw(self) -> None:
        """Draw everything."""
        self.shipped = await asyncio.to_thread(shipped)
        self.root = ui.column().classes("w-full max-w-6xl mx-auto gap-4 no-wrap")
        with self.root:
            with ui.row().classes("w-full items-center justify-between gap-2"):
                ui.label(t("common.personas")).classes("text-2xl font-semibold").props("role=heading aria-level=1")
                with ui.element("div").classes("persona-acts"):
                    for icon, name, makes in (
                        ("upload_file", "import_button", ImportDialog),
                        ("auto_awesome", "generate_button", GenerateDialog),
                    ):
                        look, act = "outline padding='6px 12px'", partial(self._made, makes)
                        text_button(t(f"personas.{name}"), act, icon=icon, look=look)
                    text_button(t("personas.new"), self.new, icon="add", look="unelevated")
            self.search = ui.input(t("personas.search"), on_change=self.redraw).props("clearable type=search")
            self.search.classes("w-full").props("debounce=200")
            self.cards = ui.column().classes("w-full gap-4")
            disclaimer()
            with ui.row().classes("surface items-center gap-3 px-4 py-2 persona-bar") as self.bar:
                self.count = ui.label().classes("font-semibold").props("role=status")
                text_button(t("personas.nobody"), self.choose_nobody)
                text_button(t("personas.talk"), self.talk, icon="forum", look="unelevated")
        await self.reload()

    async def reload(self) -> None:
        """Read the folder and draw what it holds."""
        try:
            self.shelf = await asyncio.to_thread(self.library.read)
        except PerSimChatError as error:
            self._tell(error)
        self.redraw()

    def redraw(self) -> None:
        """Draw the cards that match the search."""
        query = self.search.value or ""
        own = {path.name: persona for path, persona in self.shelf.personas.items()}
        ready = {f"shipped {persona.name}": persona for persona in self.shipped}
        everybody = {**own, **ready}
        self.chosen = {key: everybody[key] for key in self.chosen if key in everybody}
        self.boxes = {}
        with anew(self.cards):
            shown = self._group("own", {key: one for key, one in own.items() if matches(one, query)}, query)
            self._damaged()
            shown += self._group("shipped", {key: one for key, one in ready.items() if matches(one, query)}, query)
            if not shown:
                ui.label(t("personas.nobody_found")).classes("muted")
        self._count()

    def _group(self, key: str, personas: Mapping[str, Persona], query: str) -> int:
        """Draw a heading and the cards under it; how many personas it has."""
        if not personas and (query or key == "shipped"):
            return 0
        with ui.row().classes("items-baseline gap-2"):
            ui.label(t(f"personas.{key}")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            if personas:
                ui.label(t("personas.number", n=len(personas))).classes("text-sm muted")
        if not personas:
            ui.label(t("personas.none_yet")).classes("surface w-full muted p-4")
        with ui.element("div").classes("persona-grid w-full"):
            for name, persona in list(personas.items())[: self.most]:
                actions = self._actions(name, persona, own=key == "own")
                self.boxes[name] = persona_card(persona, actions, ticked=name in self.chosen)
        if len(personas) > self.most:
            text_button(t("personas.more", n=len(personas) - self.most), self.show_more).classes("mx-auto")
        return len(personas)

    def _damaged(self) -> None:
        if not self.shelf.damaged:
            return
        ui.label(t("personas.damaged")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        for path, error in self.shelf.damaged.items():
            damaged_card(path, error, partial(self.delete, path, path.name))

    def _actions(self, key: str, persona: Persona, *, own: bool) -> CardActions:
        path = self.library.folder / key if own else None
        return CardActions(
            partial(self.tick, key, persona),
            partial(self.copy, persona),
            partial(self.download, persona, path),
            partial(self.edit, path, persona) if path is not None else None,
            partial(self.delete, path, persona.name) if path is not None else None,
        )

    def show_more(self) -> None:
        """Draw more cards."""
        self.most += 10 * SHOWN
        self.redraw()

    def tick(self, key: str, persona: Persona, on: bool) -> None:
        """Select or deselect a persona; another one with the same name is deselected, as both could not take part."""
        if not on:
            self.chosen.pop(key, None)
        else:
            for other, one in list(self.chosen.items()):
                if other != key and visible_form(one.name) == visible_form(persona.name):
                    self.chosen.pop(other)
                    if other in self.boxes:
                        self.boxes[other].set_value(False)
            self.chosen[key] = persona
        self._count()

    def choose_nobody(self) -> None:
        """Clear the selection."""
        self.chosen = {}
        for box in self.boxes.values():
            box.set_value(False)
        self._count()

    def _count(self) -> None:
        self.bar.set_visibility(bool(self.chosen))
        self.count.set_text(t("personas.chosen", n=len(self.chosen)))

    def talk(self) -> None:
        """Open the set-up of a new conversation with the selected personas."""
        set_pending_personas(list(self.chosen.values()))
        ui.navigate.to("/")

    async def new(self) -> None:
        """Write a persona."""
        await self._keep(await edit_persona(None))

    async def copy(self, persona: Persona) -> None:
        """Copy a persona into the library and edit it."""
        await self._keep(await edit_persona(persona))

    async def _keep(self, persona: Persona | None, path: Path | None = None) -> None:
        """Save a persona, in place of a file if one is given."""
        if persona is not None:
            save = partial(self.library.add, persona) if path is None else partial(self.library.replace, path, persona)
            await self._do(save, t("personas.kept_one", name=one_line(persona.name)))

    async def edit(self, path: Path, persona: Persona) -> None:
        """Edit a persona of the library."""
        changed = await edit_persona(persona)
        if changed != persona:
            await self._keep(changed, path)

    async def delete(self, path: Path, name: str) -> None:
        """Delete a persona of the library after confirmation."""
        if await agreed(t("personas.delete_question", name=one_line(name)), t("personas.delete")):
            await self._do(partial(self.library.delete, path), t("personas.deleted", name=one_line(name)))

    async def _do(self, work: Callable[[], object], done: str) -> None:
        """Change the library, and draw and announce the result."""
        try:
            await asyncio.to_thread(work)
        except PerSimChatError as error:
            self._tell(error)
        else:
            await self._done(done)

    async def download(self, persona: Persona, path: Path | None) -> None:
        """Send a persona's file."""
        try:
            text = persona_text(persona) if path is None else await asyncio.to_thread(self.library.text, path)
        except PerSimChatError as error:
            self._tell(error)
            return
        ui.download.content(text.encode(), path.name if path is not None else file_names([persona.name])[0])

    async def _made(self, makes: Callable[[Library], MakingDialog[Any]]) -> None:
        """Show a dialog that makes personas, and then the kept ones."""
        try:
            number = await makes(self.library).run()
        except PerSimChatError as error:  # of the environment
            self._tell(error)
            return
        if number:
            await self._done(t("personas.kept", n=number))

    async def _done(self, words: str) -> None:
        """Draw the result and announce it; the card that began the action may be gone by then."""
        if self.root.is_deleted:
            return
        with self.root:
            ui.notify(words, type="positive", position="top")  # the bar with the selection is below
            await self.reload()

    def _tell(self, error: PerSimChatError) -> None:
        with self.root:
            notify_error(error)
