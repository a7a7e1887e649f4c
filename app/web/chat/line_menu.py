"""What can be done with an agent's utterance."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.chat.branch_dialog import branch_from
from persimchat.app.web.minds.dialog import show_mind
from persimchat.app.web.past.addresses import page_of
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.widgets import told
from persimchat.app.web.words import t
from persimchat.runs.events import Uttered
from persimchat.state.errors import PerSimChatError


def fill_menu(viewing: Viewing, said: Uttered, outside: ui.element) -> None:
    """Fill the menu that is being drawn.

    Args:
        viewing: the run.
        said: the utterance.
        outside: what stays on the page when the line goes; dialogs belong to it.
    """

    async def look() -> None:
        with outside:
            await show_mind(viewing, said.speaker, said.turn)

    async def branch() -> None:
        with outside:
            await branch_from(viewing, said.turn)

    async def change() -> None:
        with outside:
            await branch_from(viewing, said.turn - 1, instead=True)

    async def again() -> None:
        with outside:
            try:
                made = await viewing.place.runs.regenerate(viewing.run, said.turn)
            except PerSimChatError as error:
                told(error)
                return
            ui.navigate.to(page_of(made.run))

    idle = viewing.live is None  # a run can be branched as soon as nobody works on it
    ui.menu_item(t("chat.mind"), look).mark("mind")
    ui.menu_item(t("chat.branch_here"), branch).mark("branch-here").set_enabled(idle)
    ui.menu_item(t("chat.branch_line"), change).mark("branch-line").set_enabled(idle)
    if said.heard_by is None:
        ui.menu_item(t("chat.regenerate"), again).mark("regenerate").set_enabled(idle)
    if not idle:
        ui.label(t("chat.not_while_live")).classes("text-xs muted px-4 py-2 max-w-60")
