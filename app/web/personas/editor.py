"""The dialog in which a persona is written or changed."""

from __future__ import annotations

from persimchat.state.persona import Persona


async def edit_persona(persona: Persona | None) -> Persona | None:
    """Let the user write a persona or change one.

    Args:
        persona: the one to change; None for a new one.

    Returns:
        What it became; None where the user has cancelled. Nothing is kept: that is the caller's doing.
    """
    return persona
