"""What people do to single facts: pin, edit, forget. Terminal and page share it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from persimchat.graph.companion.consolidating import tellings_of, with_memories
from persimchat.graph.companion.records import held_pair
from persimchat.runs.companion.belonging import with_what_rests_on
from persimchat.runs.companion.export import memories_of_mind
from persimchat.runs.companion.session import Companion
from persimchat.state.companion import Tie
from persimchat.state.emotion import EMOTIONS
from persimchat.state.errors import InputError
from persimchat.state.facts import Origin, Taken, edited, forgotten, outdated_words, pinned, without_outdated
from persimchat.state.mind import Mind


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
        known = await asyncio.to_thread(memories_of_mind, world, mind)
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
