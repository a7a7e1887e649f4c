"""`persimchat experiment`: many conversations from one file, their measures, comparisons and report."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from ...state.errors import InputError, MachineError
from ...state.folders import RESULTS
from ...state.plain_text import one_line
from ..output import MODEL_FAILURE, Interrupted, Line, say, say_object, waits_shown, warn
from .foreground import run_with_models
from .options import JsonObject, option

if TYPE_CHECKING:
    from ...experiments.api import Prepared, Results
    from ...experiments.asking import Judging
    from ...experiments.driver import Progress
    from ...experiments.file import Experiment
    from ...experiments.run_cell import EngineChoice
    from ...runs.events import Totals

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat experiment estimate examples/experiments/tea.yaml
  persimchat experiment run examples/experiments/tea.yaml --yes
  persimchat experiment report examples/experiments/tea.yaml
  persimchat experiment report examples/experiments/tea.yaml --language cs

\b
[bold]Exit codes[/bold]
  0 done   1 finished, but cells failed   2 bad input   3 a judge failed
  4 stopped by the machine   130 interrupted: the same command goes on
"""
CELLS_FAILED: Final = 1
"""The exit code of an experiment that is finished, but some of whose conversations failed."""
_ASKS_ABOVE: Final = 1_000
"""The calls beyond which an experiment asks before it starts."""
"""How often progress is told where it is not shown on one line that changes."""

experiment = typer.Typer(
    help="Hold and compare many conversations from one file.", no_args_is_help=True, epilog=EXAMPLES
)

File = Annotated[Path, option("experiment", "file")]
Out = Annotated[Path, option("experiment", "out")]
Form = Annotated[Literal["csv", "xlsx", "jsonl", "parquet", "md", "html"], option("experiment", "form")]
Many = Annotated[bool, option("experiment", "many")]


@experiment.command(epilog=EXAMPLES)
def estimate(file: File, many: Many = False, out: Out = RESULTS, as_json: JsonObject = False) -> None:
    """Estimate conversations, calls, tokens and cost of an experiment; asks no model and writes nothing."""
    from ...experiments.api import prepare
    from ...experiments.file import Experiment

    prepared = prepare(Experiment.load(file), out, many=many)
    if as_json:
        say_object(_data(prepared))
    else:
        _print(prepared)


@experiment.command(epilog=EXAMPLES)
def run(
    file: File,
    yes: Annotated[bool, option("experiment run", "yes")] = False,
    many: Many = False,
    renew: Annotated[bool, option("experiment run", "renew")] = False,
    budget_calls: Annotated[int | None, option("experiment run", "budget_calls")] = None,
    budget_tokens: Annotated[int | None, option("experiment run", "budget_tokens")] = None,
    budget_usd: Annotated[float | None, option("experiment run", "budget_usd")] = None,
    engine: Annotated[Literal["local", "ray"], option("engine")] = "local",
    workers: Annotated[int | None, option("workers")] = None,
    address: Annotated[str | None, option("address")] = None,
    form: Form = "csv",
    out: Out = RESULTS,
    as_json: JsonObject = False,
) -> None:
    """Hold an experiment's conversations, measure and compare them, and write tables and a report.

    The same command goes on where an interrupted one stopped. Budgets override those of the file.
    """
    from ...experiments.api import prepare
    from ...experiments.file import Experiment
    from ...experiments.run_cell import EngineChoice
    from .judging import agree

    choice = EngineChoice(engine, workers, address)
    choice.check()
    budgets = {"budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd}
    wanted = _limited(Experiment.load(file), budgets)
    prepared = prepare(wanted, out, many=many, renew=renew)
    if not as_json:
        _print(prepared)
    if not yes and _asks(prepared):
        agree()
    options = [*(["--renew"] if renew else []), *([] if out == RESULTS else ["--out", str(out)]), *choice.options()]
    again = shlex.join(["persimchat", "experiment", "run", str(file), *options])
    results = run_with_models(_driven(prepared, again, form, choice, quiet=as_json))
    _tell(results, again, as_json=as_json)
    if results.judged is not None and results.judged.failed:
        raise typer.Exit(MODEL_FAILURE)
    if results.outcome is not None and results.outcome.failed:
        raise typer.Exit(CELLS_FAILED)


@experiment.command(epilog=EXAMPLES)
def report(
    file: Annotated[Path, option("experiment report", "file")],
    form: Form = "csv",
    out: Annotated[Path, option("experiment report", "out")] = RESULTS,
    language: Annotated[str | None, option("experiment report", "language")] = None,
    as_json: JsonObject = False,
) -> None:
    """Make the tables and the report of an experiment again; asks no model."""
    from ...experiments.api import report_on
    from ...experiments.file import Experiment
    from ...experiments.place import FILE, Place

    folder = file if file.is_dir() else None
    wanted = Experiment.load(folder / FILE if folder else file)
    into = out / wanted.name if folder and out != RESULTS else None
    results = report_on(wanted, Place(folder or out / wanted.name), form=form, into=into, tag=language)
    _tell(results, "", as_json=as_json)


def _limited(wanted: Experiment, budgets: Mapping[str, float | None]) -> Experiment:
    """The experiment with the budgets of the command line."""
    given = {name: value for name, value in budgets.items() if value is not None}
    if given.get("budget_usd") == 0:
        raise InputError("the budget is nothing", where="--budget-usd", remedy="Give more than 0.")
    return wanted.model_copy(update={"limits": wanted.limits.model_copy(update=given)})


def _missing(prepared: Prepared) -> list[Any]:
    return [each for each in prepared.plan.cells if prepared.standings[each.cell.id].status != "done"]


def _expected(prepared: Prepared) -> dict[str, Totals]:
    from ...experiments.estimate import by_model

    return by_model(prepared.plan, prepared.estimates, _missing(prepared))


def _judging(prepared: Prepared) -> list[Totals]:
    """What judges will be asked, one a measure."""
    return [work.total for work in prepared.judging]


def _asks(prepared: Prepared) -> bool:
    """Whether it asks before it starts: many calls, any that cost, or cells that differ from those in the folder."""
    expected = [*_expected(prepared).values(), *_judging(prepared)]
    costs = any(total.cost_usd is None or total.cost_usd > 0 for total in expected)
    changed = prepared.changes is not None and bool(prepared.changes.new or prepared.changes.gone)
    return changed or costs or sum(total.calls for total in expected) > _ASKS_ABOVE


def _data(prepared: Prepared) -> dict[str, Any]:
    from ...experiments.estimate import disk_bytes, disk_free, foreseen, summed

    expected = _expected(prepared)
    cells = len(prepared.plan.cells)
    return {
        "name": prepared.plan.experiment.name,
        "combinations": prepared.plan.combinations,
        "cells": cells,
        "done": cells - len(_missing(prepared)),
        "missing": summed(expected.values()).model_dump(),
        "models": {model: total.model_dump() for model, total in expected.items()},
        "judging": [
            {
                "measure": work.asker.measure.field,
                "judge": work.asker.judge.name,
                "answered": work.already,
                "questions": work.left + work.later,
                **work.total.model_dump(),
            }
            for work in prepared.judging
        ],
        "in_all": summed([*expected.values(), *_judging(prepared)]).model_dump(),
        "stale": dict(prepared.stale),
        "notes": list(prepared.plan.notes),
        "disk_bytes": disk_bytes(_missing(prepared)),
        "disk_free": disk_free(prepared.place.path),
        "comparisons": [
            {**asdict(each), "wanted": each.wanted.model_dump(mode="json")} for each in foreseen(prepared.plan)
        ],
    }


def _print(prepared: Prepared) -> None:
    from ...experiments.estimate import summed
    from ...reports.words import count, whole

    plan, expected = prepared.plan, _expected(prepared)
    tasks = sum(map(len, plan.tasks))
    sizes = [*((axis.name, len(axis.levels)) for axis in plan.axes), *([("task", tasks)] if tasks else [])]
    parts = " × ".join(f"{name} {size}" for name, size in sizes)
    cells, missing = len(plan.cells), len(_missing(prepared))
    say(one_line(f"{plan.experiment.name}: {count(cells, 'conversation')}{f' ({parts})' if parts else ''}"))
    for other in prepared.others:
        say(f"A new start in {prepared.place.path}: what {other} holds goes on with --out {other.parent}.")
    if prepared.changes is not None:
        changes = prepared.changes
        if changes.new or changes.gone:
            say(f"The file has changed: {changes.kept} kept, {changes.new} new, {changes.gone} no longer in it.")
        say(f"{cells - missing} of {cells} done, {missing} to hold.")
    if prepared.stale:
        why = ", ".join(sorted(set(prepared.stale.values())))
        what = "are held again" if prepared.renewing else "are kept; --renew holds them again"
        say(one_line(f"{len(prepared.stale)} of them stale ({why}): they {what}."))
    most = "at most " if any(planned.settings.mode == "debate" for planned in plan.cells) else "about "
    judged = [(work, work.total) for work in prepared.judging]
    costs = [(f"conversations, {model}" if judged else model, total) for model, total in expected.items()]
    costs += [(f"{work.asker.what}, {work.asker.judge.name}", total) for work, total in judged if total.calls]
    whole_sum = summed(total for _, total in costs)
    for what, total in [*costs, *([("in all", whole_sum)] if len(costs) > 1 else [])]:
        tokens = f"{whole(total.input_tokens)} tokens in, {whole(total.output_tokens)} out"
        say(one_line(f"{what}: {most}{count(total.calls, 'call')}, {tokens}, cost: {_price(total)}"))
    for work, _ in judged:
        if work.already:
            say(f"{work.asker.what}: {count(work.already, 'question')} answered before")
    for note in plan.notes:
        say(one_line(note))
    _print_foresight(prepared)


def _print_foresight(prepared: Prepared) -> None:
    """Say how much room the conversations take, and what the comparisons can find."""
    from ...experiments.estimate import TRUE_SHARE, disk_bytes, disk_free, foreseen
    from ...reports.words import count

    needed, free = disk_bytes(_missing(prepared)), disk_free(prepared.place.path)
    if needed:
        say(f"disk: about {needed / 1e6:,.0f} MB, as run folders are; {free / 1e6:,.0f} MB are free")
    if needed > free:
        warn("persimchat: the disk lacks the room for them. Make some, or choose another folder with --out.")
    for each in foreseen(prepared.plan):
        finds = (
            f"finds a level that is better in {each.share * 100:.0f} % of them" if each.share else "too few to find any"
        )
        say(
            one_line(
                f"compare by {each.wanted.by}: {count(each.tasks, 'task')}, {finds}; one that is better in "
                f"{TRUE_SHARE * 100:.0f} % needs {each.needed} (sign test, power 80 %)"
            )
        )


def _price(total: Totals) -> str:
    from ...reports.words import cost

    return "price unknown" if total.cost_usd is None else cost(total)


async def _driven(prepared: Prepared, again: str, form: str, choice: EngineChoice, *, quiet: bool) -> Results:
    from ...experiments.api import run_prepared
    from ..following import signals_cancel

    line = ProgressLine(quiet=quiet)
    with signals_cancel():
        try:
            await _reach(prepared)
            return await run_prepared(prepared, line.tell, form, choice)
        except asyncio.CancelledError:
            line.end()
            warn(f"persimchat: stopped; checkpoints and answers so far are kept. Go on with: {again}")
            raise Interrupted from None
        except (MachineError, OSError) as error:
            if not isinstance(error, MachineError):
                error = MachineError.caused_by(error, "the folder cannot be written", str(prepared.place.path))
            raise error.going_on(f"Then give the same command again: {again}") from None
        finally:
            line.end()


async def _reach(prepared: Prepared) -> None:
    """Make sure that the models of conversations still to be held can be asked, before any is."""
    from ...models.health_check import named_models, reach_all

    asked = {(*named_models(each.settings), each.settings.embedding): each.settings for each in _missing(prepared)}
    with waits_shown():
        for settings in asked.values():
            await reach_all(settings)


class ProgressLine(Line):
    """Tells progress."""

    def tell(self, progress: Progress | Judging) -> None:
        """Show how far it is."""
        self.show(_in_words(progress))


def _in_words(progress: Progress | Judging) -> str:
    from ...experiments.asking import Judging
    from ...reports.words import cost, count

    if isinstance(progress, Judging):
        spent = [count(progress.spent.calls, "call"), *([cost(progress.spent)] if progress.spent.cost_usd else [])]
        return ", ".join([f"{progress.what}: {progress.asked:,} of {progress.of:,} questions answered", *spent])
    left = progress.seconds_left
    parts = [
        f"{progress.done} of {progress.cells} done",
        f"{progress.running} running",
        f"{progress.failed} failed",
        count(progress.spent.calls, "call"),
        *([cost(progress.spent)] if progress.spent.cost_usd else []),
        *([f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left"] if left else []),
    ]
    return ", ".join(parts)


def _tell(results: Results, again: str, *, as_json: bool) -> None:
    """Say how the experiment went, and where its report is."""
    from ...experiments.asking import JUDGING
    from ...experiments.place import REPORT
    from ...reports.words import count

    cells = len(results.tables.locked.cells)
    done = sum(standing.status == "done" for standing in results.tables.standings.values())
    outcome, judged, path = results.outcome, results.judged, results.folder / REPORT
    if as_json:
        data: dict[str, Any] = {"folder": str(results.folder), "cells": cells, "done": done, "report": str(path)}
        if outcome is not None:
            data |= {"calls": outcome.made, "failed": outcome.failed, "left": sorted(outcome.left)}
            data |= {"spent": outcome.spent.model_dump(), "stopped": outcome.stopped}
        if judged is not None:
            data["judging"] = {**asdict(judged), "spent": judged.spent.model_dump()}
        say_object(data)
        return
    made = f", {count(outcome.made + (judged.made if judged else 0), 'call')}" if outcome is not None else ""
    say(f"{done} of {cells} done{made}")
    if outcome is not None:
        for cell, why in outcome.failed.items():
            warn(f"persimchat: cell {cell} failed: {one_line(why)}")
        if outcome.held:
            say(f"{count(len(outcome.held), 'cell')} held by another process: left alone")
        if outcome.stopped:
            warn(f"persimchat: no further cells were started: {outcome.stopped}")
        if outcome.left or outcome.failed:
            say(f"{len(outcome.left) + len(outcome.failed)} not complete. Go on with: {again}")
    if judged is not None:
        if judged.answered or judged.left:
            of = f" of {judged.answered + judged.left:,}" if judged.left else ""
            say(f"{judged.what}: {judged.answered:,}{of} questions answered, {count(judged.made, 'call')}")
        if judged.failed:
            who = "a judge" if judged.what == JUDGING else "a model"
            warn(f"persimchat: {who} failed: {one_line(judged.failed)} What is left is asked by: {again}")
        elif judged.exhausted:
            say(f"{judged.exhausted} The same command with a higher budget asks what is left: {again}")
    say(f"report: {path}")
