"""A run in progress, from its first event to its end.

Beginning, resuming, branching and replaying each check and prepare a run; `events_of` yields the events of all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from ...graph import phases
from ...graph.edges import lacks_conclusion
from ...models.ledger import NotRecorded
from ...models.redaction import redact
from ...nodes.minds.appraising import asked_as
from ...state.errors import BudgetExhausted, MachineError, ModelError, PerSimChatError
from ...state.outcomes import by_module, hopeless
from ...state.settings import Settings
from ..control import Control
from ..events import Asked, Concluded, Continued, Event, Paused, Stopped, StopReason, StoryOutcome
from ..folder.manifest import Manifest
from ..folder.parts import totals
from ..folder.run_folder import RunFolder
from ..threads import in_thread
from .progress import Progress
from .resources import RunResources, Trace

_UNWORDED: Final = "None was left to word the majority's position."
_UNSCORED: Final = "None was left to score the last utterances."


class Run:
    """A run in progress; its resources are open.

    Args:
        place: its resources.
        manifest: what is known about it so far.
        folder: where it is kept; None: nowhere.
        control: lets people take part; None if no person attends.
        given: the graph's input; None: continue from its last checkpoint.
        first: the events that come first.
        state: the conversation so far, if the run continues one.
        complete: the last turn that all agents have heard; -1 before they have awoken.
    """

    def __init__(
        self,
        place: RunResources,
        manifest: Manifest,
        folder: RunFolder | None,
        control: Control | None,
        *,
        given: Any,
        first: Iterable[Event],
        state: dict[str, Any] | None = None,
        complete: int = -1,
    ) -> None:
        self._place, self._run, self._folder = place, manifest.run, folder
        self._given, self._first = given, first
        self._control = control or Control(attended=False)
        about, guide = manifest.settings, manifest.guide
        self._control.begin(
            manifest.names,
            manifest.people,
            baseline=about.baseline,
            in_story=about.mode == "story",
            moderator=guide.moderator if guide is not None else None,
        )
        self._progress = Progress(place, folder, state=state, complete=complete)
        self._trace = Trace(manifest, on=place.traced)

    @property
    def begun(self) -> bool:
        """Whether its first event was yielded."""
        return self._place.begun

    async def events(self) -> AsyncGenerator[Event, None]:
        """Its events, to its end; call it once.

        Raises:
            PerSimChatError: after the `stopped` event that reports it.
        """
        self._place.begun = True
        try:
            for event in self._first:
                yield event
            end: tuple[StopReason | None, str, str] = (None, "", "")
            weak: ModelError | None = None
            try:
                async with aclosing(self._conversation()) as events:
                    async for event in events:
                        yield event
                if not self._progress.last.get("stop_reason"):
                    end = ("stopped", *self._left())
                weak = _too_weak(self._progress.last, self._place.settings, self._run)
                if weak is not None:
                    end = ("error", self._progress.last["stop_source"], str(weak))
            except BudgetExhausted as spent:
                end = self._out_of_budget(spent)
            except NotRecorded as missing:
                end = ("stopped", "record", f"The record has no answer for {missing.where or 'a text'}.")
            stopped = await self._end(*end, weak)
        except OSError as error:
            failure = MachineError.caused_by(error, "the run cannot continue", "")
            yield await self._end("error", "error", str(failure), failure)
            raise failure from error
        except PerSimChatError as error:
            yield await self._end("error", "error", str(error), error)
            raise
        except Exception as error:
            yield await self._end("error", "error", redact(f"{type(error).__name__}: {error}"), error)
            raise
        except BaseException:  # cancelled, or the consumer is gone: nothing can be yielded any more
            self._finish(self._stopped("stopped", "user", ""))
            await self._trace.end({"reason": "stopped", "source": "user"})
            raise
        yield stopped
        if weak is not None:
            raise weak

    async def _conversation(self) -> AsyncGenerator[Event, None]:
        """The events between `started` and `stopped`; asks people and carries out their interventions."""
        progress, given = self._progress, self._given
        while True:
            turned = False
            stream = progress.stream(given, await self._config(), by_turns=self._trace.on)
            async with aclosing(stream) as parts:
                async for mode, payload in parts:
                    for event in await progress.take(mode, payload):
                        yield event
                    if not progress.turn_over:
                        continue
                    async for event in self._paused():
                        yield event
                    turned = self._place.resumable and self._control.wanted(progress.turn)
                    if turned and not self._trace.on:  # else it stops by itself
                        break
            if turned:
                await self._intervene()
                given = None
            elif progress.asked:
                answers: dict[str, Any] = {}
                for question in progress.asked:
                    async for event in self._ask(question, answers):
                        yield event
                if not answers:
                    wanted = self._place.resumable and self._control.wanted(progress.turn)
                    if wanted and not self._control.stopped:
                        await self._intervene()  # requests of the meantime wait in the state until the run is resumed
                    return
                given = Command(resume=answers)
            elif progress.halted and await self._goes_on():
                given = None
            else:
                return

    async def _goes_on(self) -> bool:
        """Whether the stopped graph has work left: after its end, at most a conclusion."""
        ended = self._progress.last.get("stop_reason")
        return not ended or bool((await self._place.graph.aget_state(self._place.config)).next)

    async def _config(self) -> RunnableConfig:
        """The graph's configuration for its next steps."""
        progress = self._progress
        turn = progress.turn if progress.turn > progress.complete else progress.turn + 1
        name = "conclusion" if progress.last.get("stop_reason") else ""
        return await self._trace.config(self._place.config, turn, name)

    async def _paused(self) -> AsyncGenerator[Event, None]:
        """Wait as long as people want the run to wait between two turns."""
        turn = self._progress.turn
        await self._control.paced(turn)
        if self._control.pauses(turn):
            yield Paused(turn=turn)
            await self._control.unpaused(turn)
            yield Continued(turn=turn)

    async def _intervene(self) -> None:
        """Pass the interventions of people to the conversation, between two turns."""
        last = self._progress.last
        waiting = [*last.get("interventions", []), *self._control.take(self._progress.turn)]
        update = {"interventions": waiting}
        await self._place.graph.aupdate_state(await self._config(), update, as_node=phases.OUTSIDE)
        self._progress.last = {**last, **update}

    async def _ask(self, question: Any, answers: dict[str, Any]) -> AsyncGenerator[Event, None]:
        """Ask a person; an answer goes into `answers` under the question's id."""
        asked = Asked.model_validate(question.value)
        self._control.ask(question.value)
        yield asked
        answer = await self._control.reply()
        if answer is None:
            return
        answers[question.id] = answer

    def _left(self) -> tuple[str, str]:
        """Who stopped the run if no rule did, and the words for it."""
        if self._control.stopped:
            return "moderator", "The moderator ended the conversation."
        return "person", "A person was asked, and nobody was there to answer."

    def _out_of_budget(self, spent: BudgetExhausted) -> tuple[StopReason | None, str, str]:
        """The end of a run whose budget is used up; if it had ended, only its conclusion or scores are missing."""
        last = self._progress.last
        if last.get("stop_reason"):
            missing = _UNWORDED if lacks_conclusion(cast(Any, last), self._place.settings) else _UNSCORED
            return last["stop_reason"], spent.budget, f"{last['stop_detail']} {missing}"
        return "budget", spent.budget, str(spent)

    async def _end(
        self, reason: StopReason | None, source: str, detail: str, error: Exception | None = None
    ) -> Stopped:
        try:
            await self._place.ledger.settled()  # cancelled requests have reported their usage
        finally:
            stopped = self._stopped(reason, source, detail)
            try:
                await in_thread(self._finish, stopped)
            except MachineError:
                if error is None:
                    raise
                # The run already ends with an error; resuming it writes what is missing now.
        told = {"reason", "source", "detail", "conclusion", "outcome", "totals"}
        await self._trace.end(stopped.model_dump(include=told), error)
        return stopped

    def _stopped(self, reason: StopReason | None, source: str, detail: str) -> Stopped:
        """The last event.

        Args:
            reason: why the run stopped, if the conversation did not end by itself.
            source: who or what stopped it.
            detail: one line about it.
        """
        usage, last = self._place.ledger.rows(), self._progress.last
        own = reason is None
        conclusion, outcome = last.get("conclusion"), last.get("outcome")
        return Stopped(
            run=self._run,
            reason=reason or last["stop_reason"],
            source=last["stop_source"] if own else source,
            detail=last["stop_detail"] if own else detail,
            conclusion=Concluded.model_validate(conclusion) if conclusion else None,
            outcome=StoryOutcome.model_validate(outcome) if outcome else None,
            turn=self._progress.turn,
            totals=totals(usage),
            usage=usage,
            folder=str(self._folder.path) if self._folder else None,
        )

    def _finish(self, stopped: Stopped) -> None:
        """Write the end of the run."""
        self._control.end()
        if self._folder is not None:
            judged = by_module(self._progress.last.get("judgements") or {})
            self._folder.end(stopped, judged)


async def events_of(opening: AbstractAsyncContextManager[Run]) -> AsyncGenerator[Event, None]:
    """The events of a run, to its end; its resources open before the first event and close after the last.

    Args:
        opening: makes the run.

    Raises:
        InputError: before the first event: the run cannot be made.
        PerSimChatError: after the `stopped` event that reports it.
    """
    async with opening as run, aclosing(run.events()) as events:
        async for event in events:
            yield event


def _too_weak(state: Mapping[str, Any], settings: Settings, run: str) -> ModelError | None:
    """The error with which a conversation stopped by itself: every answer of a model was invalid.

    Args:
        state: the last state of the conversation.
        settings: of the simulation.
        run: its id, for the command that resumes it.
    """
    module = hopeless(state.get("streaks") or {}) if state.get("stop_reason") == "error" else None
    if module is None:
        return None
    answering = asked_as(module, settings)
    own = answering in settings.module_models
    other = f"--set 'module_models={{{answering}: …}}'" if own else "--model …"
    return ModelError(
        state["stop_detail"].rstrip("."),
        model="",
        turn=state["turn"],
        remedy=f"Go on with another model: persimchat resume {run} {other}",
    )
