"""Experiments from Python: run one to its end, and look at what it found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from persimchat.evaluation.statistics.library import stats
from persimchat.experiments.comparing import Comparison, compare
from persimchat.experiments.driving import Outcome, Progress, check_cells, drive
from persimchat.experiments.file import Compare, Experiment
from persimchat.experiments.measuring import measures_of
from persimchat.experiments.needs import check_budget, estimates, model_limits
from persimchat.experiments.place import Changes, Place, Standing, stale_cells
from persimchat.experiments.plan import Plan, plan
from persimchat.experiments.report import write_report
from persimchat.experiments.tables import Tables, tables, write_tables
from persimchat.graph.node import wait_for
from persimchat.models.limits import limited
from persimchat.runs.reports.estimate import Estimate
from persimchat.state.errors import InputError, suggestion

OUT: Final = Path("results")
"""The folder of experiments, relative to the working directory."""


@dataclass(frozen=True)
class Results:
    """What an experiment has found.

    Attributes:
        folder: its folder.
        tables: all rows, and everything that they were made of.
        outcome: how the cells went; None where only the folder was read.
    """

    folder: Path
    tables: Tables
    outcome: Outcome | None = None

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table (`cells`, `measures`, `comparisons`) as plain data, ready for a data frame.

        Raises:
            InputError: there is no such table.
        """
        if table not in self.tables.rows:
            known = tuple(self.tables.rows)
            raise InputError(f"there is no table {table!r}", where="argument table", remedy=suggestion(table, known))
        return [row.model_dump(mode="json") for row in self.tables.rows[table]]

    def compare(self, measure: str, by: str, **within: Any) -> list[Comparison]:
        """Compare all pairs of an axis's levels in one measure, paired by task.

        Args:
            measure: its name.
            by: the axis.
            **within: only cells with these levels of other axes.

        Raises:
            InputError: the measure, an axis or a level is not known.
        """
        axes = self.tables.locked.axes
        names = [one.name for one in self.tables.measures]
        for word, known, what in ((measure, names, "measure"), *((axis, [*axes], "axis") for axis in (by, *within))):
            if word not in known:
                raise InputError(f"there is no {what} {word!r}", remedy=suggestion(word, known))
        rows = [row.model_dump() for row in self.tables.rows["measures"]]
        values = {(row["cell"], row["measure"]): row["value"] for row in rows if row["unit"] == "run"}
        return compare(Compare(by=by, within=within), axes, self.tables.locked.cells, [measure], values)


@dataclass(frozen=True)
class Prepared:
    """An experiment for which everything was checked that can be known before the first call.

    Attributes:
        plan: its cells.
        estimates: of each cell, by its id.
        place: its folder, which may not be there yet.
        changes: how its cells differ from those in the folder; None where the folder is new.
        standings: how far each cell is, by its id.
        stale: why cells are not what they would be if they were held now, by their ids.
        renewing: whether these are held again.
    """

    plan: Plan
    estimates: Mapping[str, Estimate]
    place: Place
    changes: Changes | None
    standings: Mapping[str, Standing]
    stale: Mapping[str, str] = field(default_factory=dict)
    renewing: bool = False


def prepare(experiment: Experiment, out: Path | str = OUT, *, many: bool = False, renew: bool = False) -> Prepared:
    """Plan, estimate and look into the folder; asks no model and writes nothing. Arguments as for `arun_experiment`.

    Raises:
        InputError: the file is wrong, a budget admits no cell, or the folder is another experiment's.
        MissingExtraError: comparisons need the extra `evaluation`.
    """
    planned = plan(experiment, many=many)
    measures_of(experiment)
    if experiment.compare:
        stats()
    model_limits(planned)
    needed = estimates(planned)
    check_budget(planned, needed)
    place = Place(Path(out) / experiment.name)
    changes = place.changes(planned)
    standings = {each.cell.id: place.standing(each.cell.id) for each in planned.cells}
    old = stale_cells([each.cell for each in planned.cells], standings)
    if renew:
        standings |= {cell: place.standing(cell, anew=True) for cell in old}
    return Prepared(planned, needed, place, changes, standings, old, renew)


async def run_prepared(prepared: Prepared, tell: Callable[[Progress], None] = lambda _: None) -> Results:
    """Hold what is missing of an experiment, and write its tables and its report.

    Args:
        prepared: the experiment.
        tell: is told how far it is.

    Raises:
        InputError: before the first call: a cell cannot be held, or another process runs the experiment.
        MachineError: the machine has stopped it; it goes on when it is run again.
    """
    place, experiment = prepared.place, prepared.plan.experiment
    await check_cells(prepared.plan)
    with place.driven(), limited(model_limits(prepared.plan)):
        place.keep(prepared.plan)
        renewing = prepared.stale if prepared.renewing else ()
        outcome = await drive(prepared.plan, place, prepared.estimates, tell, renewing=renewing)
        return await asyncio.to_thread(report_on, experiment, place, outcome)


async def arun_experiment(
    experiment: Experiment,
    out: Path | str = OUT,
    *,
    many: bool = False,
    renew: bool = False,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Results:
    """Run an experiment, or go on with it, and write its tables and its report.

    Args:
        experiment: its file.
        out: the folder in which the experiment has a folder of its own, by its name.
        many: whether more than 10,000 cells are meant.
        renew: whether stale cells are held again: those made with other prompts or other defaults.
        tell: is told how far it is.

    Raises:
        InputError: before the first call: the file is wrong, a cell cannot be held, or another process runs it.
        MachineError: the machine has stopped it; it goes on when it is run again.
    """
    return await run_prepared(await asyncio.to_thread(prepare, experiment, out, many=many, renew=renew), tell)


def run_experiment(experiment: Experiment, out: Path | str = OUT, **options: Any) -> Results:
    """Run an experiment from ordinary code or a notebook. Arguments as for `arun_experiment`."""
    return wait_for(arun_experiment(experiment, out, **options))


def report_on(experiment: Experiment, place: Place, outcome: Outcome | None = None) -> Results:
    """Make tables and report of an experiment's folder again; asks no model.

    Args:
        experiment: whose measures and comparisons count.
        place: its folder.
        outcome: how the cells went just now.

    Raises:
        InputError: the folder is no experiment's, or damaged.
    """
    found = tables(experiment, place)
    write_tables(found, place)
    write_report(found, place)
    return Results(place.path, found, outcome)
