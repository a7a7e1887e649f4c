"""The conversation, utterance by utterance."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.viewing import Viewing


def chat_panel(viewing: Viewing) -> None:
    """Draw it, and keep it up to date."""
    for utterance in viewing.board.utterances:
        ui.label(f"{utterance.speaker}: {utterance.text}").classes("bubble")
