"""What a run says of a mind: one record an agent and turn, from its state and the memories that it recalled."""

from __future__ import annotations

import asyncio
from typing import Any

from persimchat.memory.recollection import memories_of
from persimchat.runs.events import MindRecord, RecalledMemory
from persimchat.state.settings import Settings


async def mind_record(simulation: str, turn: int, mind: dict[str, Any], settings: Settings) -> MindRecord:
    """The record of one mind after it has heard utterance `turn`, with the texts of what it recalled."""
    recalled = mind["recalled"]
    found = await memories_of(settings, simulation, mind["name"], [r["id"] for r in recalled], mind["unsaved"])
    planned, reflected = mind["did"] == "plan" and turn, mind["did"] == "reflect" and turn
    return MindRecord(
        turn=turn,
        agent=mind["name"],
        did=mind["did"] if turn else "",
        percept=mind["percept"],
        focal_points=mind["focal_points"],
        recalled=[
            RecalledMemory(kind=memory.kind, turn=memory.turn, theme=memory.theme, **row)
            for row, memory in zip(recalled, found, strict=True)
        ],
        short_term_memory=mind["stm"],
        long_term_memories=len(mind["alive"]),
        need_to_talk=mind.get("need_to_talk"),
        need_reasoning=mind.get("need_reasoning"),
        openness=mind.get("openness"),
        openness_reasoning=mind.get("openness_reasoning"),
        action=mind["action"],
        emotion=mind["emotion"],
        plan=mind["plan"] if planned else None,
        insights=mind["insights"] if reflected else [],
    )


async def mind_records(state: dict[str, Any], settings: Settings, *, judge: bool = False) -> list[MindRecord]:
    """The records of all minds that have awoken, in order of listing.

    Args:
        state: the conversation.
        settings: of the simulation.
        judge: the persona judge's mind in place of the participants'.
    """
    minds = [mind for mind in state["judge_mind" if judge else "agents"].values() if mind["emotion"]]
    return list(
        await asyncio.gather(*(mind_record(state["simulation"], state["turn"], mind, settings) for mind in minds))
    )
