"""The public functions: run a conversation and get its result or its events, in async and in ordinary code."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from persimchat.graph.node import wait_for
from persimchat.personas.scenario import default_participants, load_scenario, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.result import Result, collected
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

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
        InputError: at once: the topic, a participant or a setting is invalid.
        ModelError: during iteration: a model failed, and retries did not help.
    """
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
        settings = load_settings(environment={}, **{**settings.model_dump(exclude_unset=True), **options})
    return run_simulation(scenario, settings, out=Path(out) if out is not None else None, control=control)


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
