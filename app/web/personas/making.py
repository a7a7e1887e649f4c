"""The dialog that makes personas: first what is asked for, then the wait, then whom to keep."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import Generic, TypeVar

from nicegui import ui

from ....models.naming import default_model_name
from ....state.configuration import load_settings
from ....state.errors import InputError, PerSimChatError
from ....state.persona import Persona
from ..shared.dialogs import Window
from ..widgets import anew, explained, text_button
from ..words import t
from .library import Library
from .persona_lists import Pick, Picks, keep_chosen

Made = TypeVar("Made")


def for_the_page(error: PerSimChatError, remedy: str = "") -> PerSimChatError:
    """The error with a remedy for the page, if its own names options of the command line."""
    where = "" if error.where.startswith("--") else error.where
    return InputError(error.what, where=where, remedy=remedy if "--" in error.remedy else error.remedy)


class MakingDialog(ABC, Generic[Made]):
    """The dialog; a subclass says what is asked for, how it is made, and what is shown of it.

    Args:
        library: keeps the personas that the user selects.

    Attributes:
        kept: the personas that were kept.
        made: what was made; None before it.
    """

    heading = width = does = again = remedy = ""
    icons = ("arrow_forward", "arrow_back")

    def __init__(self, library: Library) -> None:
        self.library = library
        self.kept: list[Persona] = []
        self.made: Made | None = None
        self.picks = Picks()
        self.work: asyncio.Task[Made] | None = None
        self.window = Window(t(self.heading), width=self.width, unsaved=lambda: self.made is not None or self.busy)

    @property
    def busy(self) -> bool:
        """Whether something is being made."""
        return self.work is not None and not self.work.done()

    @abstractmethod
    async def draw_form(self) -> None:
        """Draw what is asked for."""

    @abstractmethod
    async def asked(self) -> Coroutine[object, object, Made]:
        """What makes the personas; raises PerSimChatError if what is asked for is wrong."""

    @abstractmethod
    def draw_waiting(self) -> None:
        """Draw how far it is."""

    @abstractmethod
    def draw_made(self, made: Made) -> None:
        """Draw what was made above the list of personas."""

    @abstractmethod
    def listed(self, made: Made) -> Sequence[Pick]:
        """The personas to choose from."""

    @abstractmethod
    async def chosen(self, made: Made, numbers: Sequence[int]) -> list[tuple[Persona, Sequence[str]]]:
        """The personas of these numbers, each with the comments for the head of its file."""

    async def run(self) -> int:
        """Show the dialog; returns how many personas were kept."""
        self.usual = default_model_name((await asyncio.to_thread(load_settings)).model)[0]
        with self.window.body:
            self.form = ui.column().classes("w-full gap-3")
            self.outcome = ui.column().classes("w-full gap-3")
        with self.form:
            await self.draw_form()
        self._offer_form()
        try:
            return int(await self.window.closed() or 0)
        finally:
            if self.work is not None:
                self.work.cancel()  # the dialog is closed

    def draw_model(self) -> ui.element:
        """Draw the field of the model that makes them; returns its row."""
        with ui.row().classes("grow no-wrap items-start gap-1") as row:
            self.model = ui.input(t("personas.model"), placeholder=self.usual, autocomplete=["offline", self.usual])
            self.model.props("stack-label").classes("grow min-w-40")
            explained(t("personas.model_explained"))
        return row

    def _offer_form(self) -> None:
        with self.window.other_buttons():
            text_button(t("common.cancel"), self.window.leave)
            text_button(t(self.does), self.make, icon=self.icons[0], look="unelevated")

    def back(self) -> None:
        """Go back to what is asked for; personas that were not kept are dropped."""
        if self.work is not None:
            self.work.cancel()
        self.made = None
        self.window.complain()
        self.outcome.clear()
        self.form.set_visibility(True)
        self._offer_form()

    async def make(self) -> None:
        """Make the personas, and show them."""
        if self.busy:
            return
        self.window.complain()
        try:
            made = await self.asked()
        except PerSimChatError as error:
            self.window.complain(str(for_the_page(error, t(self.remedy) if self.remedy else "")))
            return
        self.form.set_visibility(False)
        with anew(self.outcome):
            self.draw_waiting()
        with self.window.other_buttons():
            text_button(t("personas.stop"), self.back)
        self.work = asyncio.create_task(made)
        await asyncio.wait({self.work})
        if self.window.dialog.is_deleted or self.work.cancelled():
            return
        try:
            self.made = self.work.result()
        except PerSimChatError as error:
            self.back()
            self.window.complain(str(for_the_page(error, t(self.remedy) if self.remedy else "")))
        except BaseException:
            self.back()  # the page's frame tells of it
            raise
        else:
            self._show(self.made)

    def _show(self, made: Made) -> None:
        self.picks = Picks()
        with anew(self.outcome):
            self.draw_made(made)
            for pick in self.listed(made):
                self.picks.add(pick, ticked=True)
        with self.window.other_buttons():
            text_button(t(self.again), self.back, icon=self.icons[1])
            text_button(t("personas.keep"), self.keep, icon="check", look="unelevated")

    async def keep(self) -> None:
        """Keep the ticked personas."""
        assert self.made is not None
        try:
            chosen = await self.chosen(self.made, self.picks.chosen())
        except PerSimChatError as error:
            self.window.complain(str(for_the_page(error, t("personas.import_leave_out"))))
            return
        if await keep_chosen(self.library, chosen):
            self.kept = [persona for persona, _ in chosen]
            self.window.submit(len(chosen))
