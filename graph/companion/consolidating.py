"""Consolidating: what is kept of talks that are over, and what the agent makes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import END, START

from ...memory.consolidation import admit
from ...memory.recollection import memories_of, remember
from ...nodes.companion.consolidating import consolidate
from ...nodes.companion.view import known_hearers, returned
from ...nodes.minds.appraising import wonder
from ...nodes.minds.remembering import recall_for, remember_thoughts, save_memories
from ...nodes.minds.thinking import reflect
from ...state.companion import Tie
from ...state.companion.facts import DROPPED, Line, has_any, outdated_words
from ...state.companion.state import CompanionState
from ...state.errors import ModelError
from ...state.minds.memory import Memory
from ...state.minds.mind import Mind, Step
from ...state.settings import Settings
from ..langgraph_compat import UNCHECKPOINTED
from ..minds.building import MindGraph, mind_builder
from .attending import is_own
from .scene import Scene, about, gone, of_talk

LONG_TALK: Final = 6
"""Exchanges of a talk after which the agent reflects."""


async def look_back(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Keep what matters of the talks that are over; a talk whose model fails stays for the next time.

    A talk of another thread stays until that thread's next run: this one does not have its words.

    Afterwards the agent reflects, if the talk was long or enough has happened since it last did.
    """
    done: list[dict[str, Any]] = []
    scene = await Scene.of(settings)
    async with scene.held() as scene:
        settings = scene.settings
        for talk in list(scene.tie.over):
            mind, said = scene.mind, of_talk(state.get("messages", []), talk.id)
            lines = [
                Line(isinstance(one, AIMessage), str(one.text), about(one)["at"], about(one)["exchange"])
                for one in said
            ]
            if not lines and not is_own(talk, settings):
                continue
            tick, shared = mind["companion"].get("tick", 0), scene.place.share_between_people
            try:
                found = await consolidate(
                    mind, scene.tie, talk, lines, settings, tick=tick, place=scene.at_home, shared=shared
                )
            except ModelError as error:
                done.append({"talk": talk.id, "failed": str(error)})
                break
            stale = await tellings_of(mind, found.tie, found.gone, settings)
            mind = await with_memories(mind, found.memories, [*found.gone, *stale], settings)
            scene = replace(scene, mind=mind, tie=found.tie)
            if found.memories:
                step = scene.step(talk, said, exchange="", at=talk.last, tick=tick)
                mind = await _thought(mind, step, settings, long=talk.exchanges >= LONG_TALK)
                scene = replace(scene, mind=mind)
                done.append({"talk": talk.id, "summary": found.summary, "trust": found.tie.trust, "facts": found.facts})
            await scene.keep(mind=mind, tie=found.tie)
            scene = await scene.again()
    removed = [RemoveMessage(id=one) for one in gone(state.get("messages", []), scene.tie)]
    return {"consolidated": done, **({"messages": removed} if removed else {})}


async def with_memories(mind: Mind, made: Sequence[Memory], gone: Collection[str], settings: Settings) -> Mind:
    """The mind with new memories of a person, and without others, which are no longer true or are forgotten.

    Args:
        mind: the whole mind.
        made: new memories; facts are pinned.
        gone: ids of those that it must not recall any more.
        settings: of the companion.
    """
    alive = {memory: turn for memory, turn in mind["alive"].items() if memory not in gone}
    pinned = [memory for memory in mind["pinned"] if memory in alive]
    pinned = list(dict.fromkeys([*pinned, *(memory.id for memory in made if memory.kind == "fact")]))
    own, stm = mind["companion"], mind.get("stm")
    tick = own.get("tick", 0)
    await remember(settings, settings.companion.world, mind["name"], made)
    for memory in made:
        alive, _ = admit(alive, memory.id, tick, settings.ltm_capacity, pinned)
    whole = [memory.model_dump() for memory in made]
    importance = sum(memory.importance for memory in made)
    return {
        **mind,
        "alive": alive,
        "pinned": pinned,
        "stm": None if stm and stm["id"] in gone else stm,
        "unsaved": [*(memory for memory in mind.get("unsaved", []) if memory["id"] not in gone), *whole],
        "companion": {
            **own,
            "private": known_hearers(own.get("private", {}), whole, alive),
            "since_reflection": own.get("since_reflection", 0) + importance,
        },
    }


async def tellings_of(mind: Mind, tie: Tie, facts: Collection[str], settings: Settings) -> list[str]:
    """Ids of memories alive that tell of facts as well: percepts of their words, talks and insights with what was so.

    Args:
        mind: the whole mind.
        tie: with these facts.
        facts: ids of those that were replaced or are to be forgotten; those that only made room still hold.
        settings: of the companion.
    """
    told = {fact.exchange for fact in tie.facts if fact.id in facts and fact.exchange and fact.replaced_by != DROPPED}
    words = outdated_words(tie, facts, mind["name"])
    if not told and not words:
        return []
    stm = mind.get("stm")
    carried = [*mind.get("unsaved", []), *([stm] if stm else [])]
    ids = list(dict.fromkeys([*mind["alive"], *(memory["id"] for memory in carried)]))
    known = await memories_of(settings, settings.companion.world, mind["name"], ids, carried)
    own = [memory for memory in known if memory.circumstance and memory.circumstance.person == tie.person]
    percepts = [memory for memory in own if memory.kind == "perception" and _exchange(memory) in told]
    private = [memory for memory in known if memory.kind == "reflection" and tie.person in (memory.heard_by or ())]
    talks = [memory for memory in own if memory.kind == "talk"]
    outdated = [memory for memory in (*talks, *private) if has_any(memory.text, words)]
    return [memory.id for memory in (*percepts, *outdated)]


def _exchange(memory: Memory) -> str:
    return memory.circumstance.exchange if memory.circumstance else ""


def _thinking_back(*modules: Callable[..., Any]) -> MindGraph:
    """The graph of modules one after another."""
    builder, names = mind_builder(*modules), [module.__name__ for module in modules]
    for before, after in pairwise([START, *names, END]):
        builder.add_edge(before, after)
    return builder.compile(False, name="thinking_back")


_THINKING_BACK: Final = _thinking_back(wonder, recall_for, reflect, remember_thoughts, save_memories)
_SAVING: Final = _thinking_back(save_memories)


async def _thought(mind: Mind, step: Step, settings: Settings, *, long: bool) -> Mind:
    """The mind after a look back; a model that fails leaves no insights, and nothing is lost."""
    reflects = long or mind["companion"].get("since_reflection", 0) >= settings.companion.reflection_trigger
    try:
        after = await (_THINKING_BACK if reflects else _SAVING).ainvoke(step, UNCHECKPOINTED, context=settings)
    except ModelError:
        return mind
    changed = returned(mind, step, after, settings.ltm_capacity)
    if reflects:
        changed["companion"] = {**changed["companion"], "since_reflection": 0}
    return changed
