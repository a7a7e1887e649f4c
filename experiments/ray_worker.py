"""A worker of Ray: a process that holds conversations of an experiment.

What goes to it and what comes back is plain data without keys and passwords. It reads them from its own environment.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
from collections.abc import Hashable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..models.limits import ModelLimit, limited, share_rates
from ..models.registry import close_models
from ..prompts import prompt_hash
from ..runs.folder.checkpoints import without_password
from ..runs.folder.manifest import public, versions
from ..runs.run.resume_input import with_own_password
from ..state.errors import InputError, MachineError, PerSimChatError
from ..state.settings import Settings
from .place import PLAN
from .run_cell import Attempt, hold


@dataclass(frozen=True)
class About:
    """What a process says of itself.

    Attributes:
        machine: the name of its machine.
        pid: its process id.
        python: the version of Python.
        persimchat: the version of PerSimChat.
        prompts: the hash of the prompts.
        place: the hash of the lock file in the experiment's folder; empty where the process does not see it.
    """

    machine: str
    pid: int
    python: str
    persimchat: str
    prompts: str
    place: str


def about(folder: Path | None) -> About:
    """What this process says of itself.

    Args:
        folder: the experiment's; None: not known yet.
    """
    seen = ""
    if folder is not None:
        with suppress(OSError):
            seen = hashlib.sha256((folder / PLAN).read_bytes()).hexdigest()
    known = versions()
    return About(socket.gethostname(), os.getpid(), known["python"], known["persimchat"], prompt_hash(), seen)


@dataclass(frozen=True)
class Task:
    """An attempt without the passwords in its settings, and with paths that do not depend on the working directory."""

    attempt: Attempt
    settings: dict[str, Any]

    @classmethod
    def of(cls, attempt: Attempt) -> Task:
        """An attempt, ready for another process."""
        origin = attempt.origin
        if origin is not None:
            origin = replace(origin, folder=origin.folder.resolve(), changes=public(origin.changes))
        sent = replace(
            attempt,
            place=attempt.place.resolve(),
            folder=attempt.folder.resolve() if attempt.folder is not None else None,
            runs=attempt.runs.resolve(),
            scenario=attempt.scenario.model_copy(update={"settings": {}}),
            settings=Settings(),
            origin=origin,
        )
        return cls(sent, public(attempt.settings.model_dump(mode="json")))

    def complete(self) -> Attempt:
        """The attempt, with the passwords that this process's environment has."""
        origin = self.attempt.origin
        if origin is not None:
            origin = replace(origin, changes=_with_password(origin.changes))
        settings = Settings.model_validate(_with_password(self.settings))
        return replace(self.attempt, settings=settings, origin=origin)


def _with_password(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the password of checkpoints that the environment has for the same address."""
    place = settings.get("checkpoints")
    own = with_own_password(place) if isinstance(place, str) else ""
    return {**settings, "checkpoints": own} if own and without_password(own) == place else dict(settings)


@dataclass(frozen=True)
class Failure:
    """Why an attempt failed, as plain data."""

    kind: Literal["input", "machine", "other"]
    what: str
    where: str
    remedy: str

    @classmethod
    def of(cls, error: PerSimChatError) -> Failure:
        """The failure that an error reports."""
        kind: Literal["input", "machine", "other"] = "other"
        if isinstance(error, InputError | MachineError):
            kind = "input" if isinstance(error, InputError) else "machine"
        return cls(kind, error.what, error.where, error.remedy)

    def error(self) -> PerSimChatError:
        """An error that says the same."""
        kinds = {"input": InputError, "machine": MachineError, "other": PerSimChatError}
        return kinds[self.kind](self.what, where=self.where, remedy=self.remedy)


class CellWorker:
    """Holds conversations, several at a time, on the event loop that Ray runs in its process.

    Args:
        processes: how many workers share the rates of requests.
        limits: by model: the rate of all workers, and the slots of this one.
    """

    def __init__(self, processes: int, limits: Mapping[Hashable, ModelLimit]) -> None:
        share_rates(processes)
        self._limits, self._limited = limits, ExitStack()
        self._held: dict[str, asyncio.Task[None]] = {}

    async def emptied(self, folder: str | None) -> About:
        """Stop whatever is held; what this process says of itself.

        Args:
            folder: the experiment's; None: not known yet.
        """
        await asyncio.gather(*map(self.stop, list(self._held)))
        self._limited.close()
        self._limited.enter_context(limited(self._limits))
        return await asyncio.to_thread(about, Path(folder) if folder is not None else None)

    async def begin(self, task: Task) -> None:
        """Begin to hold an attempt."""
        cell = task.attempt.cell
        self._held[cell] = asyncio.create_task(hold(task.complete()), name=f"cell {cell}")

    async def outcome(self, cell: str) -> Failure | None:
        """Wait for the end of an attempt; why it failed, or None."""
        held = self._held[cell]
        await asyncio.wait([held])
        self._held.pop(cell, None)
        if held.cancelled():
            return Failure("other", "the worker has stopped it", "", "")
        error = held.exception()
        if isinstance(error, PerSimChatError):
            return Failure.of(error)
        if error is not None:
            raise error
        return None

    async def stop(self, cell: str) -> None:
        """Stop an attempt, if it is under way, and wait until its run's folder says so."""
        held = self._held.get(cell)
        if held is not None:
            held.cancel()
            await asyncio.wait([held])

    async def close(self) -> None:
        """Close the models' clients, and what serves models in processes of their own."""
        await close_models()
