"""Drives the cells of an experiment: admits them under the budget, hands them to an engine, resumes what failed.

A cell reserves more than it is expected to use, and runs with its reserve as its own budget. So the sum stays below the
budget without a counter that all cells share.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from ..models.limits import ModelLimit
from ..reports.estimate import Estimate
from ..runs.events import Totals
from ..runs.run.branch import check_checkpoint
from ..runs.run.simulation import check
from ..runs.threads import in_thread
from ..state.errors import InputError, MachineError, PerSimChatError
from ..state.settings import BUDGETS
from .estimate import amounts, budget_of, summed
from .place import Place, stale
from .plan import Plan, Planned, canonical
from .run_cell import Engine, EngineChoice, LocalEngine, attempt_at

RESERVE: Final = 1.25
"""What a cell reserves, as a multiple of what it is expected to use."""
RESERVE_OF_SCRIPT: Final = 2.5
"""The same of a baseline that is one request, which may be asked for once more with the fault in its prompt."""
_LEAST: Final = 0.1
"""A cell that goes on is expected to use at least this share of its whole estimate."""

Amounts = Mapping[str, float]
"""Calls, tokens and US dollars by the name of their budget (`state.settings.BUDGETS`)."""


class Admission:
    """The account of an experiment.

    Args:
        budget: what all cells together may use; a name that is missing has no limit.
        spent: what they have used so far.
    """

    def __init__(self, budget: Amounts, spent: Amounts) -> None:
        self.budget = dict(budget)
        self.spent = {name: float(spent.get(name, 0.0)) for name in budget}
        self._reserved: dict[str, dict[str, float]] = {}

    def admit(
        self, cell: str, estimate: Amounts, used: Amounts | None = None, *, reserve: float = RESERVE
    ) -> dict[str, float] | None:
        """Reserve what a cell needs.

        Args:
            cell: its id.
            estimate: what the whole cell is expected to use.
            used: what it has used already, if it goes on; it is a part of what is spent.
            reserve: what it reserves, as a multiple of what it is expected to use.

        Returns:
            The budgets of the cell's own run, what it has used included; None if the cell may not start now.
        """
        used = used or {}
        expected = {name: max(estimate[name] - used.get(name, 0.0), _LEAST * estimate[name]) for name in self.budget}
        wanted = {name: _whole(name, reserve * amount) for name, amount in expected.items()}
        if not self._fits(wanted):
            if self._reserved or not self._fits(expected):
                return None
            wanted = {name: self.budget[name] - self.spent[name] for name in self.budget}
        self._reserved[cell] = wanted
        return {name: math.floor(used.get(name, 0.0) + amount) if name != "budget_usd" else used.get(name, 0.0) + amount
                for name, amount in wanted.items()}  # fmt: skip

    def settle(self, cell: str, used: Amounts) -> None:
        """Replace a cell's reserve by what it has used since it was admitted."""
        del self._reserved[cell]
        for name in self.budget:
            self.spent[name] += used.get(name, 0.0)

    def _fits(self, wanted: Amounts) -> bool:
        return all(
            self.spent[name] + sum(each[name] for each in self._reserved.values()) + wanted[name] <= limit + 1e-9
            for name, limit in self.budget.items()
        )


def _whole(name: str, amount: float) -> float:
    """An amount of a budget rounded up: of a conversation of three calls, a quarter more is one call, not none."""
    return amount if name == "budget_usd" else float(math.ceil(amount - 1e-9))


# Holds the cells of an experiment: admits them, hands them to an engine, resumes what failed, tells what happen


FIRST: Final = 8
"""Of so many first cells, more than half must not fail: a wrong key should cost seconds."""
_WITHOUT_EFFECT: Final = "seed"


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes:
        cells: all of them.
        done: those that are complete.
        running: those that are being held.
        failed: those that failed for good.
        spent: what all cells have used so far.
        seconds_left: until the end at the pace so far; None where nothing has ended yet.
    """

    cells: int
    done: int
    running: int
    failed: int
    spent: Totals
    seconds_left: float | None


@dataclass
class Outcome:
    """How an experiment's driver ended.

    Attributes:
        done: cells that are complete.
        failed: cells that failed for good, with the reason.
        left: cells that did not start, or did not get to their end: for lack of budget, or because others failed.
        held: cells on which another process works.
        made: calls made this time.
        spent: what all cells have used, now and before.
        stopped: why no further cells were started; empty where all had their turn.
        gave_up: whether that is because too many failed.
    """

    done: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    made: int = 0
    spent: Totals = field(default_factory=Totals)
    stopped: str = ""
    gave_up: bool = False


async def check_cells(plan: Plan) -> None:
    """Refuse an experiment with a cell whose models, embedding or stores cannot be used; asks no model.

    Raises:
        InputError: a cell cannot be held, and which.
    """
    looked_at: set[bytes] = set()
    for planned in plan.cells:
        settings = planned.settings.model_dump(mode="json", exclude={_WITHOUT_EFFECT})
        key = canonical([settings, len(planned.scenario.participants)])
        if key in looked_at:
            continue
        looked_at.add(key)
        try:
            await check(planned.scenario, planned.settings)
        except InputError as error:
            axes = ", ".join(f"{name}: {label}" for name, label in planned.cell.axes.items()) or "the base"
            what = f"cell ({axes}) cannot be held: {error.what}"
            raise InputError(what, where=error.where, remedy=error.remedy) from None
    starts = (each.origin for each in plan.cells if each.origin is not None)
    for folder, turn, choose in {(each.folder, each.turn, each.choose) for each in starts}:
        try:
            await check_checkpoint(folder, turn, choose)
        except InputError as error:
            where = f"{plan.experiment.where('base', 'branch')}, {error.where}"
            raise InputError(error.what, where=where, remedy=error.remedy) from None


async def drive(
    plan: Plan,
    place: Place,
    estimates: Mapping[str, Estimate],
    engine: Engine,
    tell: Callable[[Progress], None] = lambda _: None,
    *,
    besides: Totals | None = None,
    renewing: Collection[str] = (),
) -> Outcome:
    """Hold all cells that are not complete. Cancelled, it stops them; each keeps its last checkpoint.

    Args:
        plan: of the experiment.
        place: its folder, which this process holds (`Place.driven`).
        estimates: of all cells.
        engine: holds them.
        tell: is told how far it is, after every change.
        besides: what the experiment has used for other things than conversations; it counts in the budgets.
        renewing: ids of cells that are held again; the run of each stays until the new one is complete.

    Raises:
        MachineError: the machine has stopped a cell; the others are stopped too.
    """
    given = (plan, place, estimates, engine, tell, besides or Totals(), renewing)
    return await (await in_thread(_Driver, *given)).run()


class _Driver:
    def __init__(
        self,
        plan: Plan,
        place: Place,
        estimates: Mapping[str, Estimate],
        engine: Engine,
        tell: Callable[[Progress], None],
        besides: Totals,
        renewing: Collection[str],
    ) -> None:
        self.renewing = frozenset(renewing)
        self.plan, self.place, self.estimates, self.engine, self.tell = plan, place, estimates, engine, tell
        self.limits = plan.experiment.limits
        self.at_once = self.limits.cells * engine.processes
        self.outcome = Outcome()
        self.used: dict[str, Totals] = {}
        self.unreadable: dict[str, str] = {}
        self.waiting: deque[Planned] = deque()
        self.running: dict[asyncio.Task[str], Planned] = {}
        self.ended = 0
        for planned in plan.cells:
            self._stand(planned)
        self.before = dict(self.used)
        held, other = amounts(summed(self.used.values())), amounts(besides)
        self.admission = Admission(budget_of(self.limits), {name: held[name] + other[name] for name in held})

    def _stand(self, planned: Planned) -> None:
        """Find out how far a cell is."""
        cell = planned.cell.id
        if anew := cell in self.renewing:
            self.place.named(cell)
            half = self.place.standing(cell, anew=True)
            if half.manifest is not None and stale(planned.cell, half.manifest):
                self.place.drop(cell)
        standing = self.place.standing(cell, anew=anew, whole=True)
        if standing.manifest is not None and standing.manifest.usage.total is not None:
            self.used[cell] = standing.manifest.usage.total
        if standing.status == "done":
            self.outcome.done.add(cell)
            self._complete(cell)
        elif standing.status == "held":
            self.outcome.held.add(cell)
        elif standing.why:
            self.unreadable[cell] = standing.why
        else:
            self.waiting.append(planned)

    def _complete(self, cell: str) -> None:
        if cell in self.renewing:
            self.place.replace(cell)
        self.place.named(cell)

    async def run(self) -> Outcome:
        self.since = time.monotonic()
        try:
            while self._admit() or self.running:
                self.tell(self._progress())
                ended, _ = await asyncio.wait(self.running, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    await self._settle(self.running.pop(task), task)
        finally:
            for task in self.running:
                task.cancel()
            await asyncio.gather(*self.running, return_exceptions=True)
        self.outcome.failed |= self.unreadable
        self.outcome.left |= {planned.cell.id for planned in self.waiting}
        self.outcome.spent = summed(self.used.values())
        self.tell(self._progress())
        return self.outcome

    def _admit(self) -> bool:
        """Start as many cells as may be started; whether any was."""
        started = False
        while self.waiting and len(self.running) < self.at_once and not self.outcome.stopped:
            planned = self.waiting[0]
            cell = planned.cell.id
            used = amounts(self.used[cell]) if cell in self.used else None
            reserve = RESERVE_OF_SCRIPT if planned.settings.baseline == "single_agent" else RESERVE
            budget = self.admission.admit(cell, amounts(self.estimates[cell].total), used, reserve=reserve)
            if budget is None:
                if not self.running:
                    self.outcome.stopped = "the budget does not suffice for another cell"
                break
            self.waiting.popleft()
            # Those that are not limited now are named too: a cell that goes on may have had a budget before.
            own = {name: budget.get(name) for name in BUDGETS}
            self.running[asyncio.create_task(self._held(planned, own), name=f"cell {cell}")] = planned
            started = True
        return started

    async def _settle(self, planned: Planned, task: asyncio.Task[str]) -> None:
        """Account for a cell that has ended."""
        cell = planned.cell.id
        self.ended += 1
        standing = await in_thread(self.place.standing, cell, anew=cell in self.renewing)
        total = standing.manifest.usage.total if standing.manifest is not None else None
        earlier = self.used.get(cell, Totals())
        if total is not None:
            self.used[cell] = total
            self.outcome.made += total.calls - earlier.calls
        now, then = amounts(self.used.get(cell, Totals())), amounts(earlier)
        self.admission.settle(cell, {name: now[name] - then[name] for name in now})
        why = task.result()
        if standing.status == "done":
            await in_thread(self._complete, cell)
            self.outcome.done.add(cell)
            await in_thread(self.place.tell, "done", cell)
        elif standing.status == "budget" and not why:
            self.outcome.left.add(cell)
            await in_thread(self.place.tell, "budget", cell)
        else:
            self.outcome.failed[cell] = why or "it did not come to its end"
            await in_thread(self.place.tell, "failed", cell, why=self.outcome.failed[cell])
        if self.ended <= FIRST and len(self.outcome.failed) > FIRST // 2:
            self.outcome.stopped = f"{len(self.outcome.failed)} of the first {self.ended} cells failed"
            self.outcome.gave_up = True

    async def _held(self, planned: Planned, budget: Mapping[str, float | None]) -> str:
        """Hold a cell, and resume it while it fails and may be tried again; why it failed, or nothing."""
        why = ""
        for _ in range(self.limits.retries + 1):
            try:
                anew = planned.cell.id in self.renewing
                attempt = await asyncio.to_thread(attempt_at, planned, self.place, budget, anew=anew)
                await self.engine.hold(attempt)
            except MachineError:
                raise
            except InputError as error:  # it would be refused again
                return str(error)
            except PerSimChatError as error:
                why = str(error)
            else:
                return ""
        return why

    def _progress(self) -> Progress:
        ended, left = self.ended, len(self.waiting) + len(self.running)
        pace = (time.monotonic() - self.since) / ended if ended else None
        return Progress(
            cells=len(self.plan.cells),
            done=len(self.outcome.done),
            running=len(self.running),
            failed=len(self.outcome.failed),
            spent=summed(self.used.values()),
            seconds_left=pace * left if pace is not None else None,
        )


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
    from .ray_engine import ray_engine

    async with ray_engine(choice.workers or os.cpu_count() or 1, choice.address, limits) as engine:
        yield engine
