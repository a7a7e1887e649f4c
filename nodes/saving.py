"""Saving: write new long-term memories to Chroma, in parallel with the appraisals, off the critical path."""

from __future__ import annotations

from persimchat.memory.chroma_client import EPHEMERAL, resolved
from persimchat.memory.recollection import save
from persimchat.state.mind import Step
from persimchat.state.settings import Settings


async def save_memories(mind: Step, settings: Settings) -> Step:
    """Write the memories that Chroma has not confirmed; the mind keeps full copies until this has succeeded.

    A companion's mind outlives the process, and an ephemeral store does not: then the mind keeps the copies.
    """
    unsaved = mind.get("unsaved", [])
    if "companion" in mind["situation"] and resolved(settings.store) == EPHEMERAL:
        return {"unsaved": unsaved}
    if unsaved:
        await save(settings, mind["situation"]["simulation"], mind["name"], unsaved)
    return {"unsaved": []}
