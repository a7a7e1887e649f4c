"""The public functions: run a conversation and get its result, or its events, in async and in ordinary code."""

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
        topic: what it is about; or a `Scenario`; or the `Path` of a scenario file.
        participants: names of shipped personas, paths of persona files, mappings or personas; or how many of the
            shipped ones (default 4). Not used where `topic` is a scenario or a path.
        settings: how it runs. Without them: defaults < the scenario's settings < `PERSIMCHAT_*` < `options`.
        out: folder in which the run leaves a folder of its own; nothing is written without one.
        control: what people do to the run while it goes on; without one, it stops at a person's turn.
        **options: single settings (`max_messages=20`, `model="openai:gpt-4o-mini"`, `seed=1`, …).

    Raises:
        InputError: at once, for a topic, participant or setting that is wrong.
        ModelError: during iteration, where a model fails for good.
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
    """Go on with a run that was interrupted, failed or stopped, or beyond its end, to its end.

    Args:
        folder: the run's.
        control: what people do to the run.
        **changes: settings that are to be others from now on (`max_messages=40`, `budget_calls=500`, `model=…`).

    Raises:
        InputError: the run cannot go on, and why.
        ModelError: a model fails for good; the run can be resumed once more.
    """
    return await collected(resume_run(Path(folder), changes=changes, control=control))


def resume(folder: Path | str, *, control: Control | None = None, **changes: Any) -> Result:
    """Go on with a run, from ordinary code or a notebook. Arguments as for `aresume`."""
    return wait_for(aresume(folder, control=control, **changes))


async def abranch(
    folder: Path | str,
    turn: int,
    *,
    say: tuple[str, str] | None = None,
    out: Path | str | None = None,
    control: Control | None = None,
    **changes: Any,
) -> Result:
    """Make a new run that shares another's first utterances, and hold it to its end.

    Args:
        folder: the run's that is branched; it stays as it is.
        turn: how many utterances they share.
        say: who says what next, in place of what was said there.
        out: folder in which the new run's own folder is made; beside the other one's where it is None.
        control: what people do to the run.
        **changes: settings that are to be others from there on.

    Raises:
        InputError: the run cannot be branched there, and why.
        ModelError: a model fails for good; the new run can be resumed.
    """
    place = Path(out) if out is not None else None
    return await collected(branch_run(Path(folder), turn, changes=changes, say=say, out=place, control=control))


def branch(folder: Path | str, turn: int, **options: Any) -> Result:
    """Branch a run, from ordinary code or a notebook. Arguments as for `abranch`."""
    return wait_for(abranch(folder, turn, **options))
