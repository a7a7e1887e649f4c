"""The records of minds: one per agent and turn, from the state of that turn and the recalled memories."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from persimchat.graph.stories.talks import hears, last_at_once
from persimchat.memory.recollection import memories_of
from persimchat.runs.events import MindRecord, RecalledMemory
from persimchat.runs.folder.rebuild import Rebuilt, add_minds
from persimchat.runs.folder.story_record import StoryStanding
from persimchat.runs.run.history import states_at
from persimchat.runs.run.resources import RunResources
from persimchat.state.conversation import judge_mind, participants
from persimchat.state.listening import was_asked
from persimchat.state.mind import Mind, is_awake
from persimchat.state.outcomes import Weak
from persimchat.state.pruning import Pruned
from persimchat.state.settings import Settings
from persimchat.state.visibility import is_heard


async def mind_record(
    simulation: str, turn: int, mind: Mind, settings: Settings, *, heard: bool = True, said: Sequence[int] = ()
) -> MindRecord:
    """The record of one mind after it has heard utterance `turn`, with the texts of the recalled memories.

    Args:
        simulation: the run's id.
        turn: utterances so far.
        mind: in its current state.
        settings: of the simulation.
        heard: whether it has heard the utterance; false for a whisper to others, and if its model failed.
        said: the numbers of its own utterances among those made last.
    """
    fixed, listened = settings.cognition == "fixed", was_asked(mind, turn)
    heard &= not fixed  # in a branch, percept and action are from before it
    recalled = mind["recalled"] if listened is not False else []  # `mind["recalled"]` is from an earlier turn
    found = await memories_of(settings, simulation, mind["name"], [r["id"] for r in recalled], mind["unsaved"])
    weak: Weak | None = mind.get("weak")
    weak = weak if weak and weak["turn"] == turn else None
    failed = weak["failed"] if weak else []
    pruned = mind.get("pruned")
    planned, reflected = mind["did"] == "plan" and turn, mind["did"] == "reflect" and turn
    return MindRecord(
        turn=turn,
        agent=mind["name"],
        did=mind["did"] if turn else "",
        percept=mind["percept"] if heard else None,
        focal_points=mind["focal_points"] if heard else [],
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
        action="" if fixed else mind["action"],
        emotion=mind["emotion"],
        plan=mind["plan"] if planned and "planning" not in failed else None,
        insights=mind["insights"] if reflected else [],
        listened=listened,
        failed=failed,
        corrected=weak["corrected"] if weak else [],
        pruned=Pruned.model_validate(pruned) if pruned is not None and pruned["turn"] in said else None,
        story=StoryStanding.model_validate(mind["story"]) if "story" in mind else None,
    )


async def mind_records(state: dict[str, Any], settings: Settings, *, judge: bool = False) -> list[MindRecord]:
    """The records of all awake minds, in the order of the participants.

    Args:
        state: the conversation.
        settings: of the simulation.
        judge: the mind of the persona judge, in place of the participants.
    """
    own = judge_mind(state)
    listed = ([own] if own else []) if judge else list(participants(state).values())
    minds = [mind for mind in listed if is_awake(mind)]
    turn, said = state["turn"], last_at_once(state)

    def has_heard(mind: Mind) -> bool:
        silent = mind.get("silent")
        deaf = silent and silent["step"] == "hear" and silent["turn"] == turn
        return not deaf and (not said or any(is_heard(one, "" if judge else mind["name"]) for one in said))

    def spoken(mind: Mind) -> list[int]:
        return [one["turn"] for one in said if one["speaker"] == mind["name"]]

    return list(
        await asyncio.gather(
            *(
                mind_record(state["simulation"], turn, mind, settings, heard=has_heard(mind), said=spoken(mind))
                for mind in minds
            )
        )
    )


async def complete_minds(folder: Path, place: RunResources, rebuilt: Rebuilt, *, since: int = 0) -> list[int]:
    """Write the records that minds.jsonl and judge_mind.jsonl lack, from the states of their turns.

    Args:
        folder: the folder of the run.
        place: the resources that hold the states.
        rebuilt: the records that are missing.
        since: the first turn with a state: a branch has none of its shared past.

    Returns:
        The turns that are still missing.
    """
    every = {False: rebuilt.minds, True: rebuilt.judge_minds}
    lacking = {judge: [turn for turn in missing if turn >= since] for judge, missing in every.items()}
    turns = {turn for missing in lacking.values() for turn in missing}
    # In a story of strategists, minds change after the words of a turn, so the newest of its states has them.
    first = place.settings.mode != "story" or hears(place.settings)
    states = await states_at(place.graph, place.config, turns, first=first) if turns else {}
    for judge, missing in lacking.items():
        records = [
            record
            for turn in missing
            for record in await mind_records(states[turn].values, place.settings, judge=judge)
        ]
        if records:
            await asyncio.to_thread(add_minds, folder, records, judge=judge)
    return sorted({turn for missing in every.values() for turn in missing if turn < since})


def remembered(mind: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that a mind needs to continue: those alive, and those recalled last.

    The next prompts show recalled memories even if the mind has forgotten them since.
    """
    return list(dict.fromkeys([*mind["alive"], *(recalled["id"] for recalled in mind["recalled"])]))
