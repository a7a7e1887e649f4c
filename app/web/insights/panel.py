"""The insights beside a conversation."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def insights_panel(viewing: Viewing) -> None:
    """Draw them, and keep them up to date."""
    ui.label(str(viewing.turn))
