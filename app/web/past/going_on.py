"""Runs that were interrupted go on where they were. For a higher limit, where one was reached, their page asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nicegui import ui

from persimchat.app.web.past.addresses import page_of
from persimchat.app.web.place import Place
from persimchat.app.web.widgets import told
from persimchat.runs.listing import UNFINISHED
from persimchat.state.errors import PerSimChatError

INTERRUPTED: Final = frozenset({UNFINISHED, "stopped", "error"})
"""Endings (`ListedRun.ended`) from which a run can go on as it is."""


async def go_on(place: Place, run: str, changes: Mapping[str, Any] | None = None) -> bool:
    """Go on with a run, and show it; says what is wrong where it cannot, and returns whether it could."""
    try:
        await place.runs.resume(run, changes)
    except PerSimChatError as error:
        told(error)
        return False
    ui.navigate.to(page_of(run))
    return True
