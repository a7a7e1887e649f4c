"""Running a simulation: the graph's stream becomes the event stream, and the events go to the run's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AIMessageChunk

from persimchat.graph.choice import graph_for
from persimchat.models.naming import default_model_name
from persimchat.models.redaction import redact
from persimchat.personas.names import with_full_names
from persimchat.runs.checks import check
from persimchat.runs.events import (
    Analysed,
    Concluded,
    Event,
    Judged,
    JudgeMindChanged,
    MindChanged,
    Speaking,
    Started,
    Stopped,
    StopReason,
    Token,
    TurnEnded,
    Uttered,
)
from persimchat.runs.folder import RunFolder, new_run_id, now
from persimchat.runs.manifest import first_manifest, last_manifest
from persimchat.runs.meter import Meter
from persimchat.runs.records import mind_records
from persimchat.runs.totals import totals
from persimchat.state.conversation import utterances
from persimchat.state.errors import PerSimChatError
from persimchat.state.mind import Utterance
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

_WHY: Final = {
    "stopped": "The conversation was stopped before its end.",
    "error": "The conversation ended with an error.",
}
"""What the transcript says where no rule of the conversation's own has ended it."""


class _Run:
    """One run in progress: what is known of it, and its folder."""

    def __init__(self, scenario: Scenario, settings: Settings, run: str, folder: RunFolder | None) -> None:
        self.scenario, self.settings, self.run, self.folder = scenario, settings, run, folder
        self.turn = self.scored = 0
        self.last: dict[str, Any] = {}
        self.corrections: Counter[str] = Counter()
        self.meter = Meter(settings)
        self.manifest = first_manifest(run, scenario, settings, now().isoformat(timespec="seconds"))
        if folder:
            folder.begin(self.manifest)

    def end(self, reason: StopReason | None = None, detail: str = "") -> Stopped:
        """Write what is known, for good.

        Args:
            reason: why the run is over where it was not the conversation's own end.
            detail: of that, one line.
        """
        usage = self.meter.rows()
        own = reason is None and self.last.get("stop_reason")
        conclusion = self.last.get("conclusion")
        stopped = Stopped(
            run=self.run,
            reason=self.last["stop_reason"] if own else reason or "error",
            source=self.last["stop_source"] if own else "user" if reason == "stopped" else "error",
            detail=self.last["stop_detail"] if own else detail,
            conclusion=Concluded.model_validate(conclusion) if conclusion else None,
            turn=self.turn,
            totals=totals(usage),
            usage=usage,
            folder=str(self.folder.path) if self.folder else None,
        )
        if self.folder:
            ended = now().isoformat(timespec="seconds")
            manifest = last_manifest(self.manifest, ended=ended, stopped=stopped, corrections=self.corrections)
            self.folder.end(manifest, stopped.detail if own else _WHY[stopped.reason])
        return stopped

    async def conversation(self) -> AsyncGenerator[Event, None]:
        """Everything between `started` and `stopped`."""
        stream: AsyncIterator[tuple[str, Any]] = graph_for(self.settings).astream(  # type: ignore[assignment]
            {**self.scenario.model_dump(by_alias=True, exclude={"settings"}), "simulation": self.run},
            {
                "configurable": {"thread_id": self.run},
                "callbacks": [self.meter],
                "run_name": "persimchat",
                "metadata": {"run": self.run},
            },
            context=self.settings,
            stream_mode=["messages", "updates", "values", "custom"],
        )
        step: set[str] = set()
        speaking: Speaking | None = None
        streamed: str | None = None
        async for mode, payload in stream:
            if mode == "messages":
                message, metadata = payload
                spoken = isinstance(message, AIMessageChunk) and metadata.get("langgraph_node") == "speak"
                if speaking is None or not spoken:
                    continue
                if streamed and message.id != streamed:  # the first words were of no use and are asked for again
                    yield speaking
                streamed = message.id
                if message.text:
                    yield Token(turn=speaking.turn, speaker=speaking.speaker, text=str(message.text))
            elif mode == "custom":
                speaking, streamed = Speaking.model_validate(payload), None
                yield speaking
            elif mode == "updates":
                step |= set(payload)
            else:
                for event in await self._after(step, payload):
                    yield event
                step = set()

    async def _after(self, step: set[str], state: dict[str, Any]) -> list[Event]:
        """The events of a superstep that is over: which nodes ran, and the state that they left."""
        self.last = state
        events: list[Event] = [self._uttered(utterance) for utterance in self._new_utterances(state)]
        if "analyse" in step:
            fresh = list(takewhile(lambda score: score["turn"] > self.scored, reversed(state["scores"])))
            events += [self._analysed(score) for score in reversed(fresh)]
        if "judge" in step:
            judged = Judged.model_validate(state["verdicts"][-1])
            events.append(judged)
            if self.folder:
                self.folder.verdict(judged)
        if "end_check" in step:
            events += await self._turn_ended(state)
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
            self.folder.utterance(uttered)
        return uttered

    def _analysed(self, score: dict[str, Any]) -> Analysed:
        analysed = Analysed.model_validate(score)
        self.scored = analysed.turn
        if self.folder:
            self.folder.score(analysed)
        return analysed

    async def _turn_ended(self, state: dict[str, Any]) -> list[Event]:
        records = await mind_records(state, self.settings)
        judges = await mind_records(state, self.settings, judge=True)
        if self.folder:
            for record in records:
                self.folder.mind(record)
            for record in judges:
                self.folder.judge_mind(record)
        events: list[Event] = [MindChanged(record=record) for record in records]
        events += [JudgeMindChanged(record=record) for record in judges]
        if self.turn:
            limit = self.settings.max_messages
            events.append(TurnEnded(turn=self.turn, max_messages=limit, totals=totals(self.meter.rows())))
        return events


async def run_simulation(
    scenario: Scenario, settings: Settings, *, out: Path | None = None, run: str | None = None
) -> AsyncGenerator[Event, None]:
    """Run a simulation and yield its events.

    Args:
        scenario: who talks about what.
        settings: how; where they name no model, the default one is taken and the `started` event says so.
        out: folder in which the run's own folder is made; nothing is written where it is None.
        run: the run's id; made from time and topic where it is None.

    Raises:
        InputError: before the first event, for models, embeddings, stores and folders that cannot be used.
        PerSimChatError: after the `stopped` event that tells of it; what was said so far is on disk. A consumer that
            closes the stream or is cancelled stops the run, which then counts as `stopped`.
    """
    model, notice = default_model_name(settings.model)
    settings = settings.model_copy(update={"model": model})
    settings = with_full_names(settings, [persona.name for persona in scenario.participants])
    await check(scenario, settings)
    run = run or new_run_id(scenario.topic, now())
    current = _Run(scenario, settings, run, RunFolder(out, run) if out is not None else None)
    try:
        yield Started(
            run=run,
            mode=settings.mode,
            baseline=settings.baseline,
            topic=scenario.topic,
            participants=[p.name for p in scenario.participants],
            models={p.name: settings.model_for(p.name, "natural_language") or model for p in scenario.participants},
            max_messages=settings.max_messages,
            notice=notice or "",
        )
        async with aclosing(current.conversation()) as events:
            async for event in events:
                yield event
    except PerSimChatError as error:
        yield current.end("error", str(error))
        raise
    except Exception as error:
        yield current.end("error", redact(f"{type(error).__name__}: {error}"))
        raise
    except BaseException:  # cancelled, or the consumer has gone: nobody is there to yield to
        current.end("stopped")
        raise
    yield current.end()
