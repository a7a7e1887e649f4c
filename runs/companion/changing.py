"""Changes to an open world: its agents and their facts, what people are called, what time it is.

An agent that has talked has a mind with its own copy of the persona, which changes along. Callers see to it that nobody
talks with an agent or person that changes.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ...graph.companion.consolidating import tellings_of, with_memories
from ...graph.companion.records import held_pair, lock_of, ties_of
from ...memory.recollection import remember
from ...state.companion import CompanionMind, Tie, new_person_id, person_key, person_name
from ...state.companion.facts import Origin, Taken, edited, forgotten, outdated_words, pinned, without_outdated
from ...state.companion.place import Agent, Place
from ...state.document import Document, dotted
from ...state.errors import InputError, MachineError, suggestion
from ...state.minds.emotion import EMOTIONS
from ...state.minds.memory import profile_memory
from ...state.minds.mind import Mind
from ...state.plain_text import folded
from ...state.validation_errors import input_error
from ..folder.lock import LOCK, PID, held
from ..threads import in_thread
from .keys import rename_keys
from .personal_data import with_what_rests_on
from .session import Companion
from .world import World

_PLACE: Final = ""
"""In the place of an agent's name: the lock of the world's place."""


async def set_time(world: World, time: str, sec_per_step: int | None = None) -> None:
    """Set the world's clock.

    Args:
        world: the world.
        time: ISO time; empty: it stays.
        sec_per_step: seconds of game time that a step takes; None: as before.

    Raises:
        MachineError: it cannot be kept.
    """
    if time:
        await world.set_time(time)
    clock = world.place.clock
    if sec_per_step is not None and sec_per_step != clock.sec_per_step:
        clock = clock.model_copy(update={"sec_per_step": sec_per_step})
        await _change(world, lambda place: place.model_copy(update={"clock": clock}))


async def move_agent(world: World, agent: str, address: str) -> None:
    """Let an agent be somewhere else.

    Args:
        world: the world.
        agent: its full name.
        address: sector/arena.

    Raises:
        MachineError: it cannot be kept.
    """
    records = world.records
    async with lock_of(world.name, agent):
        mind = await records.mind(agent)
        if mind is not None and mind["companion"].get("at") != address:
            own: CompanionMind = {**mind["companion"], "at": address}
            await records.keep(agent, mind={**mind, "companion": own})
    if world.place.agent(agent).at != address:
        moved = world.place.agent(agent).model_copy(update={"at": address})
        await _change(world, lambda place: _with_agent(place, moved))


async def update_agent(world: World, changed: Agent) -> None:
    """Replace what is known of an agent; its name stays.

    Raises:
        InputError: the place would not fit together any more.
        MachineError: it cannot be kept.
        ModelError: its new profile could not be embedded.
    """
    before = world.place.agent(changed.name)
    if changed == before:
        return
    records = world.records
    _checked(_with_agent(world.place, changed))
    async with lock_of(world.name, changed.name):
        mind = await records.mind(changed.name)
        if mind is not None and changed.persona != before.persona:
            await records.keep(changed.name, mind=await _with_profile(world, mind, before, changed))
        await _change(world, lambda place: _with_agent(place, changed))


async def add_agent(world: World, agent: Agent, place: Place) -> None:
    """Add an agent to a world.

    Args:
        world: the world.
        agent: the new one.
        place: of the world, with the parts that the agent brings along.

    Raises:
        InputError: there is an agent of this name, or the place would become too large.
        MachineError: it cannot be kept.
    """
    same = [one for one in world.agents if folded(one) == folded(agent.name)]
    if same:
        raise InputError(f"there is an agent {same[0]!r} already", where="name", remedy="Give it another name.")
    await _change(world, lambda now: place.model_copy(update={"agents": [*now.agents, agent]}))


async def rename_person(world: World, old: str, new: str) -> str:
    """Give a person another name; what agents know of the person goes along.

    Args:
        world: the world.
        old: the name so far.
        new: the name from now on.

    Returns:
        The new name as it is written down.

    Raises:
        InputError: nobody has the old name, or somebody whom an agent remembers has the new one.
        MachineError: it cannot be kept.
    """
    was, becomes, shown = person_key(old), person_key(new), person_name(new)
    people = await world.people()
    known = next((one for one in people if person_key(one["name"]) == was), None)
    if known is None:
        names = [one["name"] for one in people]
        remedy = suggestion(old, names) if names else "A person is known after their first words."
        raise InputError(f"nobody is called {old!r} here", where="old_name", remedy=remedy)
    taken = next((one for one in people if person_key(one["name"]) == becomes and one["id"] != known["id"]), None)
    records = world.records
    agents = [agent for agent in world.agents if await records.tie(agent, known["id"]) is not None]
    if taken is not None:
        for agent in world.agents:
            tie = await records.tie(agent, taken["id"])
            if tie is not None and _is_remembered(tie):
                raise InputError(
                    f"{agent} remembers another person called {taken['name']!r}",
                    where="name",
                    remedy="Choose another name; two persons are never made one.",
                )
        for agent in world.agents:
            await world.store.adelete(ties_of(world.name, agent), taken["id"])
    for agent in agents:
        await (await world.companion(agent, old)).settled()
    namespace = (world.name, "people")
    await world.store.aput(namespace, becomes, {"id": known["id"], "name": shown}, index=False)
    if was != becomes:
        # Whoever has the old name next is somebody else, and must not get the id of the one who had it.
        other = _free_id(old, {one["id"] for one in people})
        await world.store.aput(namespace, was, {"id": other, "name": known["name"]}, index=False)
    for agent in agents:
        async with held_pair(world.name, agent, known["id"], mind=True):
            tie = await records.tie(agent, known["id"])
            if tie is not None:
                await records.keep(agent, tie=tie.model_copy(update={"name": shown}))
    await in_thread(rename_keys, world.store, world.name, old, shown)
    if any(person_key(one.name) == was for one in world.place.people):
        await _change(world, lambda place: _with_name(place, was, shown))
    return shown


def copy_world(source: Path, target: Path) -> None:
    """Copy the folder of a closed world. Blocks.

    Raises:
        InputError: the world is open.
        MachineError: the copy cannot be written.
    """
    beside = target.with_name(f"{target.name}.new")
    with held(source, "world"):
        try:
            shutil.rmtree(beside, ignore_errors=True)
            shutil.copytree(source, beside, ignore=shutil.ignore_patterns(LOCK, PID))
            beside.rename(target)
        except (OSError, shutil.Error) as error:
            shutil.rmtree(beside, ignore_errors=True)
            cause = error if isinstance(error, OSError) else OSError(str(error))
            raise MachineError.caused_by(cause, "the world cannot be copied", str(target)) from error


async def _with_profile(world: World, mind: Mind, before: Agent, after: Agent) -> Mind:
    """The mind with the new persona, and its profile in memory in place of the old one."""
    old, new = profile_memory(before.persona), profile_memory(after.persona)
    persona: dict[str, Any] = {key: value for key, value in after.persona.model_dump().items() if key != "memories"}
    if old.id == new.id:
        return {**mind, "persona": persona}
    await remember(world.settings, world.name, after.name, [new])
    tick = mind["companion"].get("tick", 0)
    unsaved = [memory for memory in mind.get("unsaved", []) if memory["id"] != old.id]
    return {
        **mind,
        "persona": persona,
        "alive": {new.id: tick, **{memory: turn for memory, turn in mind["alive"].items() if memory != old.id}},
        "pinned": [new.id, *(memory for memory in mind["pinned"] if memory != old.id)],
        "unsaved": [*unsaved, new.model_dump()],
    }


async def _change(world: World, change: Callable[[Place], Place]) -> None:
    """Change the place; one change comes after the other."""
    async with lock_of(world.name, _PLACE):
        await world.change_place(_checked(change(world.place)))


def _checked(place: Place) -> Place:
    """A place that can be read again.

    Raises:
        InputError: something does not fit together.
    """
    data = place.model_dump(mode="json", by_alias=True)
    try:
        found = Place.model_validate(data)
    except ValidationError as error:
        raise input_error(error, Place, Document(data)) from None
    for at, what, remedy in found.problems():
        raise InputError(what, where=f"field {dotted(at)}", remedy=remedy)
    return found


def _with_name(place: Place, key: str, name: str) -> Place:
    people = [one.model_copy(update={"name": name}) if person_key(one.name) == key else one for one in place.people]
    return place.model_copy(update={"people": people})


def _with_agent(place: Place, changed: Agent) -> Place:
    agents = [changed if agent.name == changed.name else agent for agent in place.agents]
    return place.model_copy(update={"agents": agents})


def _is_remembered(tie: Tie) -> bool:
    return bool(tie.talks or tie.talk or tie.over or tie.facts)


def _free_id(name: str, used: set[str]) -> str:
    number = 0
    while new_person_id(name, number) in used:
        number += 1
    return new_person_id(name, number)


# What people do to single facts; terminal and page share it


async def pin_fact(companion: Companion, fact: str, pin: bool = True) -> Tie:
    """Keep a fact when there are too many, or no longer.

    Args:
        companion: of agent and person.
        fact: its id.
        pin: whether it is kept.

    Raises:
        InputError: there is no such fact in force.
    """

    async def change(tie: Tie, _: Mind) -> Taken:
        return Taken(pinned(tie, fact, pin))

    return await _changed(companion, change)


async def edit_fact(companion: Companion, fact: str, statement: str, by: str) -> Tie:
    """Write another statement in place of a fact, which is kept as replaced.

    Args:
        companion: of agent and person.
        fact: its id.
        statement: what is true instead.
        by: who writes it.

    Raises:
        InputError: there is no such fact in force, or the statement is empty.
    """
    world = companion.world

    async def change(tie: Tie, mind: Mind) -> Taken:
        own = mind["companion"]
        origin = Origin(
            agent=companion.agent,
            tick=own.get("tick", 0),
            emotion=tuple(mind["emotion"][name] for name in EMOTIONS),
            talk="",
            at=world.now(),
            place=own.get("at", ""),
            shared=world.place.share_between_people,
        )
        made = edited(tie, fact, statement, by, origin)
        told = await tellings_of(mind, made.tie, made.gone, world.settings)
        words = outdated_words(made.tie, made.gone, companion.agent)
        return Taken(without_outdated(made.tie, words), made.memories, [*made.gone, *told])

    return await _changed(companion, change)


async def forget_fact(companion: Companion, fact: str) -> Tie:
    """Forget a fact and what it had replaced, with percepts, summaries and insights that tell of it.

    They are recalled no more. The talk in which the fact was told stays in the transcript, and Chroma's files keep the
    words until the person is forgotten.

    Args:
        companion: of agent and person.
        fact: its id.

    Raises:
        InputError: there is no such fact.
    """
    world = companion.world

    async def change(tie: Tie, mind: Mind) -> Taken:
        left, gone = forgotten(tie, fact)
        told = await tellings_of(mind, tie, gone, world.settings)
        left = without_outdated(left, outdated_words(tie, gone, companion.agent))
        known = await asyncio.to_thread(world.memories, mind)
        return Taken(left, [], sorted(with_what_rests_on({*gone, *told}, known.values())))

    return await _changed(companion, change)


async def _changed(companion: Companion, change: Callable[[Tie, Mind], Awaitable[Taken]]) -> Tie:
    """The tie after a change, which is written together with the mind; no digest is under way meanwhile."""
    world = companion.world
    await companion.settled()
    async with held_pair(world.name, companion.agent, companion.person_id, mind=True):
        tie, mind = await companion.tie(), await world.mind(companion.agent)
        if tie is None or mind is None:
            raise InputError(
                f"{companion.agent} has never talked with {companion.person!r}",
                where=f"world {world.folder}",
                remedy="Talk first.",
            )
        taken = await change(tie, mind)
        mind = await with_memories(mind, taken.memories, taken.gone, world.settings)
        await world.records.keep(companion.agent, mind=mind, tie=taken.tie)
    return taken.tie
