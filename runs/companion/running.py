"""The runs of the graph for one agent and one person: begun, stopped when the person speaks again, turned into events.

A run is not waited for beyond its answer: what is not digested stays in the checkpoint, and the next digest takes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.runnables import RunnableConfig

from persimchat.graph.checkpoint_ids import abegin_above_kept
from persimchat.graph.companion.digesting import TRIES
from persimchat.models.ledger import LEDGER
from persimchat.runs.companion.budget import talking_with
from persimchat.runs.companion.course import Course, Words, acted, answered, talk_over
from persimchat.state.companion import Exchange, Occurrence
from persimchat.state.errors import DayBudgetExhausted, ModelError, PerSimChatError
from persimchat.state.settings import Settings

if TYPE_CHECKING:
    from persimchat.runs.companion.world import World

MOST_PENDING: Final = 4
"""With so many exchanges not digested, the next message waits for the digest."""
PATIENCE_S: Final = 5.0
"""The most seconds that it waits."""


class Run:
    """A run of the graph.

    Attributes:
        kind: of its occurrence.
        course: its events.
        free: set once the next message need not wait any longer: the answer is kept, or the run is over.
        task: that holds it.
    """

    def __init__(self, kind: str, course: Course) -> None:
        self.kind, self.course = kind, course
        self.free = asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self.answer: Exchange | None = None
        self.took_back = False

    @property
    def over(self) -> bool:
        """Whether nothing of it is under way."""
        return self.task is None or self.task.done()

    def stopped(self, task: asyncio.Task[None]) -> None:
        """Let nobody wait for a run that was stopped before its first step."""
        if task.cancelled() and self.answer is None:
            self.course.close()
            self.free.set()


class Runs:
    """The runs of one pair, one at a time.

    Args:
        world: the open world.
        agent: the agent's full name.
        person: id of the person.
        thread: of the pair.
        settings: of the talk, with agent and person in them.
        goes_on: called behind an occurrence, if there is something to do that no one waits for.

    Attributes:
        pending: exchanges that are answered and not digested yet.
        why: what the last answer rests on.
        now: the last run.
    """

    def __init__(
        self, world: World, agent: str, person: str, thread: str, settings: Settings, goes_on: Callable[[], None]
    ) -> None:
        self._world, self._agent, self._person, self.thread = world, agent, person, thread
        self._settings, self._goes_on = settings, goes_on
        self.pending: list[Exchange] = []
        self.why: Mapping[str, Any] = {}
        self.now: Run | None = None
        self._courses: dict[str, Course] = {}

    @property
    def _config(self) -> RunnableConfig:
        return {
            "configurable": {"thread_id": self.thread, LEDGER: self._world.ledger},
            "run_name": "companion",
            "metadata": {"world": self._world.name, "agent": self._agent},
        }

    async def load(self) -> None:
        """Read what an earlier process left: exchanges not digested, and one that is not in the transcript yet."""
        await abegin_above_kept(self._world.saver, self._config)
        values = await self.values()
        self.pending = list(values.get("pending") or [])
        last = values.get("answer")
        if last and all(one["id"] != last["id"] for one in self.pending):
            self._write(last)

    def known(self, exchange: str) -> Course | None:
        """The course of an exchange that was answered, or is being answered."""
        if not exchange:
            return None
        if exchange in self._courses:
            return self._courses[exchange]
        found = next((one for one in self.pending if one["id"] == exchange), None) or self._world.said.get(exchange)
        if found is None:
            return None
        course = Course(exchange)
        course.tell(answered(found))
        course.close()
        return course

    async def make_way(self) -> None:
        """Let a message begin: stop a digest, which goes on later, unless too much waits for it."""
        run = self.now
        if run is None or run.over:
            return
        if run.kind == "message":
            await run.free.wait()
            if not run.over and len(self.pending) >= MOST_PENDING:
                await asyncio.wait([cast("asyncio.Task[None]", run.task)], timeout=PATIENCE_S)
        elif run.kind != "time":
            await self.finish()
        await self.stop()

    async def finish(self) -> None:
        """Wait until the run that is under way is over."""
        if self.now is not None and not self.now.over:
            await asyncio.wait([cast("asyncio.Task[None]", self.now.task)])

    def begin(self, given: Occurrence) -> Course:
        """Begin a run; the one before is over, or stopped."""
        # Whether time is told between two messages depends on how fast they come; a clock of steps does not.
        given = {**given, "at": self._world.now() if given["kind"] == "time" else self._world.tick()}
        course = Course(given.get("id", ""))
        if course.id:
            self._courses[course.id] = course
        run = Run(given["kind"], course)
        run.task = asyncio.create_task(self._held(run, given), name=f"companion {self._agent}")
        run.task.add_done_callback(run.stopped)
        self.now = run
        return course

    async def _held(self, run: Run, given: Occurrence) -> None:
        talking_with.set(self._person)
        stopped = False
        try:
            await self._streamed(run, given)
            if run.kind in ("message", "events") and await self._world.has_moved_on(self._agent):
                self._goes_on()
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
        words = Words(self._agent)
        stream: Any = self._world.graph.astream(
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
        self._world.said.add(self._agent, self._person, exchange)

    def _named(self, course: Course, exchange: str) -> None:
        if not course.id:
            course.id = exchange
            self._courses[exchange] = course

    def _close_settled(self) -> None:
        """A run is over: nothing more comes for any exchange so far."""
        for course in self._courses.values():
            course.close()
        self._courses.clear()

    async def values(self) -> Mapping[str, Any]:
        """The channels of the last checkpoint, from which the next run begins.

        LangGraph's `aget_state` would add what an interrupted step has written, which a new occurrence drops.
        """
        found = await self._world.saver.aget_tuple(self._config)
        return found.checkpoint["channel_values"] if found is not None else {}

    def take_back(self, exchange: str) -> None:
        """Mark an exchange as taken back, wherever it is."""
        self.pending = [one for one in self.pending if one["id"] != exchange]
        self._courses.pop(exchange, None)
        self._world.said.retract(exchange)

    async def stop(self) -> None:
        """Stop the run that is under way; what is not digested stays for later."""
        if self.now is not None and self.now.task is not None and not self.now.over:
            self.now.task.cancel()
            await asyncio.wait([self.now.task])
