"""Begins a run: checks scenario and settings, and yields its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ...graph.guiding import with_limit
from ...memory.chroma_client import RUN
from ...memory.embeddings import embedding
from ...memory.store import store
from ...models.attention.scoring import check_settings
from ...models.naming import default_model_name, parse_model_name
from ...models.registry import ready_model
from ...models.usage import cost_usd
from ...nodes.assembling import refuse_unfit
from ...personas.names import with_full_names
from ...state.baselines.rounds import rounds_of
from ...state.errors import InputError, PerSimChatError
from ...state.scenario import Scenario
from ...state.settings import AFTERWARDS, Settings, modules
from ..control import Control
from ..events import Event
from ..folder.checkpoints import check_location
from ..folder.manifest import Manifest
from ..folder.reading import started
from ..folder.run_folder import RunFolder, new_run_id, now
from .resources import Replaying, open_resources
from .run import Run, events_of


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
    async with begin_run(run, scenario, settings, folder, control, notice=notice or "") as begun:
        yield begun


@asynccontextmanager
async def begin_run(
    run: str,
    scenario: Scenario,
    settings: Settings,
    folder: RunFolder | None,
    control: Control | None,
    *,
    notice: str = "",
    replay: Replaying | None = None,
) -> AsyncIterator[Run]:
    """Begin a run after all checks.

    Args:
        run: its id.
        scenario: topic and participants.
        settings: of the run.
        folder: the folder of the run, empty; None: nothing is kept.
        control: lets people take part in the run.
        notice: of its first event, for people.
        replay: the record from which the models' answers come.

    Raises:
        PerSimChatError: as `run_simulation`.
    """
    at = now().isoformat(timespec="seconds")
    manifest = await asyncio.to_thread(Manifest.begun, run, scenario, settings, at)
    attended = control is not None or bool(manifest.people)
    path, log = (folder.path, folder.log) if folder else (None, None)
    begun: Run | None = None
    try:
        if folder:  # first of all: even after a failure it is a run's folder
            await asyncio.to_thread(folder.begin, manifest)
        async with open_resources(run, settings, path, log=log, attended=attended, replay=replay) as place:
            first = [started(manifest, 0, notice=notice)]
            begun = Run(place, manifest, folder, control, given=input_of(scenario, run), first=first)
            yield begun
    except PerSimChatError:
        if folder and not (begun and begun.begun):
            await asyncio.to_thread(folder.discard)
        raise


def input_of(scenario: Scenario, run: str) -> dict[str, Any]:
    """The graph's input at the beginning of a run."""
    return {**scenario.model_dump(by_alias=True, exclude={"settings"}), "simulation": run}


async def check(scenario: Scenario, settings: Settings) -> None:
    """Refuse a run that cannot work. Sends no request to a model.

    Raises:
        InputError: people, a story or a guide do not go with the settings; the message limit is too low for the rounds
            of a baseline; a model or an embedding is unknown or lacks its key or package; the scorer of pruning cannot
            be used; the store cannot be opened; the place for checkpoints is invalid.
    """
    refuse_unfit(scenario, settings)
    if settings.baseline in ("mad", "mad_judge", "reconcile"):
        rounds_of(len(scenario.participants), settings)
    names = ["", *(participant.name for participant in scenario.participants)]
    models = {settings.model_for(name, module) for name in names for module in modules() if module not in AFTERWARDS}
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
