"""Consolidating: what is kept of talks that are over, and what the agent makes of it (design, 1.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.graph import END, START

from persimchat.graph.companion.attending import is_own, pair_in
from persimchat.graph.companion.lines import about, gone, of_talk
from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.situation import step_of
from persimchat.graph.langgraph_compat import UNCHECKPOINTED
from persimchat.graph.minds import MindGraph, mind_builder
from persimchat.memory.consolidation import admit
from persimchat.memory.recollection import memories_of, remember
from persimchat.nodes.companion_view import known_hearers, returned
from persimchat.nodes.consolidating import consolidate
from persimchat.nodes.focal_points import wonder
from persimchat.nodes.reflection import reflect
from persimchat.nodes.remembering import recall_for, remember_thoughts
from persimchat.nodes.saving import save_memories
from persimchat.state.companion import Tie
from persimchat.state.companion_state import CompanionState
from persimchat.state.errors import ModelError
from persimchat.state.facts import DROPPED, Line, has_any, outdated_words
from persimchat.state.memory import Memory
from persimchat.state.mind import Mind, Step
from persimchat.state.settings import Settings

LONG_TALK: Final = 6
"""Exchanges of a talk after which the agent reflects."""


async def look_back(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Keep what matters of the talks that are over; a talk whose model fails stays for the next time.

    A talk of another thread stays until that thread's next run: this one does not have its words.

    Afterwards the agent reflects, if the talk was long or enough has happened since it last did.
    """
    pair = await pair_in(settings)
    records, place, agent = pair.records, pair.place, pair.agent
    settings = agent.recall.settings(settings)
    done: list[dict[str, Any]] = []
    async with lock_of(records.world, agent.name):
        mind, tie = await records.pair(agent.name, pair.person)
        for talk in list(tie.over if tie else ()):
            assert tie is not None and mind is not None
            lines = [
                Line(
                    isinstance(message, AIMessage), str(message.text), about(message)["at"], about(message)["exchange"]
                )
                for message in of_talk(state.get("messages", []), talk.id)
            ]
            if not lines and not is_own(talk, settings):
                continue
            where = mind["companion"].get("at", "") or place.home(agent)
            tick = mind["companion"].get("tick", 0)
            try:
                found = await consolidate(
                    mind, tie, talk, lines, settings, tick=tick, place=where, shared=place.share_between_people
                )
            except ModelError as error:
                done.append({"talk": talk.id, "failed": str(error)})
                break
            stale = await tellings_of(mind, found.tie, found.gone, settings)
            mind = await with_memories(mind, found.memories, [*found.gone, *stale], settings)
            tie = found.tie
            if found.memories:
                step = step_of(
                    place, agent, mind, tie, talk, of_talk(state["messages"], talk.id), settings,
                    exchange="", at=talk.last, tick=tick,
                )  # fmt: skip
                mind = await _thought(mind, step, settings, long=talk.exchanges >= LONG_TALK)
                done.append({"talk": talk.id, "summary": found.summary, "trust": tie.trust, "facts": found.facts})
            await records.keep(agent.name, mind=mind, tie=tie)
    removed = [RemoveMessage(id=one) for one in gone(state.get("messages", []), tie)] if tie else []
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


def build_thinking_back(*, reflects: bool) -> MindGraph:
    """Wonder → recall → reflect → remember → save; without reflection, the memories are saved only."""
    builder = mind_builder(wonder, recall_for, reflect, remember_thoughts, save_memories)
    modules = (
        ["wonder", "recall_for", "reflect", "remember_thoughts", "save_memories"] if reflects else ["save_memories"]
    )
    for before, after in zip([START, *modules], [*modules, END], strict=True):
        builder.add_edge(before, after)
    return builder.compile(False, name="thinking_back")


_THINKING_BACK: Final = build_thinking_back(reflects=True)
_SAVING: Final = build_thinking_back(reflects=False)


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
