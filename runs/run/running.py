"""A run in progress: the graph's stream becomes the event stream, and the events go to the run's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from itertools import takewhile
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from persimchat.graph import phases
from persimchat.graph.edges import nobody_took_part
from persimchat.models.ledger import NotRecorded
from persimchat.models.redaction import redact
from persimchat.runs.control import Control
from persimchat.runs.events import (
    Analysed,
    Asked,
    Concluded,
    Continued,
    Event,
    Judged,
    JudgeMindChanged,
    MindChanged,
    Paused,
    Silenced,
    Stopped,
    StopReason,
    TurnEnded,
    Uttered,
)
from persimchat.runs.folder.manifest import last_manifest, manifest_in_progress
from persimchat.runs.folder.records import mind_records
from persimchat.runs.folder.run_folder import RunFolder, now
from persimchat.runs.folder.totals import totals
from persimchat.runs.run.changes import intervened, shortened, silences, too_weak
from persimchat.runs.run.in_thread import in_thread
from persimchat.runs.run.resources import RunResources
from persimchat.runs.run.steps import steps
from persimchat.runs.run.tracing import Trace
from persimchat.state.conversation import utterances
from persimchat.state.errors import BudgetExhausted, MachineError, ModelError, PerSimChatError
from persimchat.state.mind import Utterance
from persimchat.state.outcomes import by_module

_WHY: Final = {
    "stopped": "The conversation was stopped before its end.",
    "error": "The conversation ended with an error.",
}
"""What the transcript says where no rule of the conversation's own has ended it."""


class Running:
    """One run in progress.

    Args:
        place: what it works with.
        manifest: run.json as far as it is known.
        folder: where it is kept; None where it is not.
        control: what people do to it; None where nobody is there.
        state: the conversation as it stands, of a run that goes on.
        complete: the last turn that everybody has heard, -1 before they have awoken.
    """

    def __init__(
        self,
        place: RunResources,
        manifest: dict[str, Any],
        folder: RunFolder | None,
        control: Control | None,
        *,
        state: dict[str, Any] | None = None,
        complete: int = -1,
    ) -> None:
        self.place, self.manifest, self.folder = place, manifest, folder
        self.control = control or Control(attended=False)
        taking_part = manifest["scenario"]["participants"]
        people = [person["name"] for person in taking_part if person.get("human")]
        names = [person["name"] for person in taking_part]
        self.control.begin(names, people, baseline=manifest["settings"]["baseline"])
        self.last = state or {}
        said = utterances(self.last.get("messages", []))
        self.turn = said[-1]["turn"] if said else 0
        self.scored = max((score["turn"] for score in self.last.get("scores", [])), default=0)
        self.corrections = Counter(name for utterance in said for name in utterance["corrections"])
        self.complete = complete
        self.trace = Trace(manifest, on=place.traced)
        self.silences = int(manifest["silences"])
        self._carried_out = len(self.last.get("carried_out", []))
        self._silent = set(silences(self.last))
        self._writes: list[Callable[[], None]] = []

    async def follow(self, given: Any, begin: Iterable[Event]) -> AsyncGenerator[Event, None]:
        """The run's events, to its end.

        Args:
            given: what the graph is given; None to go on from its last checkpoint.
            begin: the events that come first.

        Raises:
            PerSimChatError: after the `stopped` event that tells of it.
        """
        self.place.begun = True
        try:
            for event in begin:
                yield event
            end: tuple[StopReason | None, str, str] = (None, "", "")
            weak: ModelError | None = None
            try:
                async with aclosing(self._conversation(given)) as events:
                    async for event in events:
                        yield event
                if not self.last.get("stop_reason"):
                    end = ("stopped", *self._left())
                weak = too_weak(self.last, self.place.settings, self.manifest["run"])
                if weak is not None:
                    end = ("error", self.last["stop_source"], str(weak))
            except BudgetExhausted as spent:
                over = bool(self.last.get("stop_reason"))
                detail = f"{self.last['stop_detail']} {_UNWORDED}" if over else str(spent)
                end = ("budget" if not over else self.last["stop_reason"], spent.budget, detail)
            except NotRecorded as missing:
                end = ("stopped", "record", f"The record has no answer for {missing.where or 'a text'}.")
            stopped = await self._end(*end, weak)
        except OSError as error:
            failure = MachineError.caused_by(error, "the run cannot go on", "")
            yield await self._end("error", "error", str(failure), failure)
            raise failure from error
        except PerSimChatError as error:
            yield await self._end("error", "error", str(error), error)
            raise
        except Exception as error:
            yield await self._end("error", "error", redact(f"{type(error).__name__}: {error}"), error)
            raise
        except BaseException:  # cancelled, or the consumer has gone: nobody is there to yield to
            self._finish(self._stopped("stopped", "user", ""))
            await self.trace.end({"reason": "stopped", "source": "user"})
            raise
        yield stopped
        if weak is not None:
            raise weak

    def _left(self) -> tuple[str, str]:
        """Who has stopped the run where no rule has, and in which words."""
        if self.control.stopped:
            return "moderator", "The moderator ended the conversation."
        return "person", "A person was asked, and nobody was there to answer."

    async def _end(
        self, reason: StopReason | None, source: str, detail: str, error: Exception | None = None
    ) -> Stopped:
        try:
            await self.place.ledger.settled()  # requests that were given up have told what they took
        finally:
            stopped = self._stopped(reason, source, detail)
            try:
                await in_thread(self._finish, stopped)
            except MachineError:
                if error is None:
                    raise
                # The run ends with an error as it is, and resuming it writes what is missing now.
        told = {"reason", "source", "detail", "conclusion", "totals"}
        await self.trace.end(stopped.model_dump(include=told), error)
        return stopped

    def _stopped(self, reason: StopReason | None, source: str, detail: str) -> Stopped:
        """The last event.

        Args:
            reason: why the run is over where it was not the conversation's own end.
            source: whose doing that was.
            detail: of that, one line.
        """
        usage = self.place.ledger.rows()
        own = reason is None
        conclusion = self.last.get("conclusion")
        return Stopped(
            run=self.manifest["run"],
            reason=reason or self.last["stop_reason"],
            source=self.last["stop_source"] if own else source,
            detail=self.last["stop_detail"] if own else detail,
            conclusion=Concluded.model_validate(conclusion) if conclusion else None,
            turn=self.turn,
            totals=totals(usage),
            usage=usage,
            folder=str(self.folder.path) if self.folder else None,
        )

    def _finish(self, stopped: Stopped) -> None:
        """Write what is known, for good."""
        self.control.end()
        self._write()
        if self.folder is None:
            return
        manifest = last_manifest(
            self.manifest,
            ended=now().isoformat(timespec="seconds"),
            stopped=stopped,
            corrections=self.corrections,
            silences=self.silences,
            judgements=by_module(self.last.get("judgements") or {}),
        )
        self.folder.end(manifest, _WHY.get(stopped.reason, stopped.detail))

    async def _conversation(self, given: Any) -> AsyncGenerator[Event, None]:
        """Everything between `started` and `stopped`; people are asked, and what they want is carried out."""
        while True:
            asked: list[Any] = []
            turned = halted = False
            async with aclosing(steps(self.place, given, await self._config(), by_turns=self.trace.on)) as stream:
                async for nodes, payload in stream:
                    if nodes is None:
                        asked += payload
                        halted = not payload
                        continue
                    if isinstance(payload, dict):
                        for event in await self._after(nodes, payload):
                            yield event
                        if phases.TURN_END in nodes and not payload["stop_reason"]:
                            async for event in self._paused():
                                yield event
                            turned = self.place.resumable and self.control.wanted(self.turn)
                            if turned and not self.trace.on:  # else it stops by itself
                                break
                    else:
                        yield payload
            if turned:
                await self._intervene()
                given = None
            elif asked:
                answers: dict[str, Any] = {}
                for question in asked:
                    async for event in self._ask(question, answers):
                        yield event
                if not answers:
                    if self.place.resumable and self.control.wanted(self.turn) and not self.control.stopped:
                        await self._intervene()  # what was asked for meanwhile waits for whoever resumes the run
                    return
                given = Command(resume=answers)
            elif halted and await self._goes_on():
                given = None
            else:
                return

    async def _goes_on(self) -> bool:
        """Whether the graph has something left to do where it was stopped: after its end, at most a conclusion."""
        return not self.last.get("stop_reason") or bool((await self.place.graph.aget_state(self.place.config)).next)

    async def _config(self) -> RunnableConfig:
        """The graph's configuration for what it does next."""
        turn = self.turn if self.turn > self.complete else self.turn + 1
        return await self.trace.config(self.place.config, turn, "conclusion" if self.last.get("stop_reason") else "")

    async def _paused(self) -> AsyncGenerator[Event, None]:
        if self.control.paused:
            yield Paused(turn=self.turn)
            await self.control.unpaused()
            yield Continued(turn=self.turn)

    async def _intervene(self) -> None:
        """Hand what people want to the conversation, between two turns."""
        wanted = self.control.take(self.turn)
        waiting = [*self.last.get("interventions", []), *wanted]
        await self.place.graph.aupdate_state(await self._config(), {"interventions": waiting}, as_node=phases.OUTSIDE)
        self.last = {**self.last, "interventions": waiting}

    async def _ask(self, question: Any, answers: dict[str, Any]) -> AsyncGenerator[Event, None]:
        """Ask a person; their answer goes into `answers` under the question's id. Nothing does where nobody answers."""
        asked = Asked.model_validate(question.value)
        self.control.ask(asked.agent, asked.what, asked.turn)
        yield asked
        answer = await self.control.reply()
        if answer is None:
            return
        answers[question.id] = answer

    def _queue_write(self, write: Callable[[Any], None], record: Any) -> None:
        """Remember what is to be written; it is written at the end of the superstep, in a thread."""
        self._writes.append(lambda: write(record))

    def _write(self) -> None:
        writes, self._writes = self._writes, []
        for write in writes:
            write()

    async def _after(self, nodes: set[str], state: dict[str, Any]) -> list[Event]:
        """The events of a superstep that is over: which nodes ran, and the state that they left."""
        before, self.last = self.last, state
        events: list[Event] = [self._uttered(utterance) for utterance in self._new_utterances(state)]
        request, self.place.ledger.shortened = self.place.ledger.shortened, None
        if request is not None:
            events.append(shortened(request))
        if phases.may_silence(nodes) and not (phases.may_meet_again(nodes) and nobody_took_part(state)):
            events += self._silenced(state)  # where nobody has awoken or heard, all try again or the run ends
        if phases.INTERVENE in nodes:
            events += intervened(before, state, self.turn)
        if phases.ANALYSE in nodes:
            fresh = list(takewhile(lambda score: score["turn"] > self.scored, reversed(state["scores"])))
            events += [self._analysed(score) for score in reversed(fresh)]
        if phases.JUDGE in nodes:
            judged = Judged.model_validate(state["verdicts"][-1])
            events.append(judged)
            if self.folder:
                self._queue_write(self.folder.verdict, judged)
        if phases.TURN_END in nodes and self.turn > self.complete:
            self.complete = self.turn
            events += await self._turn_ended(state)
        done = state.get("carried_out", [])[self._carried_out :]
        self._carried_out += len(done)
        if self.folder:
            for record in done:
                self._queue_write(self.folder.control, record)
        if self._writes:
            await in_thread(self._write)
        return events

    def _new_utterances(self, state: dict[str, Any]) -> list[Utterance]:
        """Those that the superstep has brought: none, one, or as many as a baseline's round has."""
        said: list[Utterance] = []
        for message in reversed(state.get("messages", [])):
            found = utterances([message])
            if not found or found[0]["turn"] <= self.turn:
                break
            said.insert(0, found[0])
        return said

    def _uttered(self, utterance: Utterance) -> Uttered:
        uttered = Uttered.model_validate(utterance)
        self.turn = uttered.turn
        self.corrections.update(uttered.corrections)
        if self.folder:
            self._queue_write(self.folder.utterance, uttered)
        return uttered

    def _silenced(self, state: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for agent, turn, step, why in silences(state):
            if (agent, turn, step, why) not in self._silent:
                silenced = Silenced.model_validate({"agent": agent, "turn": turn, "step": step, "why": why})
                events.append(silenced)
                self.silences += 1
                if self.folder:
                    self._queue_write(self.folder.silence, silenced)
        self._silent = set(silences(state))
        return events

    def _analysed(self, score: dict[str, Any]) -> Analysed:
        analysed = Analysed.model_validate(score)
        self.scored = analysed.turn
        if self.folder:
            self._queue_write(self.folder.score, analysed)
        return analysed

    async def _turn_ended(self, state: dict[str, Any]) -> list[Event]:
        settings = self.place.settings
        records = await mind_records(state, settings)
        judges = await mind_records(state, settings, judge=True)
        if self.folder:
            for record in records:
                self._queue_write(self.folder.mind, record)
            for record in judges:
                self._queue_write(self.folder.judge_mind, record)
        events: list[Event] = [MindChanged(record=record) for record in records]
        events += [JudgeMindChanged(record=record) for record in judges]
        rows = self.place.ledger.rows()
        if self.turn:
            events.append(TurnEnded(turn=self.turn, max_messages=settings.max_messages, totals=totals(rows)))
        if self.folder:
            manifest = manifest_in_progress(
                self.manifest,
                turn=self.turn,
                rows=rows,
                corrections=self.corrections,
                silences=self.silences,
                judgements=by_module(state.get("judgements") or {}),
            )
            self._queue_write(self.folder.manifest, manifest)
        return events


_UNWORDED: Final = "None was left to word the majority's position."
