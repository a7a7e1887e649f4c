"""How a run stands, in the page's header."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def run_status(viewing: Viewing) -> None:
    """Draw it, and keep it up to date."""
    ui.label(viewing.board.status)
