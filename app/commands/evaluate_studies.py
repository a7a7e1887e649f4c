"""`persimchat evaluate benchmark` and `diversity`: right answers counted, and how different repeated runs are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from ...state.errors import InputError
from ...state.folders import RESULTS
from ..output import Interrupted, say, warn
from .experiment import CELLS_FAILED, Many, ProgressLine
from .experiment import Out as OutOfExperiments
from .foreground import run_with_models
from .options import (
    OUT,
    Assignments,
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    JsonObject,
    Model,
    Participants,
    Runs,
    RunsIn,
    SettingsFile,
    Yes,
    option,
)

if TYPE_CHECKING:
    from ...evaluation.diversity.cases import Chosen
    from ...evaluation.diversity.measuring import Diversity
    from ...experiments.benchmark import Benchmark, BenchmarkResults, PreparedBenchmark


BENCHMARK: Final = """\b
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
    name: Annotated[str, option("evaluate_benchmark", "name")],
    data: Annotated[Path | None, option("evaluate_benchmark", "data")] = None,
    methods: Annotated[str, option("evaluate_benchmark", "methods")] = "cot,mad,reconcile,need_to_talk",
    reference: Annotated[str | None, option("evaluate_benchmark", "reference")] = None,
    items: Annotated[int, option("evaluate_benchmark", "items")] = 30,
    rounds: Annotated[int, option("evaluate_benchmark", "rounds")] = 3,
    seed: Annotated[int | None, option("evaluate_benchmark", "seed")] = None,
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
    from ...evaluation.benchmarks.formats import NAMES, OWN, read_items
    from ...experiments.benchmark import make_benchmark, prepare_benchmark
    from ...state.errors import suggestion
    from .option_groups import Wanted
    from .request import settings_of

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
    results = run_with_models(_driven(prepared, quiet=as_json))
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
    from ...evaluation.asking import MANY_CALLS
    from ...experiments.estimate import summed
    from ..views.studies import still_to_ask
    from ..views.tables import here, print_all
    from .judging import agree

    left = prepared.parts()
    if not quiet:
        print_all(still_to_ask(left, here(), debates=bool(prepared.conversations)))
    if prepared.solver.model.provider == "offline":
        warn("persimchat: the offline model guesses; its results mean nothing")
    expected = summed(part.expected for part in left)
    priced = expected.cost_usd is None or expected.cost_usd > 0
    if expected.calls and (expected.calls > MANY_CALLS or priced) and not yes:
        agree()


async def _driven(prepared: PreparedBenchmark, *, quiet: bool) -> BenchmarkResults:
    from ...experiments.benchmark import run_benchmark
    from ..following import signals_cancel
    from .judging import progress

    line = ProgressLine(quiet=quiet)
    left = len(prepared.solving.left(prepared.solver.name, prepared.solving.rows()))
    with signals_cancel(), progress(0 if quiet else left) as answered:
        try:
            return await run_benchmark(prepared, answered=answered, tell=line.tell)
        except asyncio.CancelledError:
            line.end()
            warn("persimchat: stopped; what was answered is kept. The same command goes on.")
            raise Interrupted from None
        finally:
            line.end()


def _tell(wanted: Benchmark, results: BenchmarkResults, *, as_json: bool) -> None:
    from ...experiments.benchmark import notes, paper_says
    from ...experiments.place import ITEMS, REPORT, TABLES
    from ...state.plain_text import one_line
    from ..views.studies import benchmark as shown
    from ..views.studies import benchmark_data
    from ..views.tables import finish

    told: Sequence[str] = notes(wanted)
    papers = {one.method: paper_says(wanted.name, one.method) for one in results.methods}
    written = {"items": results.folder / TABLES / f"{ITEMS}.csv"}
    if wanted.held:
        written["report"] = results.folder / REPORT

    def data() -> dict[str, Any]:
        return {
            "benchmark": wanted.name,
            "reference": wanted.reference,
            "methods": [benchmark_data(one, papers[one.method]) for one in results.methods],
            "notes": told,
            "failed": results.failed,
            "stopped": results.stopped,
            **{what: str(path) for what, path in written.items()},
        }

    finish(as_json, data, lambda look: shown(wanted.name, results.methods, papers, look, told))
    if as_json:
        return
    for cell, why in results.failed.items():
        warn(f"persimchat: cell {cell} failed: {one_line(why)}")
    if results.stopped:
        warn(f"persimchat: not everything was asked: {results.stopped}. The same command goes on.")
    for what, path in written.items():
        say(f"{what}: {path}")


DIVERSITY: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate diversity conversations/2026*
  persimchat evaluate diversity results/lambda/runs/* --embedding minilm --out results/diversity
  persimchat evaluate diversity conversations/2026* --positions --json

\b
[bold]Cases and settings[/bold]
  Runs of one scenario are a case. Settings that differ between its runs stand
  side by side; seeds only repeat. Give at least two runs of each, and equally
  many: dist-N falls with the amount of text.

\b
[bold]Exit codes[/bold]
  0 done   2 bad input, or nothing to compare   3 a server's embedding failed
"""


def diversity(
    wanted: Runs,
    embedding: Annotated[str | None, option("evaluate_diversity", "embedding")] = None,
    tokens: Annotated[Literal["words", "whitespace"], option("evaluate_diversity", "tokens")] = "words",
    positions: Annotated[bool, option("evaluate_diversity", "positions")] = False,
    group: Annotated[int | None, option("evaluate_diversity", "group")] = None,
    runs: RunsIn = OUT,
    out: Annotated[Path | None, option("evaluate_diversity", "out")] = None,
    as_json: JsonObject = False,
) -> None:
    """Show how different repeated conversations are: words, meanings, and what pruning adds.

    No model is asked; an embedding of a server is. Whispers and words of people and the moderator do not count.
    """
    from ...evaluation.diversity.cases import choose
    from ...evaluation.diversity.measuring import Options, measure
    from ...evaluation.diversity.texts import best_embedding
    from ...state.configuration import load_settings
    from .finding import find_run

    chosen = choose([find_run(name, runs) for name in wanted])
    options = Options(best_embedding() if embedding is None else embedding, tokens, positions, group)

    found = run_with_models(measure(chosen.cases, options, load_settings()))
    if group is not None and all(one.value is None for one in found.values):
        raise InputError("no setting has a whole group", where="--group", remedy="Give more runs, or a smaller group.")
    from ...evaluation.tables import write_diversity
    from ..views.studies import diversity as shown
    from ..views.tables import finish

    written = write_diversity(out, found) if out is not None else []
    finish(as_json, lambda: _data(chosen, found), lambda look: shown(chosen, found, look), written)


def _data(chosen: Chosen, found: Diversity) -> dict[str, Any]:
    from ...evaluation.diversity.measuring import MEASURES
    from ..views.evaluations import as_data

    return {
        "embedding": found.embedding,
        "tokens": found.options.tokens,
        "group": found.options.group,
        "measures": {name: MEASURES[name] for name in found.measures},
        "cases": {
            case: {setting: [one.run for one in each] for setting, each in by_setting.items()}
            for case, by_setting in found.cases.sets.items()
        },
        "values": [asdict(one) for one in found.values],
        "settings": [
            {
                "setting": one.setting,
                "measure": one.measure,
                "unit": one.unit,
                "who": one.who,
                **as_data(one.estimate),
                "against": one.against,
                "difference": None if one.claim is None else as_data(one.claim.difference),
                "p_holm": None if one.claim is None else one.claim.p_holm,
                "shown": None if one.claim is None else one.claim.shown,
            }
            for one in found.means
        ],
        "left_out": {"runs": chosen.left_out, "utterances": chosen.apart},
        "notes": list(found.notes),
    }
