"""The dialog in which personas are chosen: those that are shipped, and one's own."""

from __future__ import annotations

from collections.abc import Collection

from persimchat.app.web.place import Place
from persimchat.state.persona import Persona


async def choose_personas(place: Place, taken: Collection[str]) -> list[Persona]:
    """Let the user choose personas.

    Args:
        place: what the pages work with.
        taken: names of those who take part already.

    Returns:
        Those chosen; none where the user has cancelled.
    """
    return []
