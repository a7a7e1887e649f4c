"""What happens in an open world without anybody's doing: planned events, and the states of its objects.

The store holds the place as it is now; place.yaml stays as it was written. What is planned for a time at which the
world was closed does not happen.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from langgraph.store.base import BaseStore

from persimchat.graph.companion.records import PLACE, Records
from persimchat.state.companion import Happening
from persimchat.state.happenings import changes_something, due, key_of, perceived, place_after
from persimchat.state.place import Place

_FIRED: Final = "fired"
"""Key of the record of the planned events that have happened and do not happen again."""


class Surroundings:
    """The surroundings of the agents of one world.

    Args:
        world: its id.
        store: LangGraph's.
        now: when the world was opened, ISO time.
    """

    def __init__(self, world: str, store: BaseStore, now: str) -> None:
        self._records, self._store, self._space = Records(world, store), store, (world, PLACE)
        self._since = now
        self._opened: Place | None = None
        self._known: dict[str, Place] = {}  # the place as each agent has seen it last
        self._waiting: dict[str, list[Happening]] = defaultdict(list)
        self._order = asyncio.Lock()

    async def noted(self, agent: str, events: Sequence[Happening]) -> list[Happening]:
        """Take in what a client says happens around an agent: objects change their states.

        Args:
            agent: its full name.
            events: what it perceives.

        Returns:
            The events without those that say what the agent knew already.
        """
        async with self._order:
            place = await self._place()
            return list(events) if place is None else await self._told(agent, place, events)

    async def passed(self, now: str) -> None:
        """Let time pass: planned events that are due happen, and wait for the agents that perceive them.

        Args:
            now: ISO time; a clock that is set back makes nothing happen.
        """
        async with self._order:
            since, self._since = self._since, now
            place = await self._place()
            if place is None or not place.events:
                return
            item = await self._store.aget(self._space, _FIRED)
            fired = list(item.value["keys"]) if item else []
            happens = due(place.events, since, now, fired)
            for event in happens:
                for agent in place.agents:
                    mind = await self._records.mind(agent.name)
                    at = (mind or {}).get("companion", {}).get("at") or place.home(agent)
                    self._waiting[agent.name] += await self._told(agent.name, place, perceived(event, place, at))
                place = await self._changed(place, event.happenings())
            once = [key_of(event) for event in happens if event.once]
            if once:
                await self._store.aput(self._space, _FIRED, {"keys": [*fired, *once]}, index=False)

    def is_due(self, place: Place, agent: str, now: str) -> bool:
        """Whether a planned event is due, or waits for an agent.

        Args:
            place: of the world.
            agent: its full name.
            now: ISO time.
        """
        return bool(self._waiting.get(agent) or due(place.events, self._since, now))

    def taken(self, agent: str) -> list[Happening]:
        """What has happened around an agent since it last perceived anything; it does not wait any longer."""
        return self._waiting.pop(agent, [])

    async def _place(self) -> Place | None:
        """The place as it is now."""
        place = await self._records.place()
        self._opened = self._opened or place
        return place

    async def _told(self, agent: str, place: Place, events: Iterable[Happening]) -> list[Happening]:
        """The events that are more than the agent knew of the place; the store has the place after them."""
        known = self._known.get(agent, self._opened or place)
        news = [one for one in events if changes_something(known, one)]
        self._known[agent] = place_after(known, news)
        await self._changed(place, news)
        return news

    async def _changed(self, place: Place, events: Sequence[Happening]) -> Place:
        after = place_after(place, events)
        if after != place:
            await self._records.keep_place(after)
        return after
