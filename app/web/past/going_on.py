"""Runs that were interrupted go on where they were. For a higher limit, where one was reached, their page asks."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.past.addresses import page_of
from persimchat.app.web.place import Place
from persimchat.app.web.widgets import told
from persimchat.runs.listing import UNFINISHED
from persimchat.state.errors import PerSimChatError

INTERRUPTED: Final = frozenset({UNFINISHED, "stopped", "error"})
"""Endings (`ListedRun.ended`) from which a run can go on as it is."""


async def go_on(place: Place, run: str) -> None:
    """Go on with a run, and show it."""
    try:
        await place.runs.resume(run)
    except PerSimChatError as error:
        told(error)
        return
    ui.navigate.to(page_of(run))
