"""What happens in an open world without anybody's doing: planned events, and the states of its objects.

The store holds the place as it is now; place.yaml stays as it was written. What is planned for a time at which the
world was closed does not happen.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
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
        self._waiting: dict[str, list[Happening]] = defaultdict(list)
        self._order = asyncio.Lock()

    async def noted(self, events: Sequence[Happening]) -> list[Happening]:
        """Take in what a client says has happened: objects change their states.

        Returns:
            The events without those that say what was known already.
        """
        async with self._order:
            place = await self._records.place()
            if place is None:
                return list(events)
            return await self._changed(place, events)

    async def passed(self, now: str) -> None:
        """Let time pass: planned events that are due happen, and wait for the agents that perceive them.

        Args:
            now: ISO time; a clock that is set back makes nothing happen.
        """
        async with self._order:
            since, self._since = self._since, now
            place = await self._records.place()
            if place is None or not place.events:
                return
            item = await self._store.aget(self._space, _FIRED)
            fired = list(item.value["keys"]) if item else []
            happens = due(place.events, since, now, fired)
            for event in happens:
                for agent in place.agents:
                    mind = await self._records.mind(agent.name)
                    at = (mind or {}).get("companion", {}).get("at") or place.home(agent)
                    self._waiting[agent.name] += perceived(event, place, at)
                await self._changed(place, event.happenings())
                place = await self._records.place() or place
            once = [key_of(event) for event in happens if event.once]
            if once:
                await self._store.aput(self._space, _FIRED, {"keys": [*fired, *once]}, index=False)

    def taken(self, agent: str) -> list[Happening]:
        """What has happened around an agent since it last perceived anything; it does not wait any longer."""
        return self._waiting.pop(agent, [])

    async def _changed(self, place: Place, events: Sequence[Happening]) -> list[Happening]:
        """The events that change something; the store has the place after them."""
        news = [one for one in events if changes_something(place, one)]
        after = place_after(place, news)
        if after != place:
            await self._records.keep_place(after)
        return news
