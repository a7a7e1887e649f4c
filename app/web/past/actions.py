"""What can be done to a run from its page: resume, branch, export, report."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def run_actions(viewing: Viewing) -> None:
    """Draw the buttons."""
    ui.label(viewing.run)
