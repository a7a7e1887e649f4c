"""The session of one agent and one person: occurrences in, events out. Terminal, page, `/v1`, UDP and Python share it.

Each occurrence is one run of the graph. The words of an answer come first; the digest follows in the same run. If the
person speaks again meanwhile, the run is stopped and the next one begins: what is not digested stays in the checkpoint,
and the next digest takes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.runnables import RunnableConfig

from persimchat.graph.checkpoint_ids import abegin_above_kept
from persimchat.graph.companion.attending import words_of
from persimchat.graph.companion.digesting import TRIES
from persimchat.models.ledger import LEDGER
from persimchat.runs.companion.budget import talking_with
from persimchat.runs.companion.course import Course, Run, Words, acted, answered, talk_over
from persimchat.runs.companion.events import Event
from persimchat.runs.companion.exchanges import checked_id
from persimchat.state.companion import Exchange, Happening, Occurrence, Tie, thread_id
from persimchat.state.errors import DayBudgetExhausted, ModelError, PerSimChatError

if TYPE_CHECKING:
    from persimchat.runs.companion.world import World

MOST_PENDING: Final = 4
"""With so many exchanges not digested, the next message waits for the digest."""
PATIENCE_S: Final = 5.0
"""The most seconds that it waits."""


class Companion:
    """One agent and one person. `World.companion` makes it.

    Args:
        world: the open world.
        agent: the agent's full name.
        person: `id` and `name` of the person.
        introduced: whether they know each other by name when they meet; None: as settings and place say.

    Attributes:
        pending: exchanges that are answered and not digested yet.
        why: what the last answer of this session rests on: `facts` and `recalled`, the memories with their scores.
    """

    def __init__(self, world: World, agent: str, person: Mapping[str, str], *, introduced: bool | None = None) -> None:
        self.world, self.agent, self.person, self.person_id = world, agent, person["name"], person["id"]
        self.introduced = introduced
        self.pending: list[Exchange] = []
        self.why: Mapping[str, Any] = {}
        own = world.settings.companion.model_copy(update={"agent": agent, "person": self.person})
        self._settings = world.settings.model_copy(update={"companion": own})
        self.thread = thread_id(world.name, agent, self.person_id)
        self._order = asyncio.Lock()
        self._run: Run | None = None
        self._courses: dict[str, Course] = {}
        self._behind: asyncio.Task[None] | None = None

    @property
    def _config(self) -> RunnableConfig:
        return {
            "configurable": {"thread_id": self.thread, LEDGER: self.world.ledger},
            "run_name": "companion",
            "metadata": {"world": self.world.name, "agent": self.agent},
        }

    async def load(self) -> None:
        """Read what an earlier process left: exchanges not digested, and one that is not in the transcript yet."""
        await abegin_above_kept(self.world.saver, self._config)
        values = await self._values()
        self.pending = list(values.get("pending") or [])
        last = values.get("answer")
        if last and all(one["id"] != last["id"] for one in self.pending):
            self._write(last)

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
            given["id"] = checked_id(id)
        extra = {"talk": talk, "seed": seed, "shown": [dict(one) for one in shown], "instructions": instructions}
        given |= cast(Occurrence, {name: value for name, value in extra.items() if value})
        if temperature is not None:
            given["temperature"] = temperature
        if self.introduced is not None:
            given["introduced"] = self.introduced
        course = self._known(given.get("id", ""))
        if course is None:
            async with self._order:
                course = self._known(given.get("id", ""))
                if course is None:
                    await self._make_way()
                    course = self._begin(given)
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
        if self._run is None or self._run.over:
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
            await self._finish()
            before = await self._values()
            course = self._begin(Occurrence(kind="retract"))
            run = cast(Run, self._run)
            with suppress(PerSimChatError):
                await cast("asyncio.Task[None]", run.task)
            if not run.took_back:
                return False
            pending = list(before.get("pending") or [])
            taken = pending[-1]["id"] if pending else str((before.get("undo") or {}).get("exchange", ""))
            self.pending = [one for one in self.pending if one["id"] != taken]
            self._courses.pop(taken, None)
            self.world.said.retract(taken)
            return course.over

    async def settled(self) -> None:
        """Wait until nothing is under way."""
        while True:
            behind = self._behind
            if behind is not None:
                await asyncio.wait([behind])
            async with self._order:
                await self._finish()
            if self._behind is behind:
                return

    async def stop(self) -> None:
        """Stop what is under way; what is not digested stays for later."""
        for task in (self._behind, self._run.task if self._run is not None else None):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait([task])

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
        self.pending, self.why = [], {}

    # Runs

    async def _after_all(self, given: Occurrence) -> AsyncIterator[Event]:
        """The events of an occurrence that waits until everything before it is over."""
        async with self._order:
            await self._finish()
            course = self._begin(given)
        async with aclosing(course.events()) as events:  # type: ignore[type-var]
            async for event in events:
                yield event

    async def _caught_up(self) -> None:
        with suppress(PerSimChatError):
            await self._finish()
            await self.pass_time()

    def _known(self, exchange: str) -> Course | None:
        """The course of an exchange that was answered, or is being answered."""
        if not exchange:
            return None
        if exchange in self._courses:
            return self._courses[exchange]
        found = next((one for one in self.pending if one["id"] == exchange), None) or self.world.said.get(exchange)
        if found is None:
            return None
        course = Course(exchange)
        course.tell(answered(found))
        course.close()
        return course

    async def _make_way(self) -> None:
        """Let a message begin: stop a digest, which goes on later, unless too much waits for it."""
        run = self._run
        if run is None or run.over:
            return
        if run.kind == "message":
            await run.free.wait()
            if not run.over and len(self.pending) >= MOST_PENDING:
                await asyncio.wait([cast("asyncio.Task[None]", run.task)], timeout=PATIENCE_S)
        elif run.kind != "time":
            await self._finish()
        if run.task is not None and not run.task.done():
            run.task.cancel()
            await asyncio.wait([run.task])

    async def _finish(self) -> None:
        if self._run is not None and not self._run.over:
            await asyncio.wait([cast("asyncio.Task[None]", self._run.task)])

    def _begin(self, given: Occurrence) -> Course:
        # Whether time is told between two messages depends on how fast they come; a clock of steps does not.
        given = {**given, "at": self.world.now() if given["kind"] == "time" else self.world.tick()}
        course = Course(given.get("id", ""))
        if course.id:
            self._courses[course.id] = course
        run = Run(given["kind"], course)
        run.task = asyncio.create_task(self._held(run, given), name=f"companion {self.agent}")
        run.task.add_done_callback(run.stopped)
        self._run = run
        return course

    async def _held(self, run: Run, given: Occurrence) -> None:
        talking_with.set(self.person_id)
        stopped = False
        try:
            await self._streamed(run, given)
            if run.kind in ("message", "events") and await self.world.has_moved_on(self.agent):
                self.catch_up()
        except asyncio.CancelledError:
            stopped = True
            raise
        except (DayBudgetExhausted, ModelError) as error:
            # Behind the answer, only its digest waits: it is tried again with the next message.
            run.course.close(error if run.answer is None else None)
        except PerSimChatError as error:
            run.course.close(error)
        except Exception as error:
            run.course.close(error)
            raise
        finally:
            if not stopped or run.answer is None:
                run.course.close()
            if not stopped:
                self._close_settled()
            run.free.set()

    async def _streamed(self, run: Run, given: Occurrence) -> None:
        words = Words(self.agent)
        stream: Any = self.world.graph.astream(
            {"occurrence": given},
            self._config,
            context=self._settings,
            stream_mode=["messages", "custom", "updates", "tasks"],
            durability="sync",
        )
        async with aclosing(stream) as parts:
            async for mode, payload in parts:
                if mode == "messages":
                    message, about = payload
                    for event in words.take(message) if about.get("langgraph_node") == "answer" else ():
                        run.course.tell(event)
                elif mode == "custom" and "speaking" in payload:
                    self._named(run.course, payload["speaking"]["id"])
                    run.course.tell(words.begins(payload["speaking"]))
                elif mode == "custom" and "why" in payload:
                    self.why = payload["why"]
                elif mode == "updates":
                    for node, update in payload.items():
                        self._step(run, words, node, update or {})
                elif mode == "tasks" and "input" in payload and run.answer is not None and not run.free.is_set():
                    # The next step begins: the answer is in the checkpoint, so nothing can lose it any more.
                    self.pending.append(run.answer)
                    run.course.tell(answered(run.answer))
                    run.free.set()

    def _step(self, run: Run, words: Words, node: str, update: Mapping[str, Any]) -> None:
        """The events of a finished step. Before the next checkpoint is kept, its exchanges are in the transcript."""
        if node == "attend":
            run.took_back = run.kind == "retract" and bool(update.get("messages"))
        if node == "answer" and update.get("answer"):
            exchange: Exchange = update["answer"]
            self._named(run.course, exchange["id"])
            for event in words.ended(exchange):
                run.course.tell(event)
            run.answer = exchange
        if node == "digest":
            self._digested(update.get("digested") or [])
        if told := update.get("acted"):
            run.course.tell(acted(told))
        for told in update.get("consolidated") or []:
            if "summary" in told:
                run.course.tell(talk_over(told))

    def _digested(self, exchanges: Sequence[Exchange]) -> None:
        for exchange in exchanges:
            if not exchange["appraised"] and exchange.get("tried", 0) < TRIES:
                self.pending = [exchange if one["id"] == exchange["id"] else one for one in self.pending]
                continue
            self.pending = [one for one in self.pending if one["id"] != exchange["id"]]
            self._write(exchange)
            if course := self._courses.get(exchange["id"]):
                course.tell(answered(exchange))

    def _write(self, exchange: Exchange) -> None:
        self.world.said.add(self.agent, self.person_id, exchange)

    def _named(self, course: Course, exchange: str) -> None:
        if not course.id:
            course.id = exchange
            self._courses[exchange] = course

    def _close_settled(self) -> None:
        """A run is over: nothing more comes for any exchange so far."""
        for course in self._courses.values():
            course.close()
        self._courses.clear()

    async def _values(self) -> Mapping[str, Any]:
        """The channels of the last checkpoint, from which the next run begins.

        LangGraph's `aget_state` would add what an interrupted step has written, which a new occurrence drops.
        """
        found = await self.world.saver.aget_tuple(self._config)
        return found.checkpoint["channel_values"] if found is not None else {}
