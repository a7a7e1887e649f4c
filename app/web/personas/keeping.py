"""Keeping those who are ticked in a list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nicegui import ui

from persimchat.app.web.personas.library import Library
from persimchat.app.web.widgets import told
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.persona import Persona


async def keep_chosen(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> bool:
    """Keep personas with the comments of their files' heads: all of them or none; whether they were kept."""
    if not chosen:
        ui.notify(t("personas.nobody_chosen"), type="warning", position="top")
        return False
    try:
        await asyncio.to_thread(_add_all, library, chosen)
    except PerSimChatError as error:
        told(error)
        return False
    return True


def _add_all(library: Library, chosen: Sequence[tuple[Persona, Sequence[str]]]) -> None:
    added = []
    try:
        for persona, notes in chosen:
            added.append(library.add(persona, notes))
    except PerSimChatError:
        for path in added:
            library.delete(path)
        raise
