"""Holds conversations in many processes, on this machine or on many, with Ray.

Ray restarts a worker that dies, and never repeats an attempt by itself: the driver sees the death and resumes the cell.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ..models.limits import ModelLimit
from ..models.redaction import short
from ..state.errors import InputError, MachineError, PerSimChatError
from .ray_worker import About, CellWorker, Failure, Task, about
from .run_cell import Attempt

UP_WITHIN_S: Final = 60.0
"""A worker that is not up after so many seconds, at the start or after its death, is given up."""
_STOPS_WITHIN_S: Final = 30.0
"""Seconds that a conversation has to stop in good order."""
_REACHED_WITHIN_S: Final = 30.0
_EVERY_S: Final = 0.2
_AT_ONCE: Final = 10_000
"""Calls that a worker takes at the same time; the driver sees to it that it holds no more attempts than it should."""
_STORE_BYTES: Final = 80 * 1024 * 1024
"""Ray's shared memory on this machine, about the least that it allows: only small messages pass through it."""

_ALWAYS: Final = {"RAY_USAGE_STATS_ENABLED": "0"}
"""The environment of every start: Ray would report how it is used."""
_HERE: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}
"""The environment where Ray is started on this machine. With the first, which is Ray's default on macOS and Windows,
it listens on the loopback address alone."""
_TOKEN: Final = "RAY_AUTH_TOKEN"


@asynccontextmanager
async def ray_engine(
    workers: int, address: str | None, limits: Mapping[Hashable, ModelLimit]
) -> AsyncIterator[RayEngine]:
    """Start workers, and stop them afterwards.

    Args:
        workers: how many.
        address: of a Ray cluster that runs; None: Ray is started on this machine.
        limits: of requests by model, for all workers together.

    Raises:
        InputError: no cluster is at the address, or a worker does not start, or is of another version.
    """
    shares = [shared(limits, workers, number) for number in range(workers)]
    if address is not None:
        await asyncio.to_thread(_check_address, address)
    ray = _loaded(here=address is None)
    start = partial(_start_here, ray, workers) if address is None else partial(_connect, ray, address)
    over = threading.Event()
    starting = asyncio.create_task(_in_time(start, over, address))
    try:
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            if address is None:  # what is half started could not be stopped
                with suppress(InputError):
                    await starting
            raise
        engine = RayEngine(ray, shares)
        try:
            await engine.start()
            yield engine
        finally:
            await engine.close()
    finally:
        if starting.done():
            await asyncio.to_thread(ray.shutdown)
        over.set()


def shared(limits: Mapping[Hashable, ModelLimit], workers: int, number: int) -> dict[Hashable, ModelLimit]:
    """The limits of one worker: the rate of all, of which it takes its part itself, and its part of the slots.

    Args:
        limits: by model, of all workers together.
        workers: how many.
        number: which worker, from 0.

    Raises:
        InputError: there are fewer slots than workers.
    """
    found: dict[Hashable, ModelLimit] = {}
    for model, limit in limits.items():
        slots = limit.at_once
        if slots is not None:
            if slots < workers:
                raise InputError(
                    f"a model has {slots} slots for {workers} workers, and each needs one",
                    where="limits, slots",
                    remedy="Give more slots, or fewer --workers.",
                )
            slots = slots // workers + (number < slots % workers)
        found[model] = ModelLimit(limit.per_second, slots)
    return found


def _check_address(address: str) -> None:
    """Refuse an address at which nothing answers; Ray itself would try for many minutes."""
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or not host or "/" in host or not port.isdecimal():
        remedy = "Give HOST:PORT of the cluster's head, or auto."
        raise InputError(f"{address!r} is not the address of a Ray cluster", where="--address", remedy=remedy)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, getattr(error, "strerror", None) or str(error)) from None


def _no_cluster(address: str, why: str) -> InputError:
    return InputError(
        f"no Ray cluster can be reached: {short(why).rstrip('.')}",
        where=f"--address {address}",
        remedy="Start one with: RAY_USAGE_STATS_ENABLED=0 ray start --head",
    )


def _no_start(why: str) -> InputError:
    remedy = "Look into /tmp/ray/session_latest/logs."
    return InputError(f"Ray cannot be started: {short(why).rstrip('.')}", where="--engine ray", remedy=remedy)


def _loaded(*, here: bool) -> Any:
    """The module `ray`, loaded with the environment that it reads when it is loaded."""
    os.environ.update(_ALWAYS)
    if here and "RAY_AUTH_MODE" not in os.environ:
        os.environ.update(_HERE)
        os.environ.setdefault(_TOKEN, secrets.token_hex(32))  # else Ray keeps one in the user's home
    private: Any = import_module("ray._private.worker")
    # What a dead worker leaves behind would be printed among the results; Ray has no option against it.
    private._worker_logs_enabled = False
    return import_module("ray")


async def _in_time(start: Callable[[], None], over: threading.Event, address: str | None) -> None:
    """Start Ray in a thread: in the main one it would take over what a signal does.

    It may try for many minutes, and cannot be interrupted. So no end of this process waits for the thread.

    Args:
        start: starts it.
        over: until then the thread stays: with it the kernel would end the processes that it has started.
        address: for the error.

    Raises:
        InputError: it has not started in time.
    """
    loop = asyncio.get_running_loop()
    started: asyncio.Future[None] = loop.create_future()

    def tell(error: BaseException | None) -> None:
        if not started.done() and error is not None:
            started.set_exception(error)
        elif not started.done():
            started.set_result(None)

    def run() -> None:
        error: BaseException | None = None
        try:
            start()
        except BaseException as raised:  # noqa: BLE001 - it is raised where it is waited for
            error = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(tell, error)
        over.wait()

    threading.Thread(target=run, name="ray", daemon=True).start()
    try:
        await asyncio.wait_for(started, UP_WITHIN_S)
    except TimeoutError:
        why = f"Ray has not answered in {UP_WITHIN_S:.0f} s"
        raise (_no_start(why) if address is None else _no_cluster(address, why)) from None


def _start_here(ray: Any, workers: int) -> None:
    try:
        ray.init(
            address="local",
            num_cpus=workers,
            object_store_memory=_STORE_BYTES,
            _node_ip_address="127.0.0.1",
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_start(str(error)) from error


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_cluster(address, str(error)) from error


@dataclass(eq=False)
class _Worker:
    """A worker as the driver sees it.

    Attributes:
        actor: its handle.
        machine: where it is.
        running: how many attempts it holds.
        starts: how often it has come up.
        coming: brings it up; done where it is up or given up.
        lost: why it is given up.
    """

    actor: Any
    machine: str = ""
    running: int = 0
    starts: int = 0
    coming: asyncio.Task[None] | None = None
    lost: InputError | None = None

    @property
    def up(self) -> bool:
        """Whether it takes attempts."""
        return self.coming is not None and self.coming.done() and self.lost is None


class RayEngine:
    """Holds attempts in the workers of a Ray cluster.

    Args:
        ray: the module, connected to the cluster.
        limits: of each worker's requests, by model.
    """

    def __init__(self, ray: Any, limits: Sequence[Mapping[Hashable, ModelLimit]]) -> None:
        self.processes = len(limits)
        self._ray, self._gone = ray, ray.exceptions.RayActorError
        self._place: Path | None = None
        as_actor = ray.remote(
            num_cpus=0, max_restarts=-1, max_task_retries=0, max_concurrency=_AT_ONCE, scheduling_strategy="SPREAD"
        )(CellWorker)
        self._workers = [_Worker(as_actor.remote(self.processes, dict(own))) for own in limits]

    async def start(self) -> None:
        """Wait until all workers are up.

        Raises:
            InputError: one is not up in time, cannot start, or has other versions.
        """
        await asyncio.gather(*(self._brought_up(worker, worker.starts) for worker in self._workers))
        lost = next((worker.lost for worker in self._workers if worker.lost is not None), None)
        if lost is not None:
            raise lost

    async def check_place(self, folder: Path) -> None:
        """Refuse an experiment's folder that a worker does not see."""
        self._place = folder.resolve()
        await self.start()

    async def hold(self, attempt: Attempt) -> None:
        """Hold an attempt in the worker that holds the fewest.

        A worker that was not up when the attempt came to it is waited for. One that dies while it holds the attempt is
        a failure.
        """
        task = Task.of(attempt)
        while True:
            worker = await self._free()
            starts = worker.starts
            worker.running += 1
            try:
                try:
                    await worker.actor.begin.remote(task)
                except self._gone:
                    await self._brought_up(worker, starts)
                    continue
                try:
                    failure: Failure | None = await worker.actor.outcome.remote(attempt.cell)
                except self._gone:
                    machine = worker.machine
                    await self._brought_up(worker, starts)
                    raise PerSimChatError(f"the worker that held it has died (machine {machine})") from None
            except asyncio.CancelledError:
                with suppress(TimeoutError, self._gone):
                    await asyncio.wait_for(worker.actor.stop.remote(attempt.cell), _STOPS_WITHIN_S)
                raise
            finally:
                worker.running -= 1
            if failure is not None:
                raise failure.error()
            return

    async def close(self) -> None:
        """Stop the workers."""
        for worker in self._workers:
            if worker.coming is not None and not worker.coming.done():
                worker.coming.cancel()
        closing = (worker.actor.close.remote() for worker in self._workers if worker.up)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), _STOPS_WITHIN_S)
        for worker in self._workers:
            self._ray.kill(worker.actor)

    async def _free(self) -> _Worker:
        """The worker with the fewest attempts of those that are up; waits while none is."""
        while True:
            up = [worker for worker in self._workers if worker.up]
            if up:
                return min(up, key=lambda worker: worker.running)
            coming = [worker.coming for worker in self._workers if worker.coming and not worker.coming.done()]
            if not coming:
                lost = next(worker.lost for worker in self._workers if worker.lost is not None)
                raise MachineError(f"no worker is left: {lost.what}", where=lost.where, remedy=lost.remedy)
            await asyncio.wait(coming, return_when=asyncio.FIRST_COMPLETED)

    async def _brought_up(self, worker: _Worker, starts: int) -> None:
        """Wait until a worker is up again, or given up.

        Args:
            worker: the worker.
            starts: how often it had come up when it was last seen; if that is more now, it has been brought up since.
        """
        if worker.starts == starts and (worker.coming is None or worker.coming.done()):
            worker.coming = asyncio.create_task(self._bring_up(worker), name="worker")
        if worker.coming is not None:
            await asyncio.shield(worker.coming)

    async def _bring_up(self, worker: _Worker) -> None:
        until, place = time.monotonic() + UP_WITHIN_S, str(self._place) if self._place else None
        while True:
            try:
                left = max(0.0, until - time.monotonic())
                # One that was out of reach, and did not die, may still hold attempts that count as lost.
                said: About = await asyncio.wait_for(worker.actor.emptied.remote(place), left)
            except TimeoutError:
                worker.lost = self._not_up()
                return
            except self._ray.exceptions.ActorUnavailableError:
                await asyncio.sleep(_EVERY_S)
            except self._gone as error:
                why = str(error).strip().splitlines()[-1]
                worker.lost = InputError(f"a worker cannot start: {short(why)}", where="--engine ray")
                return
            else:
                worker.machine, worker.starts = said.machine, worker.starts + 1
                worker.lost = _different(said, about(self._place))
                return

    def _not_up(self) -> InputError:
        has = {name: amount for name, amount in self._ray.cluster_resources().items() if ":" not in name}
        resources = ", ".join(f"{name} {amount:g}" for name, amount in sorted(has.items())) or "no resources"
        return InputError(
            f"a worker is not up after {UP_WITHIN_S:.0f} s; the cluster has: {resources}",
            where="--engine ray",
            remedy="Give fewer --workers, or look into the logs of Ray (/tmp/ray/session_latest/logs).",
        )


def _different(said: About, own: About) -> InputError | None:
    """Why a worker cannot be used; None where it can."""
    where = f"machine {said.machine}"
    for what, theirs, ours in (
        ("Python", said.python, own.python),
        ("PerSimChat", said.persimchat, own.persimchat),
        ("the prompts", said.prompts, own.prompts),
    ):
        if theirs != ours:
            return InputError(
                f"a worker has another version of {what} than this machine: {theirs} and {ours}",
                where=where,
                remedy="Install the same version on all machines.",
            )
    if said.place != own.place:
        remedy = "Give with --out a folder that all machines see under the same path."
        return InputError("a worker does not see the experiment's folder", where=where, remedy=remedy)
    return None
