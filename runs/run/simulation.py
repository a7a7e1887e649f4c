"""Starting a run: from a scenario and settings to its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from persimchat.models.naming import default_model_name
from persimchat.personas.names import with_full_names
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Started
from persimchat.runs.folder.manifest import first_manifest
from persimchat.runs.folder.run_folder import RunFolder, new_run_id, now
from persimchat.runs.run.checks import check
from persimchat.runs.run.resources import Replaying, open_resources
from persimchat.runs.run.running import Running
from persimchat.state.errors import PerSimChatError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


def input_of(scenario: Scenario, run: str) -> dict[str, Any]:
    """What the graph is given to begin a run."""
    return {**scenario.model_dump(by_alias=True, exclude={"settings"}), "simulation": run}


def started(run: str, scenario: Scenario, settings: Settings, *, notice: str = "") -> Started:
    """The first event of a run that begins."""
    agents = [p.name for p in scenario.participants if not p.human]
    models = {name: settings.model_for(name, "natural_language") or "" for name in agents}
    return Started(
        run=run,
        mode=settings.mode,
        baseline=settings.baseline,
        topic=scenario.topic,
        participants=[p.name for p in scenario.participants],
        models=models,
        max_messages=settings.max_messages,
        people=[p.name for p in scenario.participants if p.human],
        notice=notice,
    )


async def run_simulation(
    scenario: Scenario,
    settings: Settings,
    *,
    out: Path | None = None,
    run: str | None = None,
    control: Control | None = None,
) -> AsyncGenerator[Event, None]:
    """Run a simulation and yield its events.

    Args:
        scenario: who talks about what.
        settings: how; where they name no model, the default one is taken and the `started` event says so.
        out: folder in which the run's own folder is made; nothing is written where it is None.
        run: the run's id; made from time and topic where it is None.
        control: what people do to the run; without one, a run stops at a person's turn.

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
    folder = await asyncio.to_thread(RunFolder, out, run) if out is not None else None
    first = started(run, scenario, settings, notice=notice or "")
    async with aclosing(begin_run(first, scenario, settings, folder, control)) as events:
        async for event in events:
            yield event


async def begin_run(
    first: Started,
    scenario: Scenario,
    settings: Settings,
    folder: RunFolder | None,
    control: Control | None,
    *,
    replay: Replaying | None = None,
) -> AsyncGenerator[Event, None]:
    """Begin a run for which everything was checked.

    Args:
        first: its first event, which has its id.
        scenario: who talks about what.
        settings: how.
        folder: the run's own, empty; None where nothing is kept.
        control: what people do to the run.
        replay: a record out of which the models' answers come.

    Raises:
        PerSimChatError: as `run_simulation`.
    """
    run = first.run
    manifest = first_manifest(run, scenario, settings, now().isoformat(timespec="seconds"))
    attended = control is not None or bool(first.people)
    path = folder.path if folder else None
    begun = False
    try:
        if folder:  # first of all, so that it is a run's folder whatever happens
            await asyncio.to_thread(folder.begin, manifest)
        async with open_resources(run, settings, path, attended=attended, replay=replay) as place:
            running = Running(place, manifest, folder, control)
            async with aclosing(running.follow(input_of(scenario, run), [first])) as events:
                async for event in events:
                    begun = True
                    yield event
    except PerSimChatError:
        if folder and not begun:
            await asyncio.to_thread(folder.discard)
        raise
