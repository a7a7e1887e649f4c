"""Holds one cell: begins its run, as a new one or as a branch of a kept one, or goes on with what is there.

The driver finds out what is to be done; an engine does it, in this process or in another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
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
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

_BRANCHING: Final = "branch.lock"
_AGAIN_S: Final = 0.05


@dataclass(frozen=True)
class Attempt:
    """One attempt to hold a cell's conversation to its end.

    Attributes:
        cell: its id.
        place: the experiment's folder.
        folder: of its run, which goes on; None: it begins.
        runs: the folder in which a run that begins makes its own.
        run: the id of a run that begins.
        scenario: of a run that begins anew.
        settings: of a run that begins anew.
        origin: the kept run of which a run that begins is a branch; None: it begins anew.
        own: settings of this run alone: its budgets.
    """

    cell: str
    place: Path
    folder: Path | None
    runs: Path
    run: str
    scenario: Scenario
    settings: Settings
    origin: Origin | None
    own: Mapping[str, float | None]


def attempt_at(planned: Planned, place: Place, own: Mapping[str, float | None], *, anew: bool = False) -> Attempt:
    """The next attempt at a cell, which the experiment's record then knows as started. Blocks.

    Args:
        planned: the cell.
        place: the experiment's folder.
        own: settings of this run alone: its budgets.
        anew: whether the run is to replace one that is stale (`Place.standing`).
    """
    cell = planned.cell.id
    folder, run = place.opened(cell, anew=anew), ""
    if folder is not None:
        recorded = place.standing(cell, anew=anew).manifest
        place.tell("started", cell, run=recorded.run if recorded else "", resumed=True)
    else:
        run = place.new_run(cell, anew=anew)
        place.tell("started", cell, run=run, resumed=False)
    return Attempt(
        cell, place.path, folder, place.runs, run, planned.scenario, planned.settings, planned.origin, dict(own)
    )


async def hold(attempt: Attempt) -> None:
    """Begin a cell's run in this process, or go on with it, to its end.

    Raises:
        PerSimChatError: the run cannot be held, or it failed.
    """
    own: dict[str, Any] = dict(attempt.own)
    if attempt.folder is not None:
        await _to_the_end(resume_run(attempt.folder, changes=own))
    elif attempt.origin is not None:
        await _branched(attempt, attempt.origin, own)
    else:
        settings = attempt.settings.model_copy(update=own)
        await _to_the_end(run_simulation(attempt.scenario, settings, out=attempt.runs, run=attempt.run))


async def _branched(attempt: Attempt, origin: Origin, own: Mapping[str, Any]) -> None:
    changes = {**origin.changes, **own}
    begins: dict[str, Any] = {"say": origin.say, "choose": origin.choose, "changes": changes}
    events = branch_run(origin.folder, origin.turn, **begins, out=attempt.runs, run=attempt.run)
    async with aclosing(events):
        async with _alone(attempt.place / _BRANCHING):  # a branch holds its run while it copies the past
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
