"""Experiments from Python: run one to its end, and look at what it found."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..evaluation.statistics.claims import family
from ..evaluation.statistics.intervals import stats
from ..graph.node import wait_for
from ..models.limits import limited
from ..reports.estimate import Estimate
from ..reports.tables import need
from ..runs.threads import entered, in_thread
from ..state.errors import InputError, suggestion
from ..state.folders import RESULTS
from ..state.wording import t
from .asking import (
    Asker,
    Judged,
    Judging,
    Work,
    ask,
    askers_of,
    check_askers,
    held_of,
    judges_of,
    spent_on_judging,
    works,
)
from .comparing import Comparison, compare
from .driver import Outcome, Progress, check_cells, drive, opened
from .estimate import check_budget, estimates, model_limits
from .file import Compare, Experiment
from .measuring import Held, evaluators_of, stance_numbers
from .place import ITEMS, PLAN, TABLES, Changes, Place, Standing, stale_cells
from .plan import Plan, plan
from .report import Section, in_its_language, write_report
from .report_diversity import diversity_shown
from .report_stories import stories_shown
from .robustness import Robustness, answers_are_compared
from .run_cell import EngineChoice, EngineName
from .stories import check_stories
from .tables import CSV, Tables, tables, write_tables


@dataclass(frozen=True)
class Results:
    """What an experiment has found.

    Attributes:
        folder: its folder.
        tables: all rows, and everything that they were made of.
        outcome: how the cells went; None where only the folder was read.
        judged: how judging and polls went; None where nothing was asked.
    """

    folder: Path
    tables: Tables
    outcome: Outcome | None = None
    judged: Judged | None = None

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table as plain data, ready for a data frame.

        Args:
            table: `cells`, `measures`, `groups` or `comparisons`; where a judge compares pairs, `pairs` and `contests`;
                where there are polls or positions, `polls` and `stances`; with measures of stories, `parts`; with
                diversity, `diversity` and `diversity_settings`; where wording, order, model or seed are varied, `flips`
                and `contrasts`.

        Raises:
            InputError: there is no such table.
        """
        if table not in self.tables.rows:
            known = tuple(self.tables.rows)
            raise InputError(f"there is no table {table!r}", where="argument table", remedy=suggestion(table, known))
        return [row.model_dump(mode="json") for row in self.tables.rows[table]]

    def robustness(self) -> Robustness:
        """What holds over wordings, orders, models and seeds: answers of debates, and the comparisons of the file."""
        return self.tables.robustness

    def compare(self, measure: str, by: str, **within: Any) -> list[Comparison]:
        """Compare all pairs of an axis's levels in one measure, paired by task; p is adjusted for the file's, too.

        Args:
            measure: its name.
            by: the axis.
            **within: only cells with these levels of other axes.

        Raises:
            InputError: the measure, an axis or a level is not known.
        """
        axes = self.tables.locked.axes
        kinds = {one.name: one.kind for one in self.tables.measures}
        for word, known, what in ((measure, [*kinds], "measure"), *((axis, [*axes], "axis") for axis in (by, *within))):
            if word not in known:
                raise InputError(f"there is no {what} {word!r}", remedy=suggestion(word, known))
        wanted, asked = Compare(by=by, within=within), {measure: kinds[measure]}
        return family(compare(wanted, axes, self.tables.locked.cells, asked, self.tables.values), self.tables.tested)[0]


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
        judging: what is left to ask judges and in polls, one a measure.
    """

    plan: Plan
    estimates: Mapping[str, Estimate]
    place: Place
    changes: Changes | None
    standings: Mapping[str, Standing]
    stale: Mapping[str, str] = field(default_factory=dict)
    renewing: bool = False
    judging: Sequence[Work] = ()

    @property
    def others(self) -> list[Path]:
        """Where its folder is new: other folders of the experiment, beside its file or in the working folder."""
        name, own = self.plan.experiment.name, self.place.path.resolve()
        near = {(folder / RESULTS / name).resolve() for folder in (self.plan.experiment.folder, Path())}
        return sorted(one for one in near - {own} if (one / PLAN).is_file()) if self.changes is None else []


def prepare(experiment: Experiment, out: Path | str = RESULTS, *, many: bool = False, renew: bool = False) -> Prepared:
    """Plan, estimate and look into the folder; asks no model and writes nothing. Arguments as for `arun_experiment`.

    Raises:
        InputError: the file is wrong, a judge cannot be used, a budget admits no cell, or the folder is another
            experiment's.
        MissingExtraError: comparisons and judges need the extra `evaluation`.
    """
    planned = plan(experiment, many=many)
    evaluators_of(experiment)
    stance_numbers(experiment)
    check_stories(planned)
    askers = askers_of(planned)
    over_runs = experiment.measures.story or experiment.measures.attitude or experiment.measures.diversity
    if experiment.compare or over_runs or answers_are_compared(planned):
        stats()
    model_limits(planned, judges_of(askers))
    needed = estimates(planned)
    check_budget(planned, needed)
    place = Place(Path(out) / experiment.name)
    changes = place.changes(planned)
    standings = {each.cell.id: place.standing(each.cell.id, whole=True) for each in planned.cells}
    old = stale_cells([each.cell for each in planned.cells], standings)
    if renew:
        standings |= {cell: place.standing(cell, anew=True) for cell in old}
    held = held_of(planned, standings, needed) if askers else []
    return Prepared(planned, needed, place, changes, standings, old, renew, works(askers, held, place.path))


async def run_prepared(
    prepared: Prepared,
    tell: Callable[[Progress | Judging], None] = lambda _: None,
    form: str = CSV,
    choice: EngineChoice = EngineChoice(),  # noqa: B008
) -> Results:
    """Hold what is missing of an experiment, ask its judges, and write its tables and its report.

    Args:
        prepared: the experiment.
        tell: is told how far it is.
        form: a format in which tables are written beside CSV.
        choice: the engine that holds the conversations.

    Raises:
        InputError: before the first call: a cell cannot be held, a judge cannot be asked, the engine cannot be used,
            or another process runs the experiment.
        MissingExtraError: before the first call: the format or the engine needs a library that is not installed.
        MachineError: the machine has stopped it; it goes on when it is run again.
    """
    place, experiment = prepared.place, prepared.plan.experiment
    askers = [work.asker for work in prepared.judging]
    need(form)
    await asyncio.to_thread(_no_benchmark, place)
    await check_cells(prepared.plan)
    await check_askers(askers)
    limits = model_limits(prepared.plan, judges_of(askers))
    async with opened(choice, limits) as engine, entered(place.driven()):
        with limited(limits):
            await in_thread(place.keep, prepared.plan)
            await engine.check_place(place.path)
            besides = await asyncio.to_thread(spent_on_judging, place.path)
            renewing = prepared.stale if prepared.renewing else ()
            outcome = await drive(
                prepared.plan, place, prepared.estimates, engine, tell, besides=besides, renewing=renewing
            )
            judged = await _judged(prepared, askers, outcome, tell) if askers and not outcome.gave_up else None
            return await asyncio.to_thread(report_on, experiment, place, outcome, judged, form)


async def _judged(
    prepared: Prepared, askers: Sequence[Asker], outcome: Outcome, tell: Callable[[Progress | Judging], None]
) -> Judged:
    """Ask what judges have not answered about conversations that are complete now."""
    place, planned = prepared.place, prepared.plan

    def held() -> list[Held]:
        return held_of(planned, {each.cell.id: place.standing(each.cell.id) for each in planned.cells})

    return await ask(askers, await asyncio.to_thread(held), place.path, outcome.spent, tell)


async def arun_experiment(
    experiment: Experiment,
    out: Path | str = RESULTS,
    *,
    many: bool = False,
    renew: bool = False,
    form: str = CSV,
    tell: Callable[[Progress | Judging], None] = lambda _: None,
    engine: EngineName = "local",
    workers: int | None = None,
    address: str | None = None,
) -> Results:
    """Run an experiment, or go on with it, and write its tables and its report.

    Args:
        experiment: its file.
        out: the folder in which the experiment has a folder of its own, by its name.
        many: whether more than 10,000 cells are meant.
        renew: whether stale cells are held again: those made with other prompts or other defaults.
        form: a format in which tables are written beside CSV, one of those of an export.
        tell: is told how far it is.
        engine: where the conversations are held: `local`, in this process, or `ray`, in several.
        workers: processes of Ray; by default one a processor of this machine.
        address: of a Ray cluster that runs (HOST:PORT, or `auto`); by default Ray is started on this machine.

    Raises:
        InputError: before the first call: the file is wrong, a cell cannot be held, the engine cannot be used, or
            another process runs it.
        MachineError: the machine has stopped it; it goes on when it is run again.
    """
    choice = EngineChoice(engine, workers, address)
    choice.check()
    prepared = await asyncio.to_thread(prepare, experiment, out, many=many, renew=renew)
    return await run_prepared(prepared, tell, form, choice)


def run_experiment(experiment: Experiment, out: Path | str = RESULTS, **options: Any) -> Results:
    """Run an experiment from ordinary code or a notebook. Arguments as for `arun_experiment`."""
    return wait_for(arun_experiment(experiment, out, **options))


def _no_benchmark(place: Place) -> None:
    """Refuse a benchmark's folder: its report counts right answers, which an experiment's does not know."""
    if (place.path / TABLES / f"{ITEMS}.csv").exists():
        remedy = "Run the same `persimchat evaluate benchmark` again: it asks only what is missing."
        raise InputError("the tables and the report are those of a benchmark", where=str(place.path), remedy=remedy)


def report_on(
    experiment: Experiment,
    place: Place,
    outcome: Outcome | None = None,
    judged: Judged | None = None,
    form: str = CSV,
    into: Path | None = None,
    tag: str | None = None,
) -> Results:
    """Make tables and report of an experiment's folder again; asks no model.

    Args:
        experiment: whose measures and comparisons count.
        place: its folder.
        outcome: how the cells went just now.
        judged: how judging went just now.
        form: a format in which tables are written beside CSV.
        into: the folder in which they are written; the experiment's if None.
        tag: of the report's language, one of the catalogue's; by default that of the conversations, if all have the
            same one and the catalogue has it, else English.

    Raises:
        InputError: the folder is a benchmark's, or no experiment's, or damaged, or tables and report cannot be written,
            or there is no such language in the catalogue.
        MissingExtraError: the format needs a library that is not installed.
    """
    need(form)
    _no_benchmark(place)
    language = in_its_language(place, tag)
    found = tables(experiment, place)
    written = Place(into or place.path)
    try:
        written.path.mkdir(parents=True, exist_ok=True)
        write_tables(found, written, form)
        with language:
            sections = [
                Section("stories", t("findings.stories"), "stories.html.jinja", stories_shown(found)),
                Section("diversity", t("findings.diversity"), "diversity.html.jinja", diversity_shown(found)),
            ]
            write_report(found, written, [one for one in sections if one.values])
    except OSError as error:
        raise InputError(
            f"tables and report cannot be written: {error.strerror or error}",
            where=str(written.path),
            remedy="Check free space and permissions, and give the same command again; or write them elsewhere: "
            f"persimchat experiment report {shlex.quote(str(place.path))} --out DIR",
        ) from error
    return Results(written.path, found, outcome, judged)
