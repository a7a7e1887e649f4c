"""Holds one cell: begins its run, as a new one or as a branch of a kept one, or goes on with what is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from persimchat.experiments.bases import Origin
from persimchat.experiments.place import Place
from persimchat.experiments.plan import Planned
from persimchat.runs.events import Event
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation

_BRANCHING: Final = "branch.lock"
_AGAIN_S: Final = 0.05


async def hold(planned: Planned, place: Place, own: Mapping[str, Any], *, anew: bool = False) -> None:
    """Begin a cell's run, or go on with it, to its end.

    Args:
        planned: the cell.
        place: the experiment's folder.
        own: settings of this run alone: its budgets.
        anew: whether the run is to replace one that is stale (`Place.standing`).

    Raises:
        PerSimChatError: the run cannot be held, or it failed.
    """
    cell = planned.cell.id
    folder = await asyncio.to_thread(place.opened, cell, anew=anew)
    if folder is not None:
        recorded = place.standing(cell, anew=anew).manifest
        place.tell("started", cell, run=recorded.run if recorded else "", resumed=True)
        await _to_the_end(resume_run(folder, changes=dict(own)))
        return
    run = await asyncio.to_thread(place.new_run, cell, anew=anew)
    place.tell("started", cell, run=run, resumed=False)
    if planned.origin is not None:
        await _branched(planned.origin, place, run, own)
        return
    settings = planned.settings.model_copy(update=dict(own))
    await _to_the_end(run_simulation(planned.scenario, settings, out=place.runs, run=run))


async def _branched(origin: Origin, place: Place, run: str, own: Mapping[str, Any]) -> None:
    changes = {**origin.changes, **own}
    events = branch_run(origin.folder, origin.turn, changes=changes, say=origin.say, out=place.runs, run=run)
    async with aclosing(events):
        async with _alone(place.path / _BRANCHING):  # a branch holds its run while it copies the past
            await anext(events)
        await _to_the_end(events)


async def _to_the_end(events: AsyncGenerator[Event, None]) -> None:
    async with aclosing(events):
        async for _ in events:
            pass


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """Hold a lock that other cells, here or in other processes, wait for."""
    lock = FileLock(path, thread_local=False)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            await asyncio.sleep(_AGAIN_S)
    try:
        yield
    finally:
        lock.release()
