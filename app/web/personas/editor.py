"""The dialog in which a persona is written or changed."""

from __future__ import annotations

from nicegui import ui

from persimchat.app.web.personas.form import Form
from persimchat.app.web.personas.window import Window
from persimchat.app.web.words import t
from persimchat.state.persona import Persona


async def edit_persona(persona: Persona | None) -> Persona | None:
    """Let the user write a persona or change one.

    Args:
        persona: the one to change; None for a new one.

    Returns:
        What it became; None where the user has cancelled. Nothing is kept: that is the caller's doing.
    """
    window = Window(t("personas.edit_heading" if persona else "personas.new_heading"), width="middle")
    with window.body:
        form = Form(persona)
    before = form.data()
    window.unsaved = lambda: form.data() != before

    def save() -> None:
        found = form.persona()
        if found is None:
            ui.notify(t("personas.wrong_somewhere"), type="warning", position="top")
        else:
            window.submit(found)

    with window.buttons:
        ui.button(t("common.cancel"), on_click=window.leave).props("flat no-caps")
        ui.button(t("personas.save"), icon="check", on_click=save).props("unelevated no-caps")
    result = await window.closed()
    return result if isinstance(result, Persona) else None
