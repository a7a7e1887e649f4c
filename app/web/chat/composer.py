"""Where people write: their own turn, the moderator's lines, whispers; and pause, resume, stop."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def composer(viewing: Viewing) -> None:
    """Draw it, and keep it up to date."""
    ui.label(viewing.run)
