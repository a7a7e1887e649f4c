"""The session of one agent and one person: occurrences in, events out. Terminal, page, `/v1`, UDP and Python share it.

Each occurrence is one run of the graph. The words of an answer come first; the digest follows in the same run. If the
person speaks again meanwhile, the run is stopped and the next one begins (runs/companion/running.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Final, cast

from persimchat.graph.companion.attending import words_of
from persimchat.runs.companion.events import Event
from persimchat.runs.companion.running import Run, Runs
from persimchat.state.companion import Exchange, Happening, Occurrence, Tie, thread_id
from persimchat.state.errors import InputError, PerSimChatError

if TYPE_CHECKING:
    from persimchat.runs.companion.world import World

_LONGEST_ID: Final = 64


class Companion:
    """One agent and one person. `World.companion` makes it.

    Args:
        world: the open world.
        agent: the agent's full name.
        person: `id` and `name` of the person.
        introduced: whether they know each other by name when they meet; None: as settings and place say.
    """

    def __init__(self, world: World, agent: str, person: Mapping[str, str], *, introduced: bool | None = None) -> None:
        self.world, self.agent, self.person, self.person_id = world, agent, person["name"], person["id"]
        self.introduced = introduced
        own = world.settings.companion.model_copy(update={"agent": agent, "person": self.person})
        self._settings = world.settings.model_copy(update={"companion": own})
        self.thread = thread_id(world.name, agent, self.person_id)
        self._runs = Runs(world, agent, self.person_id, self.thread, self._settings, self.catch_up)
        self._order = asyncio.Lock()
        self._behind: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Read what an earlier process left."""
        await self._runs.load()

    @property
    def pending(self) -> list[Exchange]:
        """Exchanges that are answered and not digested yet."""
        return self._runs.pending

    @property
    def why(self) -> Mapping[str, Any]:
        """What the last answer rests on: `facts` and `recalled`, the memories with their scores."""
        return self._runs.why

    async def say(
        self,
        text: str,
        *,
        id: str = "",
        talk: str = "",
        seed: int = 0,
        temperature: float | None = None,
        shown: Sequence[Mapping[str, str]] = (),
        instructions: str = "",
    ) -> AsyncIterator[Event]:
        """Say something to the agent.

        The words of the answer come as they are made, then `Answered`; and `Answered` again once emotion and trust are
        known, and `TalkOver` if a talk is over. A caller may stop reading at any time: all goes on by itself.

        Args:
            text: the person's words, 1 to 8,000 characters.
            id: of the exchange; what was answered under this id is answered in the same way again.
            talk: the client's name for its talk.
            seed: added to the seed, for another answer to the same words.
            temperature: of the model that words the answer; None: the settings'.
            shown: earlier lines (`speaker`: agent or person, `text`) that the client shows; nobody remembers them.
            instructions: what the client says of the scene; data, never obeyed.

        Raises:
            InputError: the words are empty or too long; nothing is remembered.
            ModelError: no answer; the words are kept, and the next message goes on.
            DayBudgetExhausted: the world's requests of today are used up.
        """
        given = Occurrence(kind="message", text=text)
        given["text"] = words_of(given)
        if id:
            given["id"] = _checked_id(id)
        extra = {"talk": talk, "seed": seed, "shown": [dict(one) for one in shown], "instructions": instructions}
        given |= cast(Occurrence, {name: value for name, value in extra.items() if value})
        if temperature is not None:
            given["temperature"] = temperature
        if self.introduced is not None:
            given["introduced"] = self.introduced
        course = self._runs.known(given.get("id", ""))
        if course is None:
            async with self._order:
                course = self._runs.known(given.get("id", ""))
                if course is None:
                    await self._runs.make_way()
                    course = self._runs.begin(given)
        async with aclosing(course.events()) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def happen(self, events: Sequence[Happening]) -> AsyncIterator[Event]:
        """Let the agent perceive events; it may act, or speak unasked.

        Raises:
            ModelError: a model failed.
        """
        news = await self.world.surroundings.noted(self.agent, events)
        if news:
            async for event in self._after_all(self._events(news)):
                yield event

    async def end(self) -> AsyncIterator[Event]:
        """End the open talk and consolidate it."""
        async for event in self._after_all(Occurrence(kind="end")):
            yield event

    async def pass_time(self) -> None:
        """Tell the agent that time has passed: a talk may be over by silence, a day begun, a planned event due."""
        if self._runs.now is None or self._runs.now.over:
            async for _ in self._after_all(Occurrence(kind="time")):
                pass
        await self.world.surroundings.passed(self.world.now())
        if news := self.world.surroundings.taken(self.agent):
            async for _ in self._after_all(self._events(news)):
                pass

    def _events(self, news: Sequence[Happening]) -> Occurrence:
        given = Occurrence(kind="events", events=[one.model_dump(mode="json") for one in news])
        if not self.world.ledger.may_speak_unasked(self._settings):
            given["unasked"] = False
        return given

    async def retract(self) -> bool:
        """Take the last exchange back, as if it had not been; not one whose talk is consolidated.

        Returns:
            Whether one was taken back.
        """
        async with self._order:
            await self._runs.finish()
            before = await self._runs.values()
            course = self._runs.begin(Occurrence(kind="retract"))
            run = cast(Run, self._runs.now)
            with suppress(PerSimChatError):
                await cast("asyncio.Task[None]", run.task)
            if not run.took_back:
                return False
            pending = list(before.get("pending") or [])
            taken = pending[-1]["id"] if pending else str((before.get("undo") or {}).get("exchange", ""))
            self._runs.take_back(taken)
            return course.over

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while True:
            behind = self._behind
            if behind is not None:
                await asyncio.wait([behind])
            async with self._order:
                await self._runs.finish()
            if self._behind is behind:
                return

    async def stop(self) -> None:
        """Stop what is under way; what is not digested stays for later."""
        if self._behind is not None and not self._behind.done():
            self._behind.cancel()
            await asyncio.wait([self._behind])
        await self._runs.stop()

    def catch_up(self) -> None:
        """Do in the background what is left: digest and consolidate, plan the day; a message goes before."""
        if self._behind is None or self._behind.done():
            self._behind = asyncio.create_task(self._caught_up())

    async def exchanges(self, last: int | None = None) -> list[Exchange]:
        """The exchanges of this pair in their order, without those taken back.

        Args:
            last: how many; None: all.
        """
        found = [*self.world.said.of(self.agent, self.person_id, last), *self.pending]
        return found if last is None else found[max(0, len(found) - last) :]

    async def tie(self) -> Tie | None:
        """What the agent knows of the person; None before their first words."""
        return await self.world.tie(self.agent, self.person_id)

    async def forget(self) -> None:
        """Delete all that the agent holds of the person. This session is over then; `World.companion` begins another.

        Raises:
            InputError: the agent knows nothing of the person.
        """
        await self.world.forget(self.person, self.agent)

    async def _after_all(self, given: Occurrence) -> AsyncIterator[Event]:
        """The events of an occurrence that waits until everything before it is over."""
        async with self._order:
            await self._runs.finish()
            course = self._runs.begin(given)
        async with aclosing(course.events()) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def _caught_up(self) -> None:
        with suppress(PerSimChatError):
            await self._runs.finish()
            await self.pass_time()


def _checked_id(given: str) -> str:
    if len(given) > _LONGEST_ID or not given.isprintable():
        raise InputError(
            "the id of a message is not usable", where="id", remedy=f"Give 1 to {_LONGEST_ID} printable characters."
        )
    return given
