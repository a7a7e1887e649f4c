"""Runs one cell: begins its conversation, anew or as a branch of a kept run, or goes on with what is there.

The driver finds out what is to be done, and hands each attempt at a cell to an engine. The local engine holds it on the
driver's own event loop; the engine for many processes is in `ray_engine`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from filelock import FileLock, Timeout

from ..runs.events import Event
from ..runs.run.branch import branch_run
from ..runs.run.resume import resume_run
from ..runs.run.simulation import run_simulation
from ..state.errors import InputError, MissingExtraError
from ..state.scenario import Scenario
from ..state.settings import Settings
from .base import Origin
from .place import Place
from .plan import Planned

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


EngineName = Literal["local", "ray"]
MOST_WORKERS: Final = 1_000


class Engine(Protocol):
    """Holds attempts, several at a time."""

    @property
    def processes(self) -> int:
        """How many processes hold conversations; each holds as many at a time as the experiment's limit says."""

    async def check_place(self, folder: Path) -> None:
        """Refuse an experiment's folder that a process does not see.

        Raises:
            InputError: naming the process's machine.
        """

    async def hold(self, attempt: Attempt) -> None:
        """Hold an attempt to its end; cancelled, it stops the conversation, which keeps its last checkpoint.

        Raises:
            PerSimChatError: what the run reports, or the process that held it has died.
        """


class LocalEngine:
    """Holds all conversations on the running event loop."""

    processes = 1

    async def check_place(self, folder: Path) -> None:
        """This process has made the folder."""

    async def hold(self, attempt: Attempt) -> None:
        """Hold an attempt here."""
        await hold(attempt)


@dataclass(frozen=True)
class EngineChoice:
    """Which engine holds the conversations.

    Attributes:
        name: `local` or `ray`.
        workers: processes of Ray; None: one a processor of this machine.
        address: of a Ray cluster that runs, HOST:PORT, or `auto` for the one on this machine; None: Ray is started on
            this machine, and stopped at the end.
    """

    name: EngineName = "local"
    workers: int | None = None
    address: str | None = None

    def options(self) -> list[str]:
        """The options of the command line that choose it."""
        given = {"--engine": self.name, "--workers": self.workers, "--address": self.address}
        return [] if self.name == "local" else [p for name, v in given.items() if v is not None for p in (name, str(v))]

    def check(self) -> None:
        """Refuse what does not go together.

        Raises:
            InputError: workers or an address without Ray, or too many workers.
            MissingExtraError: Ray is not installed.
        """
        if self.name == "local":
            for option, value in (("--workers", self.workers), ("--address", self.address)):
                if value is not None:
                    raise InputError(
                        f"{option} goes with the engine ray alone", where=option, remedy="Add --engine ray."
                    )
            return
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise InputError(
                f"{self.workers} workers are not possible", where="--workers", remedy=f"Give 1 to {MOST_WORKERS:,}."
            )
        if find_spec("ray") is None:
            raise MissingExtraError("the engine ray", "ray")
