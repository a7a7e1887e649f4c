"""The events of a run: made from its states and its graph's stream, and written to its folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from itertools import takewhile
from typing import Any, Final, Literal, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from ...graph import phases
from ...graph.edges import nobody_took_part
from ...graph.stories.talks import hears, last_at_once
from ...memory.recollection import memories_of
from ...models.recording import Request
from ...state.conversation import judge_mind, participants, utterances
from ...state.minds.listening import was_asked
from ...state.minds.mind import Mind, is_awake
from ...state.minds.pruning import Pruned
from ...state.outcomes import Weak, by_module
from ...state.settings import Settings
from ...state.visibility import is_heard
from ..events import (
    Analysed,
    Event,
    HandRaised,
    Happened,
    Judged,
    JudgeMindChanged,
    MindChanged,
    MindRecord,
    RecalledMemory,
    Shortened,
    Silenced,
    Speaking,
    Token,
    TopicChanged,
    TurnEnded,
    Uttered,
    Waiting,
)
from ..folder.lines import STANDING, RecordedIntervention
from ..folder.manifest import most_utterances
from ..folder.parts import StoryStanding, totals
from ..folder.run_folder import RunFolder
from ..threads import in_thread
from .resources import RunResources

_HEARD: Final = ("percept", "focal_points")
_AS_THEY_ARE: Final = ("emotion", "need_to_talk", "need_reasoning", "openness", "openness_reasoning", "own")


async def mind_record(simulation: str, turn: int, mind: Mind, settings: Settings, *, heard: bool = True) -> MindRecord:
    """The record of one mind after it has heard utterance `turn`, with the texts of the recalled memories.

    Args:
        simulation: the run's id.
        turn: utterances so far.
        mind: in its current state.
        settings: of the simulation.
        heard: whether it has heard the utterance; false for a whisper to others, and if its model failed.
    """
    fixed, listened = settings.cognition == "fixed", was_asked(mind, turn)
    recalled = mind["recalled"] if listened is not False else []  # `mind["recalled"]` is from an earlier turn
    found = await memories_of(settings, simulation, mind["name"], [r["id"] for r in recalled], mind["unsaved"])
    weak: Weak | None = mind.get("weak")
    failed, corrected = (weak["failed"], weak["corrected"]) if weak and weak["turn"] == turn else ([], [])
    did = mind["did"] if turn else ""
    taken = [*(_HEARD if heard and not fixed else ()), *_AS_THEY_ARE]  # in a branch, percept is from before it
    return MindRecord(
        turn=turn,
        agent=mind["name"],
        did=did,
        recalled=[
            RecalledMemory(kind=memory.kind, turn=memory.turn, theme=memory.theme, **row)
            for row, memory in zip(recalled, found, strict=True)
        ],
        short_term_memory=mind["stm"],
        long_term_memories=len(mind["alive"]),
        action="" if fixed else mind["action"],
        plan=mind["plan"] if (did == "plan" and "planning" not in failed) or mind.get("planned") == turn > 0 else None,
        insights=mind["insights"] if did == "reflect" else [],
        listened=listened,
        failed=failed,
        corrected=corrected,
        story=StoryStanding.model_validate(mind["story"]) if "story" in mind else None,
        **{name: mind[name] for name in taken if name in mind},  # type: ignore[literal-required]
    )


async def mind_records(state: dict[str, Any], settings: Settings, *, judge: bool = False) -> list[MindRecord]:
    """The records of all awake minds, in the order of the participants.

    Args:
        state: the conversation.
        settings: of the simulation.
        judge: the mind of the persona judge, in place of the participants.
    """
    own = judge_mind(state)
    listed = ([own] if own else []) if judge else list(participants(state).values())
    turn, said = state["turn"], last_at_once(state)

    async def record(mind: Mind) -> MindRecord:
        silent, pruned = mind.get("silent"), mind.get("pruned")
        deaf = silent and silent["step"] == "hear" and silent["turn"] == turn
        heard = not deaf and (not said or any(is_heard(one, "" if judge else mind["name"]) for one in said))
        made = await mind_record(state["simulation"], turn, mind, settings, heard=heard)
        if pruned is None or not any((one["speaker"], one["turn"]) == (mind["name"], pruned["turn"]) for one in said):
            return made
        return made.model_copy(update={"pruned": Pruned.model_validate(pruned)})

    return list(await asyncio.gather(*(record(mind) for mind in listed if is_awake(mind))))


def remembered(mind: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that a mind needs to continue: those alive, and those recalled last.

    The next prompts show recalled memories even if the mind has forgotten them since.
    """
    return list(dict.fromkeys([*mind["alive"], *(recalled["id"] for recalled in mind["recalled"])]))


class Projection:
    """Follows the states of a run, and makes its events of them: what has happened between two.

    Args:
        settings: of the run.
        state: the state from which it goes on; empty for a run that begins.
        complete: the last turn that has ended there; -1 before all have awoken.

    Attributes:
        last: the newest state.
        turn: utterances so far.
        complete: the last turn that has ended.
    """

    def __init__(self, settings: Settings, state: Mapping[str, Any] | None = None, complete: int = -1) -> None:
        self._settings, self.last, self.complete = settings, dict(state or {}), complete
        deaf = bool(self.last.get("agents")) and nobody_took_part(self.last)  # then none of them was told
        self._silent = [one for one in _silences(self.last) if not (deaf and one.step in ("awaken", "hear"))]

    @property
    def turn(self) -> int:
        """Utterances so far."""
        return _turn(self.last)

    async def after(self, nodes: Collection[str], state: dict[str, Any]) -> list[BaseModel]:
        """The events of a finished superstep.

        Args:
            nodes: that ran in it.
            state: that it left.
        """
        before, self.last = self.last, state
        turn = _turn(state)
        events: list[BaseModel] = [Uttered.model_validate(one) for one in _said_since(_turn(before), state)]
        if phases.may_silence(nodes) and not (phases.may_meet_again(nodes) and nobody_took_part(state)):
            silent = _silences(state)  # if no mind has awoken or heard, all try again or the run ends
            events += [one for one in silent if one not in self._silent]
            self._silent = silent
        if phases.INTERVENE in nodes:
            events += _intervened(before, state, turn)
        if phases.ANALYSE in nodes:
            scored = max((score["turn"] for score in before.get("scores", [])), default=0)
            fresh = list(takewhile(lambda score: score["turn"] > scored, reversed(state["scores"])))
            events += [Analysed.model_validate(score) for score in reversed(fresh)]
        if phases.JUDGE in nodes:
            events.append(Judged.model_validate(state["verdicts"][-1]))
        if phases.ends_turn(nodes) and turn > self.complete:
            self.complete = turn
            events += await self._turn_ended(state, turn)
        if phases.AGENDA in nodes:
            events += await self._story_went_on(before, state)
        done = state.get("carried_out", [])[len(before.get("carried_out", [])) :]
        return [*events, *map(RecordedIntervention.model_validate, done)]

    async def _turn_ended(self, state: dict[str, Any], turn: int) -> list[BaseModel]:
        # The minds of a story of strategists change after words, not with them.
        records = await mind_records(state, self._settings) if "story" not in state or hears(self._settings) else []
        judges = await mind_records(state, self._settings, judge=True)
        events: list[BaseModel] = [MindChanged(record=record) for record in records]
        events += [JudgeMindChanged(record=record) for record in judges]
        if turn:
            most = most_utterances(self._settings, state.get("story"))
            judged = by_module(state.get("judgements") or {})
            events.append(TurnEnded(turn=turn, max_messages=most, judgements=judged))
        return events

    async def _story_went_on(self, before: Mapping[str, Any], state: dict[str, Any]) -> list[BaseModel]:
        """What has happened in a story beside words; after an update, also the minds of strategists."""
        fresh = [Happened.model_validate(one) for one in state["happenings"][len(before.get("happenings") or []) :]]
        last = max((place for place, one in enumerate(fresh) if one.do == STANDING), default=None)
        events: list[BaseModel] = []
        for place, happened in enumerate(fresh):
            events.append(happened)
            if place == last and not hears(self._settings):
                events += [MindChanged(record=record) for record in await mind_records(state, self._settings)]
        return events


def _turn(state: Mapping[str, Any]) -> int:
    """The number of the last utterance of a state; 0 before the first."""
    for message in reversed(state.get("messages", [])):
        if found := utterances([message]):
            return found[0]["turn"]
    return 0


def _said_since(turn: int, state: Mapping[str, Any]) -> list[Any]:
    """The utterances after a turn: none, one, or as many as a round of a baseline has."""
    said: list[Any] = []
    for message in reversed(state.get("messages", [])):
        found = utterances([message])
        if not found or found[0]["turn"] <= turn:
            break
        said.insert(0, found[0])
    return said


def _silences(state: Mapping[str, Any]) -> list[Silenced]:
    """The silences of agents: since when, at which step and why."""
    return [
        Silenced(agent=name, **{field: found[field] for field in ("turn", "step", "why")})
        for name, mind in state.get("agents", {}).items()
        if (found := mind.get("silent"))
    ]


def _intervened(before: Mapping[str, Any], state: Mapping[str, Any], turn: int) -> list[BaseModel]:
    """The events of an intervention: a new topic, raised or lowered hands."""
    events: list[BaseModel] = []
    if state["topic"] != before.get("topic"):
        events.append(TopicChanged(turn=turn, topic=state["topic"]))
    for name, mind in state["agents"].items():
        if mind.get("hand", False) != before["agents"][name].get("hand", False):
            events.append(HandRaised(turn=turn, agent=name, raised=mind["hand"]))
    return events


class Progress(Projection):
    """The progress of a run: follows its graph's stream, and writes the events to the run's folder.

    Args:
        place: the resources of the run.
        folder: where the run is kept; None: nowhere.
        state: the conversation so far, if the run continues one.
        complete: the last turn that has ended; -1 before all have awoken.

    Attributes:
        turn_over: whether the last part ended a turn after which another may follow.
        asked: the questions to people for which the graph waits.
        halted: whether the graph has stopped between two turns.
    """

    def __init__(
        self,
        place: RunResources,
        folder: RunFolder | None,
        *,
        state: dict[str, Any] | None = None,
        complete: int = -1,
    ) -> None:
        super().__init__(place.settings, state, complete)
        self._place, self._folder = place, folder
        self._stepped: Literal["checkpoints", "values"] = "checkpoints" if place.resumable else "values"
        """The part of the stream with the state that a superstep left, once that is kept."""
        self.turn_over = self.halted = False
        self.asked: list[Any] = []
        self._nodes: set[str] = set()
        self._speaking: Speaking | None = None
        self._streamed: str | None = None

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
            stream_mode=["messages", "updates", self._stepped, "custom"],
            durability="sync" if self._place.resumable else None,
            # each turn is traced as one run
            interrupt_after=[phases.turn_end(self._place.settings.mode)] if by_turns else None,
        )  # type: ignore[assignment]
        return cast(AsyncGenerator[tuple[str, Any], None], stream)

    async def take(self, mode: str, payload: Any) -> list[Event]:
        """The events of one part of the graph's stream; writes those of a superstep to the folder."""
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
            if mode == "values":
                return await self._superstep(nodes, payload, None)
            return await self._superstep(nodes, payload["values"], payload["config"]["configurable"]["checkpoint_id"])
        return []

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

    async def _superstep(self, nodes: set[str], state: dict[str, Any], checkpoint: str | None) -> list[Event]:
        """The events of a finished superstep, from the nodes that ran and the state that they left."""
        found = await self.after(nodes, state)
        if self._folder and found:
            await in_thread(self._folder.append, found, checkpoint)
        request, self._place.ledger.shortened = self._place.ledger.shortened, None
        self.turn_over = phases.ends_turn(nodes) and not state["stop_reason"]
        cut, self._place.ledger.cut = self._place.ledger.cut, None
        shortened: list[Event] = [] if request is None else [_shortened(request)]
        if cut is not None:
            shortened.append(Shortened(turn=state["turn"], module="embedding", **cut._asdict()))
        told = [
            one.model_copy(update={"totals": totals(self._place.ledger.rows())}) if isinstance(one, TurnEnded) else one
            for one in found
            if not isinstance(one, RecordedIntervention)
        ]
        return [*shortened, *cast(list[Event], told)]


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
