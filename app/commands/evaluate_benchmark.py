"""`persimchat evaluate benchmark`: questions with right answers, for a model alone and for conversations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.evaluate import look
from persimchat.app.commands.experiment import CELLS_FAILED, Line, Many
from persimchat.app.commands.experiment import Out as OutOfExperiments
from persimchat.app.commands.options import (
    Assignments,
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    JsonObject,
    Model,
    Participants,
    SettingsFile,
    Yes,
)
from persimchat.app.output import Interrupted, say, warn
from persimchat.state.errors import InputError
from persimchat.state.folders import RESULTS

if TYPE_CHECKING:
    from persimchat.experiments.benchmark import Benchmark
    from persimchat.experiments.benchmarking import BenchmarkResults, PreparedBenchmark

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate benchmark own --methods cot,mad --items 8 --rounds 1
  persimchat evaluate benchmark gsm8k --data test.jsonl --model openai:gpt-4o-mini
  persimchat evaluate benchmark ecqa --data cqa_data_test.csv --methods cot,reconcile --reference cot

\b
[bold]Names[/bold]
  gsm8k, aqua, strategyqa, ecqa: with --data, your copy of the file as it was published
  own: 32 items of PerSimChat's own, for trials; no benchmark

\b
[bold]Methods[/bold]
  zero_shot, cot: one call an item, the answer alone, or reasons and then the answer
  need_to_talk, round_robin, selector: debates; mad, mad_judge, reconcile, group_chat: baselines

\b
[bold]Exit codes[/bold]
  0 done   1 finished, but conversations failed   2 bad input   3 the model failed
  130 interrupted: the same command goes on
"""


def benchmark(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="gsm8k, aqua, strategyqa, ecqa, or own.", show_default=False)
    ],
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="Your copy of the benchmark.", show_default=False)
    ] = None,
    methods: Annotated[
        str, typer.Option("--methods", metavar="NAMES", help="What answers, separated by commas.")
    ] = "cot,mad,reconcile,need_to_talk",
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="METHOD", help="The method with which the others are compared; else the first."
        ),
    ] = None,
    items: Annotated[int, typer.Option("--items", metavar="N", min=1, help="Items of each round.")] = 30,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, max=1000, help="Rounds, each with other items.")
    ] = 3,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="Of draws and conversations. [dim]default: 0[/dim]")
    ] = None,
    participants: Participants = None,
    model: Model = None,
    settings: SettingsFile = None,
    assignments: Assignments = None,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    many: Many = False,
    out: OutOfExperiments = RESULTS,
    yes: Yes = False,
    as_json: JsonObject = False,
) -> None:
    """Ask questions that have right answers, and count who gets them right.

    Every method answers the same items, by a model alone or in debates of personas. The same command goes on where an
    interrupted one stopped.
    """
    from persimchat.app.commands.request import settings_of
    from persimchat.app.commands.wanted import Wanted
    from persimchat.evaluation.benchmarks.formats import NAMES, OWN, read_items
    from persimchat.experiments.benchmark import make_benchmark
    from persimchat.experiments.benchmarking import prepare_benchmark
    from persimchat.state.errors import suggestion

    if name not in NAMES:
        raise InputError(f"there is no benchmark {name!r}", where="argument NAME", remedy=suggestion(name, NAMES))
    if name == OWN and data is not None:
        remedy = "Leave --data out, or name the format of your file: gsm8k, aqua, strategyqa or ecqa."
        raise InputError("own has items of its own", where="--data", remedy=remedy)
    budgets = {"budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd}
    arguments = {"model": model, "seed": seed, "mode": "debate", **budgets}
    wanted = make_benchmark(
        name,
        read_items(name, data),
        _listed(methods, "--methods"),
        settings_of(Wanted(arguments=arguments, settings=settings, assignments=assignments)),
        number=items,
        rounds=rounds,
        reference=reference,
        participants=_listed(participants, "--participants") if participants is not None else None,
    )
    prepared = prepare_benchmark(wanted, out, many=many)
    _announce(prepared, yes=yes, quiet=as_json)
    results = asyncio.run(_driven(prepared, quiet=as_json))
    _tell(wanted, results, as_json=as_json)
    if results.failed:
        raise typer.Exit(CELLS_FAILED)


def _listed(text: str, where: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError("a name is missing", where=where, remedy="Separate names by commas.")
    return names


def _announce(prepared: PreparedBenchmark, *, yes: bool, quiet: bool) -> None:
    """Say what is still to ask and what it costs; let somebody agree to many calls, or to calls with a price."""
    from persimchat.app.commands.judging import agree
    from persimchat.app.views import benchmark_view
    from persimchat.app.views.printing import print_all
    from persimchat.evaluation.judging import MANY_CALLS
    from persimchat.experiments.needs import summed

    left = prepared.parts()
    if not quiet:
        print_all(benchmark_view.parts(left, look(), debates=bool(prepared.conversations)))
    if prepared.solving.solver.model.provider == "offline":
        warn("persimchat: the offline model guesses; its results mean nothing")
    expected = summed(part.expected for part in left)
    priced = expected.cost_usd is None or expected.cost_usd > 0
    if expected.calls and (expected.calls > MANY_CALLS or priced) and not yes:
        agree()


async def _driven(prepared: PreparedBenchmark, *, quiet: bool) -> BenchmarkResults:
    from persimchat.app.commands.judging import progress
    from persimchat.app.following import signals_cancel
    from persimchat.experiments.benchmarking import run_benchmark
    from persimchat.models.registry import close_models

    line = Line(quiet=quiet)
    left = len(prepared.solving.left(prepared.solving.rows()))
    with signals_cancel(), progress(0 if quiet else left) as answered:
        try:
            return await run_benchmark(prepared, answered=answered, tell=line.show)
        except asyncio.CancelledError:
            line.end()
            warn("persimchat: stopped; what was answered is kept. The same command goes on.")
            raise Interrupted from None
        finally:
            line.end()
            await close_models()


def _tell(wanted: Benchmark, results: BenchmarkResults, *, as_json: bool) -> None:
    from persimchat.app.views import benchmark_view
    from persimchat.app.views.printing import print_all
    from persimchat.experiments.benchmark import notes, paper_says
    from persimchat.experiments.place import ITEMS, REPORT, TABLES
    from persimchat.state.plain_text import one_line

    told: Sequence[str] = notes(wanted)
    papers = {one.method: paper_says(wanted.name, one.method) for one in results.methods}
    written = {"items": results.folder / TABLES / f"{ITEMS}.csv"}
    if wanted.held:
        written["report"] = results.folder / REPORT
    if as_json:
        found: dict[str, Any] = {"benchmark": wanted.name, "reference": wanted.reference}
        found["methods"] = [benchmark_view.data(one, papers[one.method]) for one in results.methods]
        found |= {"notes": told, "failed": results.failed, "stopped": results.stopped}
        say(json.dumps({**found, **{what: str(path) for what, path in written.items()}}, ensure_ascii=False, indent=2))
        return
    print_all(benchmark_view.methods(wanted.name, results.methods, papers, look(), told))
    for cell, why in results.failed.items():
        warn(f"persimchat: cell {cell} failed: {one_line(why)}")
    if results.stopped:
        warn(f"persimchat: not everything was asked: {results.stopped}. The same command goes on.")
    for what, path in written.items():
        say(f"{what}: {path}")
