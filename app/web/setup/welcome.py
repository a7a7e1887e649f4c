"""What stands in the middle before a conversation has begun."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.place import Place


def welcome(place: Place) -> None:
    """Draw it."""
    ui.label(str(place.library))
