"""Remembering: consolidate the percept, recall what matters now, filter, and save (specification, steps 2 and 3).

Short-term memory holds one memory: a new one pushes the old one into long-term memory. Whether that one is worth
keeping is asked in parallel with perceiving or thinking, so no turn becomes longer; insights on their way through
short-term memory within one reflection are kept without asking, because they are a selection already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ...memory.chroma_client import EPHEMERAL, resolved
from ...memory.consolidation import admit
from ...memory.recollection import recall, remember, save, similarity
from ...models.asking import appraise
from ...state.minds.emotion import EmotionalState
from ...state.minds.judgement import Consolidation
from ...state.minds.memory import Circumstance, Memory
from ...state.minds.mind import Step
from ...state.outcomes import judged
from ...state.plain_text import shortened
from ...state.settings import Settings
from .context import common_blocks, made_now, question, shown_memories


async def _pass_through_stm(mind: Step, settings: Settings, arriving: Sequence[Memory]) -> Step:
    """Pass memories through short-term memory into long-term memory, one after the other; the last one stays there.

    `keep` says whether the present memory of short-term memory is kept; arriving memories are not filtered on their
    way.
    """
    update, fresh = _passed_through_stm(mind, settings, arriving)
    await remember(settings, mind["situation"]["simulation"], mind["name"], fresh)
    return update


def _passed_through_stm(mind: Step, settings: Settings, arriving: Sequence[Memory]) -> tuple[Step, list[Memory]]:
    """The update of the mind, and the memories to embed for recall."""
    stm = mind.get("stm")
    passing = [*([Memory.model_validate(stm)] if stm else []), *arriving]
    leaving = [m for i, m in enumerate(passing[:-1]) if i > 0 or stm is None or mind.get("keep", True)]
    alive = mind["alive"]
    for memory in leaving:
        alive, _ = admit(alive, memory.id, mind["situation"]["turn"], settings.ltm_capacity, mind["pinned"])
    unsaved = [*mind.get("unsaved", []), *(memory.model_dump() for memory in leaving)]
    update: Step = {
        "stm": passing[-1].model_dump() if passing else None,
        "alive": alive,
        "unsaved": [memory for memory in unsaved if memory["id"] in alive],
    }
    return update, [*leaving, *arriving]


async def remember_thoughts(mind: Step, settings: Settings) -> Step:
    """Take in the memories that a reflection or a plan has made."""
    return await _pass_through_stm(mind, settings, [Memory.model_validate(m) for m in mind["arriving"]])


async def remember_utterance(mind: Step, settings: Settings) -> Step:
    """Put the percept into short-term memory, then recall from long-term memory with the focal points."""
    update = await remember_percept(mind, settings)
    return {**update, **await recall_for({**mind, **update}, settings)}


async def remember_percept(mind: Step, settings: Settings) -> Step:
    """Put the percept into short-term memory, then a plan that changed with it; what was there moves on."""
    made, plan = [_percept(mind)], mind.get("plan")
    if plan is not None and mind.get("planned") == mind["situation"]["turn"]:
        made.append(made_now(mind, "plan", plan["theme"], plan["keywords"], plan["importance"]))
    return await _pass_through_stm(mind, settings, made)


def remember_unembedded(mind: Step, settings: Settings) -> Step:
    """The same without an embedding, which is made when the memory is saved or at the next recall."""
    return _passed_through_stm(mind, settings, [_percept(mind)])[0]


def _percept(mind: Step) -> Memory:
    """The percept as a memory."""
    percept = mind["percept"]
    assert percept is not None  # it was made before
    theme, keywords, importance = percept["theme"], percept["keywords"], percept["importance"]
    return made_now(mind, "perception", theme, keywords, importance, **_heard_from(mind))


def _heard_from(mind: Step) -> dict[str, Any]:
    """Of a companion's memory: when, where and from whom it is, and who may hear of it."""
    companion = mind["situation"].get("companion")
    if companion is None:
        return {}
    about = Circumstance(
        at=companion["at"],
        person=companion["person"],
        talk=companion["talk"],
        exchange=companion["exchange"],
        place=companion["place"],
        quote=shortened(mind["heard"]["text"], 200),
    )
    return {"circumstance": about, "heard_by": None if companion["share"] else [companion["person"]]}


async def recall_by_words(mind: Step, settings: Settings) -> Step:
    """Recall with the words just heard in place of the focal points (lean cognition)."""
    words: Step = {"focal_points": [] if "recall" in settings.ablation else [mind["heard"]["text"]]}
    return {**words, **await recall_for({**mind, **words}, settings)}


async def recall_for(mind: Step, settings: Settings) -> Step:
    """The memories that the focal points recall, and their new last access; none if `ablation` leaves out recall."""
    if "recall" in settings.ablation:
        return {"recalled": []}
    situation = mind["situation"]
    recalled = await recall(
        settings,
        situation["simulation"],
        mind["name"],
        alive=mind["alive"],
        unsaved=mind.get("unsaved", []),
        stm=mind.get("stm"),
        focal_points=mind["focal_points"],
        emotion=mind["emotion"] or EmotionalState().model_dump(),
        turn=situation["turn"],
    )
    now = {r["id"]: situation["turn"] for r in recalled}
    return {"recalled": recalled, "alive": {**mind["alive"], **now}}


async def save_memories(mind: Step, settings: Settings) -> Step:
    """Write the memories that Chroma has not confirmed; the mind keeps full copies until this has succeeded.

    A companion's mind outlives the process, and an ephemeral store does not: then the mind keeps the copies.
    """
    unsaved = mind.get("unsaved", [])
    if "companion" in mind["situation"] and await asyncio.to_thread(resolved, settings.store) == EPHEMERAL:
        return {"unsaved": unsaved}
    if unsaved:
        await save(settings, mind["situation"]["simulation"], mind["name"], unsaved)
    return {"unsaved": []}


async def filter_memory(mind: Step, settings: Settings) -> Step:
    """Decide whether the memory in short-term memory will be kept; an unusable answer keeps it."""
    stm = mind.get("stm")
    if stm is None:
        return {"keep": True}
    simulation, name = mind["situation"]["simulation"], mind["name"]
    nearest = await similarity(
        settings, simulation, name, Memory.model_validate(stm), mind["alive"], mind.get("unsaved", [])
    )
    common = common_blocks(mind, await shown_memories(mind, settings))
    answer = await appraise(
        "memory_filtering",
        Consolidation,
        **question(mind, settings, "memory_filtering"),
        **common,
        leaving=common["short_term_memory"].items[0],
        similarity=nearest,
    )
    return {"keep": answer.value is None or answer.value.keep, "outcomes": judged([answer.call])}
