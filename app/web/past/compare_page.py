"""Two runs side by side."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.frame import Frame
from persimchat.app.web.place import Place
from persimchat.app.web.words import t


async def compare_page(place: Place, a: str = "", b: str = "") -> None:
    """Draw the page."""
    Frame(t("common.runs"))
    ui.label(str(place.library))
