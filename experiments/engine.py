"""Where conversations of an experiment are held: the driver hands each attempt at a cell to an engine.

The local engine holds them on the driver's own event loop. The engine for many processes is in `ray_engine`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, MissingExtraError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

EngineName = Literal["local", "ray"]
MOST_WORKERS: Final = 1_000


@dataclass(frozen=True)
class Attempt:
    """One attempt to hold a cell's conversation to its end.

    Attributes:
        cell: its id.
        folder: of its run, which goes on; None: it begins.
        runs: the folder in which a run that begins makes its own.
        run: the id of a run that begins.
        scenario: of the cell.
        settings: of the cell.
        budget: the budgets of its run, by name; None for no limit.
    """

    cell: str
    folder: Path | None
    runs: Path
    run: str
    scenario: Scenario
    settings: Settings
    budget: Mapping[str, float | None]


class Engine(Protocol):
    """Holds attempts, several at a time."""

    @property
    def processes(self) -> int:
        """How many processes hold conversations; each holds as many at a time as the experiment's limit says."""
        ...

    async def check_place(self, folder: Path) -> None:
        """Refuse an experiment's folder that a process does not see.

        Raises:
            InputError: naming the process's machine.
        """
        ...

    async def hold(self, attempt: Attempt) -> None:
        """Hold an attempt to its end; cancelled, it stops the conversation, which keeps its last checkpoint.

        Raises:
            PerSimChatError: what the run reports, or the process that held it has died.
        """
        ...


async def hold(attempt: Attempt) -> None:
    """Begin a run in this process, or go on with it, to its end.

    Raises:
        PerSimChatError: what the run reports.
    """
    own: dict[str, Any] = dict(attempt.budget)
    if attempt.folder is not None:
        events = resume_run(attempt.folder, changes=own)
    else:
        settings = attempt.settings.model_copy(update=own)
        events = run_simulation(attempt.scenario, settings, out=attempt.runs, run=attempt.run)
    async with aclosing(events):
        async for _ in events:
            pass


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


@asynccontextmanager
async def opened(choice: EngineChoice) -> AsyncIterator[Engine]:
    """Open an engine, and close it afterwards.

    Raises:
        InputError: the engine cannot be used, and why.
        MissingExtraError: Ray is not installed.
    """
    choice.check()
    if choice.name == "local":
        yield LocalEngine()
        return
    from persimchat.experiments.ray_engine import ray_engine

    async with ray_engine(choice.workers or os.cpu_count() or 1, choice.address) as engine:
        yield engine
