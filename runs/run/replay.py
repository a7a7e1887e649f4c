"""Replays a run from its record, without calls, keys or a network, and reports where it differs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from persimchat.models.recording import Request
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Stopped, TurnEnded
from persimchat.runs.folder.calls import CALLS, Answers
from persimchat.runs.folder.jsonl import DAMAGED, Line, checked, json_lines
from persimchat.runs.folder.lines import RecordedIntervention
from persimchat.runs.folder.manifest import Branch, Manifest
from persimchat.runs.folder.run_folder import CONTROL, RunFolder, now
from persimchat.runs.run.branch import go_on_from, prepared
from persimchat.runs.run.going_on import manifest_of, scenario_of, settings_of
from persimchat.runs.run.history import states_at
from persimchat.runs.run.replay_comparison import Comparison, compared
from persimchat.runs.run.resources import Replaying, open_resources
from persimchat.runs.run.resume import go_on
from persimchat.runs.run.run import Run, events_of
from persimchat.runs.run.simulation import begin_run, started
from persimchat.state.errors import InputError, ModelError, PerSimChatError
from persimchat.state.intervention import intervention
from persimchat.state.person_answer import PersonAnswer, Question, person_answer
from persimchat.state.settings import Settings


class RecordedControl(Control):
    """Repeats the interventions of control.jsonl, each at its turn.

    Args:
        records: its lines, in order.
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
        if not (self._folder / CALLS).is_file():
            raise InputError(
                "the run kept no record of its models' answers", where=str(self._folder / CALLS), remedy="Run it again."
            )
        replay = Replaying(await asyncio.to_thread(Answers.read, self._folder))
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
        replay = Replaying(await asyncio.to_thread(Answers.read, self._folder), told=found.append)
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
        control = RecordedControl(await asyncio.to_thread(_deeds, self._folder / CONTROL, manifest))
        parts = [(settings, until) for settings, until in parts_of(manifest) if until is None or until > self._since]
        for number, (settings, until) in enumerate(parts):
            if number:
                folder = out / manifest.run
                then = await asyncio.to_thread(manifest_of, folder)
                part = go_on(folder, then, settings, control, replay=replay, tell_past=False)
            elif self._since:
                here = Branch(of=manifest.run, turn=self._since)
                part = self._from_branch(manifest, here, settings, out, control, replay)
            elif manifest.branch:
                part = self._from_branch(manifest, manifest.branch, settings, out, control, replay)
            else:
                part = self._from_start(manifest, settings, out, control, replay)
            async with aclosing(events_of(part)) as events:
                async for event in events:
                    if not isinstance(event, Stopped) or until is None:
                        yield event
                    if until is not None and isinstance(event, TurnEnded) and event.turn >= until:
                        break

    @asynccontextmanager
    async def _from_start(
        self, manifest: Manifest, settings: Settings, out: Path, control: Control, replay: Replaying
    ) -> AsyncIterator[Run]:
        scenario = scenario_of(manifest, self._folder)
        folder = await asyncio.to_thread(RunFolder, out, manifest.run)
        first = started(manifest.run, scenario, settings)
        async with begin_run(first, scenario, settings, folder, control, replay=replay) as run:
            yield run

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
        async with open_resources(manifest.run, settings_of(manifest, {}), self._folder) as origin:
            states = await states_at(origin.graph, origin.config, {turn}, first=True)
            state = {name: value for name, value in states[turn].values.items() if name != "usage"}
            at = now().isoformat(timespec="seconds")
            begun = Manifest.begun(manifest.run, scenario, settings, at, branch=branch)
            control.leave_out([*state["carried_out"], *state["interventions"]])
            folder, asides = await prepared(origin, self._folder, out, begun, state, settings)
        async with go_on_from(state, folder, asides, begun, settings, control, replay=replay) as run:
            yield run


def _deeds(path: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """The interventions of people, from control.jsonl. Blocks.

    Raises:
        InputError: the file is damaged.
    """

    def deed(line: Line) -> dict[str, Any]:
        done = checked(RecordedIntervention, line.value, line.where)
        rest = {key: value for key, value in line.value.items() if key != "turn"}
        try:
            if done.do != "answer":
                intervention(rest, manifest.names, manifest.people)
            elif not all(isinstance(rest.get(key), str) for key in ("agent", "what")):
                raise InputError("the person or the question is missing")
        except InputError as error:
            raise InputError(error.what, where=line.where, remedy=DAMAGED) from error
        return {"turn": done.turn, **rest}

    return list(json_lines(path, deed))


def parts_of(manifest: Manifest) -> list[tuple[Settings, int | None]]:
    """The settings of each part of a run, each with the number of utterances after which the next part begins.

    A run has one part, and one more for each time it was resumed with other settings or beyond its end.

    Args:
        manifest: its run.json.

    Raises:
        InputError: the settings do not fit this version.
    """
    parts: list[tuple[Settings, int | None]] = []
    until: int | None = None
    for resumed in reversed(manifest.resumed):
        if resumed.changed or resumed.reopened:
            parts.insert(0, (settings_of(manifest, _OWN), until))
            until = resumed.turn
            manifest = manifest.with_values(settings={**manifest.settings.given, **resumed.before})
    return [(settings_of(manifest, _OWN), until), *parts]
