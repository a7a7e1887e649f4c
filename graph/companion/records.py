"""What a companion keeps in LangGraph's store: places, people, minds and ties.

Namespaces: (world, "place"), (world, "people"), (world, "minds"), (world, "ties", agent). One write changes mind and
tie together, so that none is ever ahead of the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, cast

from langgraph.config import get_store
from langgraph.store.base import BaseStore, Item, PutOp

from ...memory.recollection import remember
from ...models.limits import PerLoop
from ...personas.scenario import default_participants
from ...state.companion import CompanionMind, Tie, new_person_id, person_key, person_name
from ...state.companion.place import Agent, Place, place_of
from ...state.companion.trust import START, start_of
from ...state.errors import InputError, suggestion
from ...state.minds.memory import given_memories, goals_memory, profile_memory
from ...state.minds.mind import Mind
from ...state.plain_text import matching
from ...state.settings import Settings

PLACE: Final = "place"
_LOCKS: PerLoop[asyncio.Lock] = PerLoop()


def ties_of(world: str, agent: str) -> tuple[str, str, str]:
    """The namespace of an agent's ties.

    LangGraph takes no full stop in a namespace: a one dot leader stands for it, which no keyboard has.
    """
    return world, "ties", agent.replace(".", "\u2024")


def lock_of(world: str, agent: str) -> asyncio.Lock:
    """Who changes an agent's mind holds this lock: digests of one agent come one after the other."""
    return _LOCKS.get(("companion", world, agent), asyncio.Lock)


@asynccontextmanager
async def held_pair(world: str, agent: str, person: str, *, mind: bool) -> AsyncIterator[None]:
    """Hold what an agent knows of a person, and its mind too if that is to be changed.

    A digest holds the mind while models are asked. What comes in from another person must not wait for it.

    Args:
        world: its id.
        agent: the agent's full name.
        person: id of the person.
        mind: whether the mind is to be changed.
    """
    async with AsyncExitStack() as stack:
        if mind:
            await stack.enter_async_context(lock_of(world, agent))
        await stack.enter_async_context(_LOCKS.get(("companion", world, agent, person), asyncio.Lock))
        yield


class Records:
    """The records of one world.

    Args:
        world: its id.
        store: LangGraph's store; None: that of the running graph.
    """

    def __init__(self, world: str, store: BaseStore | None = None) -> None:
        self.world = world
        self._store = store if store is not None else _around()

    async def place(self) -> Place | None:
        """The world's place; None if it has none yet."""
        item = await self._store.aget((self.world, PLACE), PLACE)
        return Place.model_validate(item.value) if item else None

    async def keep_place(self, place: Place) -> None:
        """Write the world's place."""
        await self._store.aput((self.world, PLACE), PLACE, place.model_dump(mode="json"), index=False)

    async def person(self, name: str) -> tuple[str, str]:
        """Id and name of a person; a new one is written down.

        Raises:
            InputError: the name is empty or too long.
        """
        key = person_key(name)
        item = await self._store.aget((self.world, "people"), key)
        if item is None:
            found = {"id": new_person_id(name), "name": person_name(name)}
            await self._store.aput((self.world, "people"), key, found, index=False)
            return found["id"], found["name"]
        return item.value["id"], item.value["name"]

    async def people(self) -> list[dict[str, str]]:
        """All persons, `id` and `name`, by name."""
        found: list[dict[str, str]] = [dict(item.value) for item in await self._every((self.world, "people"))]
        return sorted(found, key=lambda one: one["name"].casefold())

    async def mind(self, agent: str) -> Mind | None:
        """An agent's mind; None if it has none yet."""
        item = await self._store.aget((self.world, "minds"), agent)
        return None if item is None else cast(Mind, dict(item.value))

    async def tie(self, agent: str, person: str) -> Tie | None:
        """What an agent knows of a person.

        Args:
            agent: its full name.
            person: id of the person.
        """
        item = await self._store.aget(ties_of(self.world, agent), person)
        return None if item is None else Tie.model_validate(item.value)

    async def pair(self, agent: str, person: str) -> tuple[Mind | None, Tie | None]:
        """An agent's mind, and what it knows of a person, read together."""
        mind, tie = await asyncio.gather(self.mind(agent), self.tie(agent, person))
        return mind, tie

    async def ties(self, agent: str) -> list[Tie]:
        """What an agent knows of everybody, by name."""
        found = [Tie.model_validate(item.value) for item in await self._every(ties_of(self.world, agent))]
        return sorted(found, key=lambda tie: tie.name.casefold())

    async def keep(self, agent: str, *, mind: Mind | None = None, tie: Tie | None = None) -> None:
        """Write mind and tie, both or none."""
        ops = []
        if mind is not None:
            own: CompanionMind = {**mind["companion"], "version": mind["companion"].get("version", 0) + 1}
            ops.append(PutOp((self.world, "minds"), agent, {**mind, "companion": own}, index=False))
        if tie is not None:
            ops.append(PutOp(ties_of(self.world, agent), tie.person, tie.model_dump(mode="json"), index=False))
        await self._store.abatch(ops)

    async def _every(self, namespace: tuple[str, ...]) -> list[Item]:
        found: list[Item] = []
        while page := await self._store.asearch(namespace, limit=1000, offset=len(found)):
            found += page
        return found


def _around() -> BaseStore:
    try:
        return get_store()
    except (RuntimeError, KeyError):
        found = None
    if found is None:
        raise InputError(
            "a companion keeps its mind in LangGraph's store, and this graph has none",
            where="graph companion",
            remedy="Compile it with companion_graph(checkpointer, store), or run it on LangGraph's server.",
        )
    return found


async def place_in(records: Records) -> Place:
    """The world's place; for a world without one, the first persona that comes with the program, and nothing else."""
    found = await records.place()
    if found is None:
        found = place_of((await asyncio.to_thread(default_participants))[0])
        await records.keep_place(found)
    return found


def agent_of(place: Place, name: str) -> Agent:
    """The agent of this name; the first one if the name is empty.

    Raises:
        InputError: there is none, or several.
    """
    names = [agent.name for agent in place.agents]
    found = matching(name, names) if name else names[:1]
    if len(found) != 1:
        several = f"{name!r} may be {' or '.join(found)}" if found else f"there is no agent {name!r}"
        raise InputError(several, where="agent", remedy=suggestion(name, names))
    return place.agent(found[0])


async def new_mind(place: Place, agent: Agent, settings: Settings, at: str) -> Mind:
    """An agent's mind before its first talk: profile, goals and given memories in long-term memory."""
    persona = agent.persona
    first = [profile_memory(persona)]
    if persona.social_goals:
        first.append(goals_memory(agent.name, persona.social_goals))
    every = [*first, *given_memories(persona)]
    await remember(settings, settings.companion.world, agent.name, every)
    return {
        "name": agent.name,
        "persona": {key: value for key, value in persona.model_dump().items() if key != "memories"},
        "goals": list(persona.social_goals),
        "emotion": agent.emotion.model_dump(),
        "stm": None,
        "alive": {memory.id: 0 for memory in every},
        "pinned": [memory.id for memory in first],
        "unsaved": [memory.model_dump() for memory in every],
        "insights": [],
        "utterances": 0,
        "companion": {
            "tick": 0,
            "version": 0,
            "last": at,
            "private": {},
            "digested": [],
            "since_reflection": 0,
            "at": place.home(agent),
            "seen": [],
            "day": "",
            "plan": [],
        },
    }


def new_tie(place: Place, agent: Agent, person: str, name: str, at: str) -> Tie:
    """What an agent knows of a person whom it meets for the first time, or has known before the world began."""
    known = next((one for one in place.people if person_key(one.name) == person_key(name)), None)
    if known is None:
        return Tie(person=person, name=name, trust=_first_trust(agent, "unknown"), first_met=at)
    own = known.relationship
    return Tie(
        person=person,
        name=name,
        introduced=known.introduced,
        trust=_first_trust(agent, own.type),
        type=own.type,
        side=own.side,
        note=own.note,
        first_met=at,
    )


def _first_trust(agent: Agent, relationship: str) -> int:
    """Trust at the beginning: the agent's own where the relationship has none of its own."""
    usual = start_of(relationship)
    return agent.trust if agent.trust is not None and usual == START else usual
