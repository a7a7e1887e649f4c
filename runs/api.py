"""The public functions: run a conversation and get its result or its events, in async and in ordinary code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ..graph.langgraph_compat import cancelled_with_parents
from ..graph.node import wait_for
from ..personas.scenario import default_participants, load_scenario, make_scenario
from ..state.configuration import load_settings
from ..state.errors import InputError
from ..state.persona import Persona
from ..state.scenario import Scenario
from ..state.settings import Settings
from .control import Control
from .events import (
    Analysed,
    Concluded,
    Event,
    Happened,
    Judged,
    MindChanged,
    MindRecord,
    Started,
    Stopped,
    StopReason,
    StoryOutcome,
    Totals,
    Uttered,
)
from .folder.lines import DISCLAIMER
from .run.branch import branch_run
from .run.resume import resume_run
from .run.simulation import run_simulation


class Result(BaseModel):
    """What a simulation gave."""

    model_config = ConfigDict(frozen=True)

    run: str
    utterances: list[Uttered]
    minds: list[MindRecord]
    stop_reason: StopReason
    stop_source: str = ""
    """Whose rule ended it: message_limit, closing, judge, guide, or a baseline's name."""
    stop_detail: str = ""
    """The rule's own words."""
    conclusion: Concluded | None = None
    """What a debate came to: the answer, and whether it is a consensus; None for discussions."""
    verdicts: list[Judged] = []
    """What the judge of a debate said, in order of turns."""
    outcome: StoryOutcome | None = None
    """The result of a story's vote; None for all other conversations."""
    happenings: list[Happened] = []
    """What happened in a story beside words: stages, meetings, standings, ballots."""
    scores: list[Analysed] = []
    """Analysis: coherence, sentiment and engagement of every utterance."""
    totals: Totals
    usage: list[dict[str, Any]]
    folder: str | None
    notice: str = ""
    """Something the user should know, for example that no model was chosen and the offline model spoke."""
    disclaimer: str = DISCLAIMER

    def transcript(self) -> str:
        """The conversation to read: one utterance a line, speaker first."""
        return "\n".join(f"{u.speaker}: {u.text}" for u in self.utterances)


_OF_STOPPED: Final = ("run", "conclusion", "outcome", "totals", "usage", "folder")


async def collected(events: AsyncIterator[Event]) -> Result:
    """The result of an event stream that runs to its end, or until nobody reads the graph around it any more."""
    async with cancelled_with_parents():
        return result_of([event async for event in events])


def result_of(events: Iterable[Event]) -> Result:
    """The result of all events of a run that came to its end."""
    seen = list(events)
    stopped = next(e for e in reversed(seen) if isinstance(e, Stopped))
    return Result(
        **{name: getattr(stopped, name) for name in _OF_STOPPED},
        utterances=[e for e in seen if isinstance(e, Uttered)],
        minds=[e.record for e in seen if isinstance(e, MindChanged)],
        stop_reason=stopped.reason,
        stop_source=stopped.source,
        stop_detail=stopped.detail,
        verdicts=[e for e in seen if isinstance(e, Judged)],
        happenings=[e for e in seen if isinstance(e, Happened)],
        scores=[e for e in seen if isinstance(e, Analysed)],
        notice=next((e.notice for e in seen if isinstance(e, Started)), ""),
    )


Participant = str | Mapping[str, Any] | Persona


def _scenario(topic: str | Path | Scenario, participants: Iterable[Participant] | int | None) -> Scenario:
    if isinstance(topic, Scenario):
        return topic
    if isinstance(topic, Path):
        return load_scenario(topic)
    if isinstance(topic, str) and topic.strip().endswith((".yaml", ".yml", ".json")) and len(topic.split()) == 1:
        raise InputError(
            f"the topic {topic!r} looks like a file", where="argument topic", remedy=f"A scenario: Path({topic!r})."
        )
    if participants is None:
        return make_scenario(topic, default_participants())
    if isinstance(participants, int):
        return make_scenario(topic, default_participants(participants))
    if isinstance(participants, str | Mapping | Persona):
        raise InputError(
            "participants are not a list",
            where="argument participants",
            remedy='Write participants=["Jarmila", "Zeynep"], or how many.',
        )
    return make_scenario(topic, list(participants))


def astream_events(
    topic: str | Path | Scenario,
    participants: Iterable[Participant] | int | None = None,
    *,
    settings: Settings | None = None,
    out: Path | str | None = None,
    control: Control | None = None,
    **options: Any,
) -> AsyncGenerator[Event, None]:
    """Run a conversation and yield its events (`persimchat.runs.events`) as they happen.

    Args:
        topic: the topic, a `Scenario`, or the `Path` of a scenario file.
        participants: names of shipped personas, paths of persona files, mappings or personas; or the number of
            shipped personas (default 4). Ignored if `topic` is a scenario or a path.
        settings: of the run. Without them: defaults < the scenario's settings < `PERSIMCHAT_*` < `options`.
        out: folder in which to make the folder of the run; None: nothing is written.
        control: lets people take part in the run; without one, it stops at a person's turn.
        **options: single settings (`max_messages=20`, `model="openai:gpt-4o-mini"`, `seed=1`, …).

    Raises:
        InputError: the topic, a participant or a setting is invalid: at once; in async code, where no file may be read
            in between, with the first event.
        ModelError: during iteration: a model failed, and retries did not help.
    """
    where = Path(out) if out is not None else None

    def prepared() -> tuple[Scenario, Settings]:
        return _prepared(topic, participants, settings, options)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_simulation(*prepared(), out=where, control=control)
    return _begun(prepared, where, control)


async def _begun(
    prepared: Callable[[], tuple[Scenario, Settings]], out: Path | None, control: Control | None
) -> AsyncGenerator[Event, None]:
    async with aclosing(run_simulation(*await asyncio.to_thread(prepared), out=out, control=control)) as events:
        async for event in events:
            yield event


def _prepared(
    topic: str | Path | Scenario,
    participants: Iterable[Participant] | int | None,
    settings: Settings | None,
    options: Mapping[str, Any],
) -> tuple[Scenario, Settings]:
    """The scenario and the settings of a run; reads files."""
    scenario = _scenario(topic, participants)
    if settings is not None and not isinstance(settings, Settings):
        raise InputError(
            f"settings are not a Settings object but {type(settings).__name__}",
            where="argument settings",
            remedy="Give persimchat.Settings(…), or single settings as arguments, for example max_messages=20.",
        )
    if settings is None:
        settings = load_settings(scenario=scenario.settings, **options)
    elif options:
        settings = load_settings(environment={}, base=settings, **options)
    return scenario, settings


async def asimulate(
    topic: str | Path | Scenario, participants: Iterable[Participant] | int | None = None, **options: Any
) -> Result:
    """Run a conversation to its end. Arguments as for `astream_events`."""
    return await collected(astream_events(topic, participants, **options))


def simulate(
    topic: str | Path | Scenario, participants: Iterable[Participant] | int | None = None, **options: Any
) -> Result:
    """Run a conversation to its end, from ordinary code or a notebook. Arguments as for `astream_events`."""
    return wait_for(asimulate(topic, participants, **options))


def stream_events(
    topic: str | Path | Scenario, participants: Iterable[Participant] | int | None = None, **options: Any
) -> Iterator[Event]:
    """Run a conversation and yield its events, in ordinary code. Arguments as for `astream_events`."""
    events = astream_events(topic, participants, **options)

    async def following() -> Event | None:
        return await anext(events, None)

    try:
        while (event := wait_for(following())) is not None:
            yield event
    finally:
        wait_for(events.aclose())


async def aresume(folder: Path | str, *, control: Control | None = None, **changes: Any) -> Result:
    """Resume a run that was interrupted, failed or stopped, or continue it beyond its end, and run it to its end.

    Args:
        folder: the folder of the run.
        control: lets people take part in the run.
        **changes: settings that change from now on (`max_messages=40`, `budget_calls=500`, `model=…`).

    Raises:
        InputError: the run cannot be resumed; the message says why.
        ModelError: a model failed, and retries did not help; the run can be resumed again.
    """
    return await collected(resume_run(Path(folder), changes=changes, control=control))


def resume(folder: Path | str, *, control: Control | None = None, **changes: Any) -> Result:
    """Resume a run, from ordinary code or a notebook. Arguments as for `aresume`."""
    return wait_for(aresume(folder, control=control, **changes))


async def abranch(
    folder: Path | str,
    turn: int | None = None,
    *,
    say: tuple[str, str] | None = None,
    choose: tuple[str, str] | None = None,
    out: Path | str | None = None,
    control: Control | None = None,
    **changes: Any,
) -> Result:
    """Make a new run that shares the first utterances of another, and run it to its end.

    Args:
        folder: the folder of the run to branch; it is not changed.
        turn: the number of shared utterances; with `choose`, at least so many, or None for the last choice.
        say: speaker and words of the next utterance.
        choose: of a story: a host and whom it talks to in place of its own choice, or "nobody".
        out: folder in which to make the folder of the new run; None: beside the other run.
        control: lets people take part in the run.
        **changes: settings that change after the shared past.

    Raises:
        InputError: the run cannot be branched there; the message says why.
        ModelError: a model failed, and retries did not help; the new run can be resumed.
    """
    place = Path(out) if out is not None else None
    events = branch_run(Path(folder), turn, changes=changes, say=say, choose=choose, out=place, control=control)
    return await collected(events)


def branch(folder: Path | str, turn: int | None = None, **options: Any) -> Result:
    """Branch a run, from ordinary code or a notebook. Arguments as for `abranch`."""
    return wait_for(abranch(folder, turn, **options))
