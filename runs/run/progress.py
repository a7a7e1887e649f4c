"""The progress of a run: turns the graph's stream into events and into lines of the run's folder."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig

from persimchat.graph import phases
from persimchat.graph.edges import nobody_took_part
from persimchat.graph.stories.talks import hears
from persimchat.models.recording import Request
from persimchat.runs.events import (
    Analysed,
    Event,
    HandRaised,
    Happened,
    Judged,
    JudgeMindChanged,
    MindChanged,
    Shortened,
    Silenced,
    Speaking,
    Token,
    TopicChanged,
    TurnEnded,
    Uttered,
    Waiting,
)
from persimchat.runs.folder.lines import STANDING
from persimchat.runs.folder.manifest import Manifest, most_utterances
from persimchat.runs.folder.run_folder import RunFolder
from persimchat.runs.folder.totals import totals
from persimchat.runs.run.minds import mind_records
from persimchat.runs.run.resources import RunResources
from persimchat.state.conversation import utterances
from persimchat.state.mind import Utterance
from persimchat.state.outcomes import by_module

Result = TypeVar("Result")


class Progress:
    """The progress of a run.

    Args:
        place: the resources of the run.
        manifest: run.json when the run began or was resumed.
        folder: where the run is kept; None: nowhere.
        state: the conversation so far, if the run continues one.
        complete: the last turn that all agents have heard; -1 before they have awoken.

    Attributes:
        last: the channels after the last superstep.
        turn: utterances so far.
        complete: as above.
        turn_over: whether the last part ended a turn after which another may follow.
        asked: the questions to people for which the graph waits.
        halted: whether the graph has stopped between two turns.
    """

    def __init__(
        self,
        place: RunResources,
        manifest: Manifest,
        folder: RunFolder | None,
        *,
        state: dict[str, Any] | None = None,
        complete: int = -1,
    ) -> None:
        self._place, self._manifest, self._folder = place, manifest, folder
        self.last = state or {}
        said = utterances(self.last.get("messages", []))
        self.turn = said[-1]["turn"] if said else 0
        self.complete = complete
        self.turn_over = self.halted = False
        self.asked: list[Any] = []
        self._scored = max((score["turn"] for score in self.last.get("scores", [])), default=0)
        self._corrections = Counter(name for utterance in said for name in utterance["corrections"])
        self._silences = manifest.silences
        self._silent = set(_silences(self.last))
        self._carried_out = len(self.last.get("carried_out", []))
        self._happened = len(self.last.get("happenings") or [])
        self._nodes: set[str] = set()
        self._speaking: Speaking | None = None
        self._streamed: str | None = None
        self._writes: list[Callable[[], None]] = []

    def stream(self, given: Any, config: RunnableConfig, *, by_turns: bool) -> AsyncGenerator[tuple[str, Any], None]:
        """Run the graph to its end or until it waits; the caller takes each part of its stream.

        Args:
            given: the graph's input; None: continue from its last checkpoint.
            config: of the next steps.
            by_turns: whether the graph stops after every turn.
        """
        self.asked, self.halted = [], False
        self._nodes, self._speaking, self._streamed = set(), None, None
        stream: AsyncIterator[tuple[str, Any]] = self._place.graph.astream(
            given,
            config,
            context=self._place.settings,
            stream_mode=["messages", "updates", "values", "custom"],
            durability="sync" if self._place.resumable else None,
            # each turn is traced as one run
            interrupt_after=[phases.turn_end(self._place.settings.mode)] if by_turns else None,
        )  # type: ignore[assignment]
        return cast(AsyncGenerator[tuple[str, Any], None], stream)

    async def take(self, mode: str, payload: Any) -> list[Event]:
        """The events of one part of the graph's stream; writes what a superstep adds to the folder."""
        self.turn_over = False
        if mode == "messages":
            return self._words(*payload)
        if mode == "custom" and "waiting" in payload:
            return [Waiting.model_validate(payload["waiting"])]
        if mode == "custom":
            self._speaking, self._streamed = Speaking.model_validate(payload), None
            return [self._speaking]
        if mode == "updates":
            if "__interrupt__" in payload:
                self.asked += payload["__interrupt__"]
                self.halted = not payload["__interrupt__"]
            self._nodes |= set(payload)
        elif self._nodes:
            nodes, self._nodes = self._nodes, set()
            return await self._superstep(nodes, payload)
        return []

    def manifest(self, used: Sequence[dict[str, Any]]) -> Manifest:
        """The current contents of run.json.

        Args:
            used: the accounting rows.
        """
        return self._manifest.in_progress(
            turn=self.turn,
            rows=used,
            corrections=self._corrections,
            silences=self._silences,
            judgements=by_module(self.last.get("judgements") or {}),
        )

    def write(self) -> None:
        """Write what the folder lacks, in a thread; called at the end of every superstep."""
        writes, self._writes = self._writes, []
        for write in writes:
            write()

    def _words(self, message: Any, metadata: Mapping[str, Any]) -> list[Event]:
        """A piece of an utterance from its model; none of other modules' answers."""
        spoken = isinstance(message, AIMessageChunk) and metadata.get("langgraph_node") == phases.SPEAK
        if self._speaking is None or not spoken:
            return []
        # After invalid first words, the model is asked again.
        events: list[Event] = [self._speaking] if self._streamed and message.id != self._streamed else []
        self._streamed = message.id
        if message.text:
            events.append(Token(turn=self._speaking.turn, speaker=self._speaking.speaker, text=str(message.text)))
        return events

    async def _superstep(self, nodes: set[str], state: dict[str, Any]) -> list[Event]:
        """The events of a finished superstep, from the nodes that ran and the state that they left."""
        before, self.last = self.last, state
        events: list[Event] = [self._uttered(utterance) for utterance in self._new_utterances(state)]
        request, self._place.ledger.shortened = self._place.ledger.shortened, None
        if request is not None:
            events.append(_shortened(request))
        if phases.may_silence(nodes) and not (phases.may_meet_again(nodes) and nobody_took_part(state)):
            events += self._silenced(state)  # if no mind has awoken or heard, all try again or the run ends
        if phases.INTERVENE in nodes:
            events += _intervened(before, state, self.turn)
        if phases.ANALYSE in nodes:
            fresh = list(takewhile(lambda score: score["turn"] > self._scored, reversed(state["scores"])))
            events += [self._analysed(score) for score in reversed(fresh)]
        if phases.JUDGE in nodes:
            judged = Judged.model_validate(state["verdicts"][-1])
            events.append(judged)
            if self._folder:
                self._writes.append(partial(self._folder.verdict, judged))
        if phases.ends_turn(nodes) and self.turn > self.complete:
            self.complete = self.turn
            events += await self._turn_ended(state)
        if phases.AGENDA in nodes:
            events += await self._story_went_on(state)
        done = state.get("carried_out", [])[self._carried_out :]
        self._carried_out += len(done)
        if self._folder:
            for record in done:
                self._writes.append(partial(self._folder.control, record))
        if self._writes:
            await in_thread(self.write)
        self.turn_over = phases.ends_turn(nodes) and not state["stop_reason"]
        return events

    def _new_utterances(self, state: dict[str, Any]) -> list[Utterance]:
        """The utterances of the superstep: none, one, or as many as a round of a baseline has."""
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
        self._corrections.update(uttered.corrections)
        if self._folder:
            self._writes.append(partial(self._folder.utterance, uttered))
        return uttered

    def _silenced(self, state: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for agent, turn, step, why in _silences(state):
            if (agent, turn, step, why) not in self._silent:
                silenced = Silenced.model_validate({"agent": agent, "turn": turn, "step": step, "why": why})
                events.append(silenced)
                self._silences += 1
                if self._folder:
                    self._writes.append(partial(self._folder.silence, silenced))
        self._silent = set(_silences(state))
        return events

    def _analysed(self, score: dict[str, Any]) -> Analysed:
        analysed = Analysed.model_validate(score)
        self._scored = analysed.turn
        if self._folder:
            self._writes.append(partial(self._folder.score, analysed))
        return analysed

    async def _turn_ended(self, state: dict[str, Any]) -> list[Event]:
        settings = self._place.settings
        # The minds of a story of strategists change after words, not with them.
        records = await mind_records(state, settings) if "story" not in state or hears(settings) else []
        judges = await mind_records(state, settings, judge=True)
        events: list[Event] = [MindChanged(record=record) for record in records]
        events += [JudgeMindChanged(record=record) for record in judges]
        used = self._place.ledger.rows()
        if self.turn:
            most = most_utterances(settings, state.get("story"))
            events.append(TurnEnded(turn=self.turn, max_messages=most, totals=totals(used)))
        if self._folder:
            for record in records:
                self._writes.append(partial(self._folder.mind, record))
            for record in judges:
                self._writes.append(partial(self._folder.judge_mind, record))
            self._writes.append(partial(self._folder.manifest, self.manifest(used)))
        return events

    async def _story_went_on(self, state: dict[str, Any]) -> list[Event]:
        """What has happened in a story beside words; after an update, also the minds of strategists."""
        fresh = [Happened.model_validate(one) for one in state["happenings"][self._happened :]]
        self._happened += len(fresh)
        last = max((place for place, one in enumerate(fresh) if one.do == STANDING), default=None)
        events: list[Event] = []
        for place, happened in enumerate(fresh):
            events.append(happened)
            if self._folder:
                self._writes.append(partial(self._folder.happening, happened))
            if place == last and not hears(self._place.settings):
                for record in await mind_records(state, self._place.settings):
                    events.append(MindChanged(record=record))
                    if self._folder:
                        self._writes.append(partial(self._folder.mind, record))
        return events


def _silences(state: Mapping[str, Any]) -> list[tuple[str, int, str, str]]:
    """The silences of agents: since when, at which step and why."""
    minds = state.get("agents", {})
    silent = {name: mind["silent"] for name, mind in minds.items() if mind.get("silent")}
    return [(name, found["turn"], found["step"], found["why"]) for name, found in silent.items()]


def _intervened(before: Mapping[str, Any], state: Mapping[str, Any], turn: int) -> list[Event]:
    """The events of an intervention: a new topic, raised or lowered hands.

    Args:
        before: the state before it.
        state: the state after it.
        turn: utterances so far.
    """
    events: list[Event] = []
    if state["topic"] != before.get("topic"):
        events.append(TopicChanged(turn=turn, topic=state["topic"]))
    for name, mind in state["agents"].items():
        if mind.get("hand", False) != before["agents"][name].get("hand", False):
            events.append(HandRaised(turn=turn, agent=name, raised=mind["hand"]))
    return events


def _shortened(request: Request) -> Shortened:
    """The event of a prompt that exceeded its model's context, and what was omitted from it."""
    memories, said = request.dropped
    return Shortened(
        turn=request.turn,
        agent=request.agent,
        module=request.module,
        model=request.name.written,
        context_tokens=request.context or 0,
        memories=memories,
        utterances=said,
    )


async def in_thread(work: Callable[..., Result], *given: object) -> Result:
    """Do blocking work in a thread. A cancelled caller waits for its end, so no other write runs beside it."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
