"""An agent's mind at a turn, in a dialog."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


async def show_mind(viewing: Viewing, agent: str, turn: int) -> None:
    """Open the dialog.

    Args:
        viewing: the run.
        agent: whose mind.
        turn: at which turn it is shown first; 0 before the first utterance.
    """
    ui.notify(f"{viewing.run} {agent} {turn}")
