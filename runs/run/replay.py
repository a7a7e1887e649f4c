"""Replays a run from its record, without calls, keys or a network.

Compared with the run, a replay shows where it differs. It also shows what models were asked for an utterance: answers
are recorded, but of a prompt only a digest, so the prompts are made again by a replay of that turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field

from ...models.recording import Request, Row, asking_of, prompt_digest
from ...state.errors import InputError, ModelError, PerSimChatError
from ...state.intervention import intervention
from ...state.person_answer import PersonAnswer, Question, person_answer
from ...state.settings import Settings
from ..control import Control
from ..events import Event, Stopped, TurnEnded
from ..folder.manifest import Branch, Manifest, RecordedSettings, versions
from ..folder.reading import calls_in, opened, read_answers
from ..folder.run_folder import READABLE, RUN, RunFolder, now
from ..kinds import CONVERSATION
from ..log import DAMAGED
from .at_turn import copied
from .branch import go_on_from, id_of, prepared
from .resources import Replaying, open_resources
from .resume import go_on
from .resume_input import manifest_of, scenario_of, settings_of, states_at
from .run import Run, events_of
from .simulation import begin_run


class RecordedControl(Control):
    """Repeats the interventions of a run, each at its turn.

    Args:
        records: the interventions, in order.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(attended=False)
        self._answers: dict[tuple[Any, ...], PersonAnswer] = {}
        self._done: list[dict[str, Any]] = []
        for record in records:
            rest = dict(record)
            if rest["do"] != "answer":
                self._done.append(rest)
                continue
            answer = {key: value for key, value in rest.items() if key in PersonAnswer.__annotations__}
            self._answers[_question_of(rest)] = cast(PersonAnswer, answer)

    def leave_out(self, waiting: Iterable[Mapping[str, Any]]) -> None:
        """Skip the interventions that are already waiting in the conversation's state."""
        for asked in waiting:
            same = next((done for done in self._done if asked.items() <= done.items()), None)
            if same is not None:
                self._done.remove(same)

    def wanted(self, turn: int) -> bool:
        """Whether interventions after this many utterances are still to be repeated."""
        return any(record["turn"] == turn for record in self._done)

    def take(self, turn: int) -> list[dict[str, Any]]:
        """The interventions after this many utterances."""
        now = [record for record in self._done if record["turn"] == turn]
        self._done = [record for record in self._done if record["turn"] != turn]
        return [{key: value for key, value in record.items() if key != "turn"} for record in now]

    def ask(self, question: Question) -> None:
        """Answer for the person as recorded; without a recorded answer, the replay stops as the run did."""
        super().ask(question)
        story, position = question.get("story"), question.get("position")
        about = {**(dict(story) if story else {}), **({"poll": position["poll"]} if position else {})}
        found = self._answers.get(_question_of({**question, **about}))
        what, given = question["what"], None if found is None else dict(found)
        self._answer = None if given is None else person_answer(given, what, self._present, story, position)

    async def reply(self) -> PersonAnswer | None:
        """The recorded answer."""
        self._asked = None
        return self._answer


def _question_of(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells a question from all others of a run: in stories also act and ballot, of a position the poll."""
    told = (record.get("act", 0), record.get("ballot", ""), record.get("poll", ""))
    return (*(record[key] for key in ("turn", "agent", "what")), *told)


_OWN: Final = {"checkpoints": "run", "store": "run"}
"""A replay keeps everything in its own folder, even if the run kept it elsewhere."""


class Replay:
    """The replay of a run.

    Args:
        folder: the folder of the run; it is not changed.
        out: where to make the folder of the replay; None: it is deleted afterwards.
        since: how many utterances there are where the replay begins, from the run's checkpoint there; 0: it begins at
            the run's own beginning.
    """

    def __init__(self, folder: Path, out: Path | None = None, *, since: int = 0) -> None:
        self._folder, self._out, self._since = folder, out, since
        self.comparison: Comparison | None = None
        """How the replay differs from the run; set after the last event."""

    async def events(self) -> AsyncGenerator[Event, None]:
        """The replay's events, to its end.

        Raises:
            InputError: before the first event: the folder is not a run's, or the run kept no record.
            PerSimChatError: after the `stopped` event that reports it.
        """
        manifest = await asyncio.to_thread(manifest_of, self._folder)
        replay = Replaying(await asyncio.to_thread(read_answers, self._folder))
        with TemporaryDirectory(prefix="persimchat-replay-", ignore_cleanup_errors=True) as temporary:
            out = self._out or Path(temporary)
            failed: ModelError | None = None
            try:
                async with aclosing(self._parts(manifest, out, replay)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:  # the run failed alike, or the replay differs
                failed = error
            prompts = {found for ledger in replay.ledgers for found in ledger.differences}
            self.comparison = await asyncio.to_thread(
                compared, self._folder, out / manifest.run, manifest, sorted(prompts)
            )
            if failed is not None:
                raise failed

    async def asked(self, turn: int) -> list[Request]:
        """The questions of the run from the replay's beginning until the turn after an utterance has ended.

        Args:
            turn: number of the utterance.

        Returns:
            The questions in the order in which they are asked now; of a run that broke off, those that it asked.

        Raises:
            InputError: the folder is not a run's; it kept no record or no checkpoint at the beginning; or somebody is
                working on it.
        """
        manifest = await asyncio.to_thread(manifest_of, self._folder)
        found: list[Request] = []
        replay = Replaying(await asyncio.to_thread(read_answers, self._folder), told=found.append)
        with TemporaryDirectory(prefix="persimchat-replay-", ignore_cleanup_errors=True) as temporary:
            try:
                async with aclosing(self._parts(manifest, Path(temporary), replay)) as events:
                    async for event in events:
                        if isinstance(event, TurnEnded) and event.turn > turn:
                            break
            except PerSimChatError:
                if not found:
                    raise
        return found

    async def _parts(self, manifest: Manifest, out: Path, replay: Replaying) -> AsyncGenerator[Event, None]:
        """Run the parts one after the other; a run that was resumed with other settings has several."""
        control = RecordedControl(await asyncio.to_thread(_deeds, self._folder, manifest))
        parts = [part for part in parts_of(manifest) if part.until is None or part.until > self._since]
        for number, (settings, until, to_its_end) in enumerate(parts):
            branch = Branch(of=manifest.run, turn=self._since) if self._since else manifest.branch
            if number:
                folder = out / manifest.run
                then = await asyncio.to_thread(manifest_of, folder)
                part = go_on(folder, then, settings, control, replay=replay, tell_past=False)
            elif branch:
                part = self._from_branch(manifest, branch, settings, out, control, replay)
            else:
                scenario = scenario_of(manifest, self._folder)
                made = await asyncio.to_thread(RunFolder, out, manifest.run)
                part = begin_run(manifest.run, scenario, settings, made, control, replay=replay)
            breaks_off, ended = inf if until is None or to_its_end else until, None
            try:
                async with aclosing(events_of(part)) as events:
                    async for event in events:
                        ended = event if isinstance(event, Stopped) else None
                        if not ended or until is None:
                            yield event
                        if isinstance(event, TurnEnded) and event.turn >= breaks_off:
                            break
            except ModelError:  # nobody could answer any more, and the run went on nevertheless
                if until is None or not to_its_end or ended is None or ended.source != "answers":
                    raise

    @asynccontextmanager
    async def _from_branch(
        self,
        manifest: Manifest,
        branch: Branch,
        settings: Settings,
        out: Path,
        control: RecordedControl,
        replay: Replaying,
    ) -> AsyncIterator[Run]:
        """Begin where the branch left the run whose past it shares."""
        scenario, turn = scenario_of(manifest, self._folder), branch.turn
        async with (  # of a copy, because merely opening memories may change their bytes
            copied(self._folder, manifest) as (place, _),
            open_resources(manifest.run, settings_of(manifest, {}), place) as origin,
        ):
            states = await states_at(origin.graph, origin.config, {turn}, first=True)
            state = {name: value for name, value in states[turn].values.items() if name != "usage"}
            at = now().isoformat(timespec="seconds")
            begun = await asyncio.to_thread(Manifest.begun, manifest.run, scenario, settings, at, branch=branch)
            control.leave_out([*state["carried_out"], *state["interventions"]])
            folder = await prepared(origin, self._folder, out, begun, state, settings, at=id_of(states[turn]))
        async with go_on_from(state, folder, begun, settings, control, replay=replay) as run:
            yield run


def _deeds(folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """The interventions of people. Blocks.

    Raises:
        InputError: the log is damaged.
    """
    deeds = []
    with opened(folder) as log:
        for done in log.read("intervention"):
            rest = {"do": done.do, **done.more}
            try:
                if done.do != "answer":
                    intervention(rest, manifest.names, manifest.people)
                elif not all(isinstance(rest.get(key), str) for key in ("agent", "what")):
                    raise InputError("the person or the question is missing")
            except InputError as error:
                raise InputError(error.what, where=f"{folder / RUN}, turn {done.turn}", remedy=DAMAGED) from error
            deeds.append({"turn": done.turn, **rest})
    return deeds


class Part(NamedTuple):
    """A part of a run: between two occasions on which it was resumed with other settings or beyond its end."""

    settings: Settings
    until: int | None
    """The number of utterances after which the next part begins; None: it is the last."""
    to_its_end: bool
    """Whether the run ended there by its own rules before it went on."""


def parts_of(manifest: Manifest) -> list[Part]:
    """The parts of a run, in order.

    A run has one part, and one more for each time it was resumed with other settings or beyond its end.

    Args:
        manifest: what is known about it.

    Raises:
        InputError: the settings do not fit this version.
    """
    parts: list[Part] = []
    until, to_its_end = None, False
    for resumed in reversed(manifest.resumed):
        if resumed.changed or resumed.reopened:
            parts.insert(0, Part(settings_of(manifest, _OWN), until, to_its_end))
            until, to_its_end = resumed.turn, resumed.reopened
            before = RecordedSettings(**{**manifest.settings.given, **resumed.before})
            manifest = manifest.model_copy(update={"settings": before})
    return [Part(settings_of(manifest, _OWN), until, to_its_end), *parts]


_COMPARED: Final = [kind for kind in CONVERSATION if kind != "turn_ended"]


@dataclass(frozen=True)
class Comparison:
    """The result of a replay.

    Attributes:
        whole: whether the run had ended; if not, the comparison covers what the run has.
        utterances: number of utterances of the run.
        minds: number of mind records of the run.
        calls: number of recorded answers that replaced calls.
        parts: where events first differ, one sentence a kind; empty if all are equal.
        prompts: prompts that differ from the recorded ones: turn, agent, module.
        versions: packages whose version differs: name → (then, now).
        other_prompts: whether the prompt templates differ.
    """

    whole: bool
    utterances: int
    minds: int
    calls: int
    parts: list[str]
    prompts: list[tuple[int, str, str]]
    versions: dict[str, tuple[str, str]]
    other_prompts: bool

    @property
    def same(self) -> bool:
        """Whether the replay equals the run."""
        return not self.parts


def compared(run: Path, replay: Path, manifest: Manifest, prompts: Iterable[tuple[int, str, str]]) -> Comparison:
    """Compare the folder of a replay with the folder of its run. Blocks.

    Args:
        run: the folder of the run.
        replay: the folder of the replay.
        manifest: what is known about the run.
        prompts: prompts that differed from the recorded ones.

    Raises:
        InputError: a log is damaged.
        OSError: a transcript cannot be read.
    """
    whole = manifest.stop_reason not in (None, "stopped", "error", "budget")
    old, new = _events(run), _events(replay)
    parts = [part for kind in _COMPARED if (part := _part(kind, old[kind], new[kind], whole))]
    if whole and _text(run) != _text(replay):
        parts.append(f"{READABLE} differs.")
    then, now = manifest.versions, versions()
    return Comparison(
        whole=whole,
        utterances=len(old["utterance"]),
        minds=len(old["mind"]),
        calls=sum(row.answer is not None for row in calls_in(replay)),
        parts=parts,
        prompts=sorted(prompts),
        versions={name: (then.get(name, "none"), now[name]) for name in now if then.get(name) != now[name]},
        other_prompts=manifest.prompt_hash != manifest.settings.prompts_now,
    )


def _events(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What is kept of a run's conversation, by kind."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in CONVERSATION}
    with opened(folder) as log:
        log.check(leave_out=("asked_model", "embedded"))
        for kind, body in log.rows("SELECT kind, body FROM events ORDER BY number"):
            if kind in found:
                found[kind].append(json.loads(body))
    return found


def _text(folder: Path) -> bytes:
    path = folder / READABLE
    return path.read_bytes() if path.is_file() else b""


def _part(kind: str, old: list[dict[str, Any]], new: list[dict[str, Any]], whole: bool) -> str:
    """Where the events of a kind first differ, in a sentence; empty if they are equal.

    If the run had not ended, its replay may be ahead or behind by the work that was in progress.
    """
    if not whole:
        shorter = min(len(old), len(new))
        old, new = old[:shorter], new[:shorter]
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        if one != other:
            fields = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
            who = f" of {one.get('agent') or one.get('speaker')}" if one.get("agent") or one.get("speaker") else ""
            return f"{kind}, event {number} (turn {one.get('turn')}{who}): {', '.join(fields)}."
    if len(old) != len(new):
        return f"{kind} has {len(new)} events in place of {len(old)}."
    return ""


_WORDING: Final = frozenset({"natural_language", "pruning", "revision"})
"""The modules that make an utterance; they ask before it counts, so their turn is one less."""


class PromptPart(BaseModel):
    """One message of a prompt."""

    model_config = ConfigDict(frozen=True)

    role: str = Field(description="system, human or ai")
    text: str


class PastCall(BaseModel):
    """A request of a recorded run."""

    model_config = ConfigDict(frozen=True)

    turn: int = Field(description="utterances when it was asked")
    agent: str = Field(description="on whose behalf; empty for nobody's, such as the judge's")
    module: str
    part: str = Field(description="what distinguishes it from others of the same turn, agent and module; mostly empty")
    n: int = Field(description="its number within the exchange, from 0; others follow where an answer was unusable")
    model: str
    seconds: float
    input_tokens: int
    output_tokens: int
    estimated: bool = Field(description="whether the tokens are an estimate")
    failed: str | None = Field(description="why it failed; null if it was answered")
    answer: str | None = Field(description="in the model's words; null if there is none")
    prompt: list[PromptPart] | None = Field(
        default=None, description="made again; null if it was not asked for, or cannot be made again"
    )
    same: bool | None = Field(
        default=None, description="whether the prompt is the one of then, by its digest; null without a prompt"
    )


def belongs(turn: int, asked_at: int, module: str) -> bool:
    """Whether a request belongs to an utterance: it made its words, or came when it was heard.

    Args:
        turn: number of the utterance; 1 has the awakening before it, too.
        asked_at: utterances when it was asked.
        module: the module that asked.
    """
    if module in _WORDING:
        return asked_at == turn - 1
    return asked_at == turn or turn == 1 and asked_at == 0


def recorded_calls(folder: Path, turn: int) -> list[PastCall]:
    """The requests of an utterance, without their prompts, those that made its words first. Blocks.

    Args:
        folder: of the run.
        turn: number of the utterance.

    Raises:
        InputError: the record cannot be read, or is damaged.
    """
    return [_call(row) for row in _rows(folder, turn)]


async def past_calls(folder: Path, turn: int) -> list[PastCall]:
    """The requests of an utterance with their prompts, those that made its words first.

    Args:
        folder: of the run.
        turn: number of the utterance.

    Raises:
        InputError: the folder is not a run's, it kept no record, or somebody is working on it.
    """
    rows = await asyncio.to_thread(_rows, folder, turn)
    if not rows:
        return []
    asked = await _asked(folder, turn)
    exact = {prompt_digest(request.messages, request.schema): request for request in asked}
    latest = {asking_of(request): request for request in asked}
    return [_call(row, exact.get(row.prompt), latest.get(asking_of(row))) for row in rows]


def _rows(folder: Path, turn: int) -> list[Row]:
    found = [row for row in calls_in(folder) if belongs(turn, row.turn, row.module)]
    return sorted(found, key=lambda row: (row.module not in _WORDING, row.turn))  # stable: else as they ended


async def _asked(folder: Path, turn: int) -> Sequence[Request]:
    """The questions around an utterance: from the state before it, or, without one, from the run's beginning."""
    settings = (await asyncio.to_thread(manifest_of, folder)).settings
    if turn > 1 and settings.baseline is None:
        try:
            return await Replay(folder, since=turn - 1).asked(turn)
        except InputError:  # it kept none there: a run without checkpoints, an act of several utterances
            pass
    return await Replay(folder).asked(turn)


def _call(row: Row, exact: Request | None = None, latest: Request | None = None) -> PastCall:
    found = exact or latest
    return PastCall(
        **row.model_dump(include=PastCall.model_fields.keys() - {"answer", "prompt", "same"}),
        answer=None if row.answer is None else str(row.answer.get("content", "")),
        prompt=None if found is None else list(_parts(found)),
        same=None if found is None else exact is not None,
    )


def _parts(request: Request) -> Iterable[PromptPart]:
    return (PromptPart(role=message.type, text=str(message.text)) for message in request.messages)
