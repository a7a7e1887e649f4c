"""The slider through a run's turns."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def time_bar(viewing: Viewing) -> None:
    """Draw it, and keep it up to date."""
    ui.label(str(viewing.turn))
