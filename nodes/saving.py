"""Saving: write what long-term memory received to Chroma, in parallel with the appraisals, off the critical path."""

from __future__ import annotations

from persimchat.memory.recollection import save
from persimchat.state.mind import Mind
from persimchat.state.settings import Settings


async def save_memories(mind: Mind, settings: Settings) -> Mind:
    """Write the memories that Chroma has not confirmed; they stay whole in the mind until this has succeeded."""
    unsaved = mind.get("unsaved", [])
    if unsaved:
        await save(settings, mind["situation"]["simulation"], mind["name"], unsaved)
    return {"unsaved": []}
