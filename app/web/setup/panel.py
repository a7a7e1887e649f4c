"""The panel in which a conversation is set up."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.place import Place


async def setup_panel(place: Place, *, like: str = "", setup: str = "") -> None:
    """Draw the panel; see `conversation_page.new_page` for `like` and `setup`."""
    ui.label(f"{place.library}{like}{setup}")
