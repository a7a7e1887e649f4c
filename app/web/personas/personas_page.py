"""The library of personas."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.frame import Frame
from persimchat.app.web.place import Place
from persimchat.app.web.words import t


async def personas_page(place: Place) -> None:
    """Draw the page."""
    Frame(t("common.personas"))
    ui.label(str(place.library))
