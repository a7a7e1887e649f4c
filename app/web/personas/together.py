"""Personas that are taken along from the library to the set-up of a new conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from nicegui import app
from pydantic import ValidationError

from persimchat.state.persona import Persona

_KEY: Final = "personas_taken_along"


def take_along(personas: Sequence[Persona]) -> None:
    """Keep personas for the next set-up that this user opens."""
    app.storage.user[_KEY] = [persona.model_dump(mode="json") for persona in personas]


def taken_along() -> list[Persona]:
    """Those who were taken along, once: the next call has none."""
    kept = app.storage.user.pop(_KEY, [])
    try:
        return [Persona.model_validate(one) for one in kept]
    except ValidationError:  # kept by another version
        return []
