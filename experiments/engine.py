"""Where conversations of an experiment are held: the driver hands each attempt at a cell to an engine.

The local engine holds them on the driver's own event loop. The engine for many processes is in `ray_engine`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, Protocol

from persimchat.experiments.holding import Attempt, hold
from persimchat.models.limits import ModelLimit
from persimchat.state.errors import InputError, MissingExtraError

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


@asynccontextmanager
async def opened(
    choice: EngineChoice,
    limits: Mapping[Hashable, ModelLimit],
) -> AsyncIterator[Engine]:
    """Open an engine, and close it afterwards.

    Args:
        choice: which.
        limits: of requests by model, for all processes together; the local engine is in the process that sets them.

    Raises:
        InputError: the engine cannot be used, and why.
        MissingExtraError: Ray is not installed.
    """
    choice.check()
    if choice.name == "local":
        yield LocalEngine()
        return
    from persimchat.experiments.ray_engine import ray_engine

    async with ray_engine(choice.workers or os.cpu_count() or 1, choice.address, limits) as engine:
        yield engine
