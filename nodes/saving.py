"""Saving: write new long-term memories to Chroma, in parallel with the appraisals, off the critical path."""

from __future__ import annotations

from persimchat.memory.recollection import save
from persimchat.state.mind import Step
from persimchat.state.settings import Settings


async def save_memories(mind: Step, settings: Settings) -> Step:
    """Write the memories that Chroma has not confirmed; the mind keeps full copies until this has succeeded."""
    unsaved = mind.get("unsaved", [])
    if unsaved:
        await save(settings, mind["situation"]["simulation"], mind["name"], unsaved)
    return {"unsaved": []}
