"""Begins a run: checks scenario and settings, and yields its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from persimchat.graph.guiding import with_limit
from persimchat.memory.chroma_client import RUN
from persimchat.memory.embeddings import embedding
from persimchat.memory.store import store
from persimchat.models.attention.scoring import check_settings
from persimchat.models.naming import default_model_name, parse_model_name
from persimchat.models.registry import ready_model
from persimchat.models.usage import cost_usd
from persimchat.nodes.assembling import (
    refuse_half_a_story,
    refuse_people_in_baseline,
    refuse_too_many_memories,
    refuse_unfit_guide,
)
from persimchat.personas.names import with_full_names
from persimchat.runs.control import Control
from persimchat.runs.events import Event, GuideTold, Started
from persimchat.runs.folder.checkpoints import check_location
from persimchat.runs.folder.manifest import Manifest, most_utterances
from persimchat.runs.folder.run_folder import RunFolder, new_run_id, now
from persimchat.runs.run.resources import Replaying, open_resources
from persimchat.runs.run.run import Run, events_of
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import AFTERWARDS, MODULES, Settings
from persimchat.state.voting import rounds_of


def run_simulation(
    scenario: Scenario,
    settings: Settings,
    *,
    out: Path | None = None,
    run: str | None = None,
    control: Control | None = None,
) -> AsyncGenerator[Event, None]:
    """Run a simulation and yield its events.

    Args:
        scenario: topic and participants.
        settings: of the run; if they name no model, the run uses the default one and the `started` event says so.
        out: folder in which to make the folder of the run; None: nothing is written.
        run: the id of the run; None: made from time and topic.
        control: lets people take part; without one, a run stops at a person's turn.

    Raises:
        InputError: before the first event: a model, an embedding, a store or a folder cannot be used.
        PerSimChatError: after the `stopped` event that reports it; the utterances so far are on disk. A consumer that
            closes the stream or is cancelled stops the run, which then counts as `stopped`.
    """
    return events_of(_checked(scenario, settings, out, run, control))


@asynccontextmanager
async def _checked(
    scenario: Scenario, settings: Settings, out: Path | None, run: str | None, control: Control | None
) -> AsyncIterator[Run]:
    model, notice = default_model_name(settings.model)
    settings = with_limit(settings.model_copy(update={"model": model}), scenario.guide, len(scenario.participants))
    settings = with_full_names(settings, [persona.name for persona in scenario.participants])
    await check(scenario, settings)
    run = run or new_run_id(scenario.topic, now())
    folder = await asyncio.to_thread(RunFolder, out, run) if out is not None else None
    first = started(run, scenario, settings, notice=notice or "")
    async with begin_run(first, scenario, settings, folder, control) as begun:
        yield begun


@asynccontextmanager
async def begin_run(
    first: Started,
    scenario: Scenario,
    settings: Settings,
    folder: RunFolder | None,
    control: Control | None,
    *,
    replay: Replaying | None = None,
) -> AsyncIterator[Run]:
    """Begin a run after all checks.

    Args:
        first: its first event, with its id.
        scenario: topic and participants.
        settings: of the run.
        folder: the folder of the run, empty; None: nothing is kept.
        control: lets people take part in the run.
        replay: the record from which the models' answers come.

    Raises:
        PerSimChatError: as `run_simulation`.
    """
    manifest = Manifest.begun(first.run, scenario, settings, now().isoformat(timespec="seconds"))
    attended = control is not None or bool(first.people)
    path = folder.path if folder else None
    run: Run | None = None
    try:
        if folder:  # first of all: even after a failure it is a run's folder
            await asyncio.to_thread(folder.begin, manifest)
        async with open_resources(first.run, settings, path, attended=attended, replay=replay) as place:
            run = Run(place, manifest, folder, control, given=input_of(scenario, first.run), first=[first])
            yield run
    except PerSimChatError:
        if folder and not (run and run.begun):
            await asyncio.to_thread(folder.discard)
        raise


def input_of(scenario: Scenario, run: str) -> dict[str, Any]:
    """The graph's input at the beginning of a run."""
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
        max_messages=most_utterances(settings, scenario.story),
        people=[p.name for p in scenario.participants if p.human],
        notice=notice,
        guide=GuideTold.of(scenario.guide),
    )


async def check(scenario: Scenario, settings: Settings) -> None:
    """Refuse a run that cannot work. Sends no request to a model.

    Raises:
        InputError: people, a story or a guide do not go with the settings; the message limit is too low for the rounds
            of a baseline; a model or an embedding is unknown or lacks its key or package; the scorer of pruning cannot
            be used; the store cannot be opened; the place for checkpoints is invalid.
    """
    refuse_people_in_baseline(scenario, settings)
    refuse_unfit_guide(scenario, settings)
    refuse_too_many_memories(scenario, settings)
    refuse_half_a_story(scenario, settings)
    if settings.baseline in ("mad", "mad_judge", "reconcile"):
        rounds_of(len(scenario.participants), settings)
    names = ["", *(participant.name for participant in scenario.participants)]
    models = {settings.model_for(name, module) for name in names for module in MODULES if module not in AFTERWARDS}
    for model in sorted(model for model in models if model):
        await ready_model(model, settings)
        if settings.budget_usd is not None and cost_usd(parse_model_name(model), 1, 1, settings.prices) is None:
            raise InputError(
                f"budget_usd is set, but the price of {model} is unknown",
                remedy=f"Set prices={{'{model}': [USD per million tokens in, out]}}, or budget_tokens.",
            )
    await asyncio.to_thread(embedding, settings.embedding, settings)
    await check_settings(settings)
    check_location(settings.checkpoints)
    if settings.store != RUN:
        await asyncio.to_thread(store, settings.store)
