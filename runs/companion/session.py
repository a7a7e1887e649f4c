"""The session of one agent and one person: occurrences in, events out. Terminal, page, `/v1`, UDP and Python share it.

Each occurrence is one run of the graph. The words of an answer come first; the digest follows in the same run. If the
person speaks again meanwhile, the run is stopped, and the next one goes on with what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig

from ...graph.companion.attending import words_of
from ...graph.companion.digesting import TRIES
from ...graph.langgraph_compat import begin_above_kept
from ...models.ledger import LEDGER
from ...state.companion import Exchange, Happening, Occurrence, Tie, thread_id
from ...state.companion.sentences import SentenceCutter
from ...state.errors import DayBudgetExhausted, InputError, ModelError, PerSimChatError
from ...state.settings import Settings
from ..threads import in_thread
from .events import Acted, Answered, Event, Exchanged, Retracted, Sentence, Speaking, TalkOver, Token
from .folder import exchange_in, exchanges_in
from .open_world import OpenWorld
from .requests import talking_with

MOST_PENDING: Final = 4
"""With so many exchanges not digested, the next message waits for the digest."""
PATIENCE_S: Final = 5.0
"""The most seconds that it waits."""
_LONGEST_ID: Final = 64


class Course:
    """What happens to one occurrence. A late reader gets the past events first.

    Attributes:
        kind: of the occurrence.
        id: of the exchange; empty while there is none.
        answer: the exchange, once its words are complete.
        took_back: whether an exchange was taken back.
        free: set once the next message need not wait any longer: the answer is kept, or the run is over.
        task: the run of the graph.
    """

    def __init__(self, kind: str, exchange: str) -> None:
        self.kind, self.id = kind, exchange
        self.answer: Exchange | None = None
        self.took_back, self.free = False, asyncio.Event()
        self.task: asyncio.Task[None] | None = None
        self._events: list[Event] = []
        self._over, self._error = False, cast("BaseException | None", None)
        self._news = asyncio.Event()

    @property
    def is_running(self) -> bool:
        """Whether its run is under way."""
        return self.task is not None and not self.task.done()

    def tell(self, *events: Event) -> None:
        """Add events."""
        self._events += events
        self._wake()

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more will happen.

        Args:
            error: what readers get at the end.
        """
        if not self._over:
            self._over, self._error = True, error
            self._wake()

    async def events(self) -> AsyncGenerator[Event, None]:
        """All events, from the first one.

        Raises:
            PerSimChatError: the occurrence failed.
        """
        at = 0
        while True:
            while at < len(self._events):
                at += 1
                yield self._events[at - 1]
            if self._over:
                if self._error is not None:
                    raise self._error
                return
            await self._news.wait()

    def stopped(self, task: asyncio.Task[None]) -> None:
        """Let nobody wait for a run that was stopped before its first step."""
        if task.cancelled() and self.answer is None:
            self.close()
            self.free.set()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class Words:
    """The agent's words as they stream: makes tokens and sentences of them.

    Args:
        agent: the agent's name.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.speaking: Speaking | None = None
        self._stream: str | None = None
        self._begin()

    def begins(self, told: Mapping[str, Any]) -> Event:
        """The agent begins to speak."""
        self.speaking = Speaking(agent=self._agent, **told)
        self._begin()
        return self.speaking

    def take(self, message: Any) -> list[Event]:
        """The events of a piece of the answer."""
        if self.speaking is None or not isinstance(message, AIMessageChunk):
            return []
        found: list[Event] = []
        if self._stream not in (None, message.id):  # after unusable first words, the model is asked again
            self._begin()
            found.append(self.speaking)
        self._stream = message.id
        return [*found, *self._said(str(message.text))]

    def ended(self, exchange: Exchange) -> list[Event]:
        """The events with which the words of an answer end; all of them if nothing has streamed."""
        found: list[Event] = []
        if self.speaking is None or self.speaking.id != exchange["id"]:
            found.append(self.begins({name: exchange[name] for name in ("id", "emotion", "trust")}))
        if not self._any:
            found += self._said(exchange["utterance"])
        if rest := self._cutter.rest():
            found.append(self._sentence(rest, last=True))
        self.speaking = None
        return found

    def _begin(self) -> None:
        self._cutter, self._number, self._held, self._any = SentenceCutter(), 0, "", False
        self._stream = None

    def _said(self, text: str) -> list[Event]:
        if not text or self.speaking is None:
            return []
        self._any = True
        # White space at the end waits for more words: so the last sentence is the rest.
        whole = self._held + text
        words = whole.rstrip()
        self._held = whole[len(words) :]
        sentences = [self._sentence(one) for one in self._cutter.add(words) if one]
        return [Token(id=self.speaking.id, text=text), *sentences]

    def _sentence(self, text: str, *, last: bool = False) -> Sentence:
        assert self.speaking is not None
        self._number += 1
        return Sentence(id=self.speaking.id, n=self._number, text=text, last=last)


class Companion:
    """One agent and one person; their runs of the graph come one after another. `World.companion` opens it.

    Args:
        world: the open world.
        agent: the agent's full name.
        person: `id` and `name` of the person.
        introduced: whether they know each other by name when they meet; None: as settings and place say.

    Attributes:
        pending: exchanges that are answered and not digested yet.
        why: what the last answer rests on: `facts` and `recalled`, the memories with their scores.
    """

    def __init__(
        self, world: OpenWorld, agent: str, person: Mapping[str, str], *, introduced: bool | None = None
    ) -> None:
        self.world, self.agent, self.person, self.person_id = world, agent, person["name"], person["id"]
        self.introduced = introduced
        self.thread = thread_id(world.name, agent, self.person_id)
        self.why: Mapping[str, Any] = {}
        self._now: Course | None = None
        self._courses: dict[str, Course] = {}
        self._order = asyncio.Lock()
        self._behind: asyncio.Task[None] | None = None
        self.pending: list[Exchange] = []

    def take_up(self) -> None:
        """Go on from what an earlier process left: exchanges not digested, and one that is not in the log. Blocks."""
        begin_above_kept(self.world.threads, self._config)
        values = self._values()
        self.pending = list(values.get("pending") or [])
        last = values.get("answer")
        if last and all(one["id"] != last["id"] for one in self.pending):
            self._write(last)

    @property
    def _settings(self) -> Settings:
        """The world's, which change when it is written anew, with agent and person in them."""
        own = self.world.settings.companion.model_copy(update={"agent": self.agent, "person": self.person})
        return self.world.settings.model_copy(update={"companion": own})

    @property
    def _config(self) -> RunnableConfig:
        return {
            "configurable": {"thread_id": self.thread, LEDGER: self.world.ledger},
            "run_name": "companion",
            "metadata": {"world": self.world.name, "agent": self.agent},
        }

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
    ) -> AsyncGenerator[Event, None]:
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
        if len(id) > _LONGEST_ID or not id.isprintable():
            remedy = f"Give 1 to {_LONGEST_ID} printable characters."
            raise InputError("the id of a message is not usable", where="id", remedy=remedy)
        given = Occurrence(kind="message", text=text)
        given["text"] = words_of(given)
        extra = {"id": id, "talk": talk, "seed": seed, "shown": [*map(dict, shown)], "instructions": instructions}
        given |= cast(Occurrence, {name: value for name, value in extra.items() if value})
        if temperature is not None:
            given["temperature"] = temperature
        if self.introduced is not None:
            given["introduced"] = self.introduced
        course = await self._known(id)
        if course is None:
            async with self._order:
                course = await self._known(id)
                if course is None:
                    await self._make_way()
                    course = await self._begin(given)
        async with aclosing(course.events()) as events:
            async for event in events:
                yield event

    async def happen(self, events: Sequence[Happening]) -> AsyncGenerator[Event, None]:
        """Let the agent perceive events; it may act, or speak unasked.

        Raises:
            ModelError: a model failed.
        """
        if news := await self.world.surroundings.noted(self.agent, events):
            async for event in self._after_all(self._happened(news)):
                yield event

    async def end(self) -> AsyncGenerator[Event, None]:
        """End the open talk and consolidate it."""
        async for event in self._after_all(Occurrence(kind="end")):
            yield event

    async def pass_time(self) -> None:
        """Tell the agent that time has passed: a talk may be over by silence, a day begun, a planned event due."""
        if self._now is None or not self._now.is_running:
            async for _ in self._after_all(Occurrence(kind="time")):
                pass
        await self.world.surroundings.passed(self.world.now())
        if news := self.world.surroundings.taken(self.agent):
            async for _ in self._after_all(self._happened(news)):
                pass

    def _happened(self, news: Sequence[Happening]) -> Occurrence:
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
            undo = (await in_thread(self._values)).get("undo") or {}
            taken = str(self.pending[-1]["id"] if self.pending else undo.get("exchange", ""))
            course = await self._begin(Occurrence(kind="retract"))
            with suppress(PerSimChatError):
                await cast("asyncio.Task[None]", course.task)
            if not course.took_back:
                return False
            self.pending = [one for one in self.pending if one["id"] != taken]
            self._courses.pop(taken, None)
            await in_thread(self._take_back, taken)
            return True

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
        await _cancelled(self._behind)
        await _cancelled(self._now.task if self._now else None)

    def catch_up(self) -> None:
        """Do in the background what is left: digest and consolidate, plan the day; a message goes before."""
        if self._behind is None or self._behind.done():
            self._behind = asyncio.create_task(self._caught_up())

    async def _caught_up(self) -> None:
        with suppress(PerSimChatError):
            await self._finish()
            await self.pass_time()

    async def exchanges(self, last: int | None = None) -> list[Exchange]:
        """The exchanges of this pair in their order, without those taken back.

        Args:
            last: how many; None: all.
        """
        pending = list(self.pending)  # before the log is read: what is digested meanwhile is in one of them, or both
        kept = await in_thread(exchanges_in, self.world.log, self.agent, self.person_id, last)
        digested = {one["id"] for one in kept}
        found = [*kept, *(one for one in pending if one["id"] not in digested)]
        return found if last is None else found[max(0, len(found) - last) :]

    async def tie(self) -> Tie | None:
        """What the agent knows of the person; None before their first words."""
        return await self.world.tie(self.agent, self.person_id)

    # The runs of the graph, one at a time

    async def _after_all(self, given: Occurrence) -> AsyncGenerator[Event, None]:
        """The events of an occurrence that waits until everything before it is over."""
        async with self._order:
            await self._finish()
            course = await self._begin(given)
        async with aclosing(course.events()) as events:
            async for event in events:
                yield event

    async def _known(self, exchange: str) -> Course | None:
        """The course of an exchange that was answered, or is being answered."""
        if not exchange or exchange in self._courses:
            return self._courses.get(exchange)
        pending = next((one for one in self.pending if one["id"] == exchange), None)
        found = pending or await in_thread(exchange_in, self.world.log, exchange)
        if found is None:
            return None
        course = Course("message", exchange)
        course.tell(_answered(found))
        course.close()
        return course

    async def _make_way(self) -> None:
        """Let a message begin: stop a digest, which goes on later, unless too much waits for it."""
        now = self._now
        if now is None or not now.is_running:
            return
        if now.kind == "message":
            await now.free.wait()
            if now.is_running and len(self.pending) >= MOST_PENDING:
                await asyncio.wait([cast("asyncio.Task[None]", now.task)], timeout=PATIENCE_S)
        elif now.kind != "time":
            await self._finish()
        await _cancelled(now.task)

    async def _finish(self) -> None:
        """Wait until the run that is under way is over."""
        if self._now is not None and self._now.is_running:
            await asyncio.wait([cast("asyncio.Task[None]", self._now.task)])

    async def _begin(self, given: Occurrence) -> Course:
        """Begin a run; the one before is over, or stopped."""
        # Whether time is told between two messages depends on how fast they come; a clock of steps does not.
        given = {**given, "at": self.world.now() if given["kind"] == "time" else await self.world.tick()}
        course = self._now = Course(given["kind"], given.get("id", ""))
        if course.id:
            self._courses[course.id] = course
        course.task = asyncio.create_task(self._held(course, given), name=f"companion {self.agent}")
        course.task.add_done_callback(course.stopped)
        return course

    async def _held(self, course: Course, given: Occurrence) -> None:
        talking_with.set(self.person_id)
        stopped = False
        try:
            await self._streamed(course, given)
            if course.kind in ("message", "events") and await self.world.has_moved_on(self.agent):
                self.catch_up()
        except asyncio.CancelledError:
            stopped = True
            raise
        except (DayBudgetExhausted, ModelError) as error:
            # Behind the answer, only its digest waits: it is tried again with the next message.
            course.close(error if course.answer is None else None)
        except PerSimChatError as error:
            course.close(error)
        except Exception as error:
            course.close(error)
            raise
        finally:
            if not stopped or course.answer is None:
                course.close()
            if not stopped:  # nothing more comes for any exchange so far
                for one in self._courses.values():
                    one.close()
                self._courses.clear()
            course.free.set()

    async def _streamed(self, course: Course, given: Occurrence) -> None:
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
                    if about.get("langgraph_node") == "answer":
                        course.tell(*words.take(message))
                elif mode == "custom" and "speaking" in payload:
                    self._name(course, payload["speaking"]["id"])
                    course.tell(words.begins(payload["speaking"]))
                elif mode == "custom" and "why" in payload:
                    self.why = payload["why"]
                elif mode == "updates":
                    for node, update in payload.items():
                        await self._step(course, words, node, update or {})
                elif mode == "tasks" and "input" in payload and course.answer is not None and not course.free.is_set():
                    # The next step begins: the answer is in the checkpoint, so nothing can lose it any more.
                    self.pending.append(course.answer)
                    course.tell(_answered(course.answer))
                    course.free.set()

    async def _step(self, course: Course, words: Words, node: str, update: Mapping[str, Any]) -> None:
        """The events of a finished step. Before the next checkpoint is kept, its exchanges are in the log."""
        if node == "attend":
            course.took_back = course.kind == "retract" and bool(update.get("messages"))
        if node == "answer" and update.get("answer"):
            course.answer = update["answer"]
            self._name(course, update["answer"]["id"])
            course.tell(*words.ended(update["answer"]))
        if node == "digest":
            for exchange in update.get("digested") or []:
                await self._digested(exchange)
        if told := update.get("acted"):
            course.tell(Acted(kind=told["kind"], about=told.get("about", "")))
        for told in update.get("consolidated") or []:
            if "summary" in told:
                facts = [one if isinstance(one, str) else str(one["statement"]) for one in told.get("facts", [])]
                course.tell(TalkOver(talk=told["talk"], summary=told["summary"], trust=told["trust"], facts=facts))

    async def _digested(self, exchange: Exchange) -> None:
        if not exchange["appraised"] and exchange.get("tried", 0) < TRIES:
            self.pending = [exchange if one["id"] == exchange["id"] else one for one in self.pending]
            return
        await in_thread(self._write, exchange)
        self.pending = [one for one in self.pending if one["id"] != exchange["id"]]
        if course := self._courses.get(exchange["id"]):
            course.tell(_answered(exchange))

    def _write(self, exchange: Exchange) -> None:
        """Write an exchange to the log; one that is there already stays as it is."""
        if exchange_in(self.world.log, exchange["id"]) is None:
            self.world.log.append([Exchanged(agent=self.agent, person=self.person_id, **exchange)])

    def _take_back(self, exchange: str) -> None:
        if exchange_in(self.world.log, exchange):
            self.world.log.append([Retracted(agent=self.agent, person=self.person_id, id=exchange)])

    def _name(self, course: Course, exchange: str) -> None:
        if not course.id:
            course.id = exchange
            self._courses[exchange] = course

    def _values(self) -> Mapping[str, Any]:
        """The channels of the last checkpoint, from which the next run begins. Blocks.

        LangGraph's `aget_state` would add what an interrupted step has written, which a new occurrence drops.
        """
        found = self.world.threads.get_tuple(self._config)
        return found.checkpoint["channel_values"] if found is not None else {}


async def _cancelled(task: asyncio.Task[None] | None) -> None:
    """Cancel a task, and wait until it is over."""
    if task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task])


def _answered(exchange: Exchange) -> Answered:
    """The event of an exchange as it stands."""
    return Answered.model_validate(exchange)
