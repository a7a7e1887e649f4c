"""Runs a benchmark: asks a model alone, holds the conversations, scores all answers, and writes tables and report.

Conversations are held as those of any experiment (`place.py`, `driving.py`). What a model answers alone is asked first,
within the same budget, and stands in `answers.jsonl` of the same folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from persimchat.evaluation.benchmarks.formats import Item
from persimchat.evaluation.benchmarks.scoring import MethodResult, Scored, results, scored_alone, state_of
from persimchat.evaluation.benchmarks.solving import ALONE, Solving, solver_of
from persimchat.evaluation.judging import judge_all
from persimchat.experiments.api import Prepared, prepare
from persimchat.experiments.benchmark import Benchmark, budgets, experiment_of, notes, paper_says
from persimchat.experiments.driving import Outcome, Progress, check_cells, drive
from persimchat.experiments.engine import LocalEngine
from persimchat.experiments.needs import amounts, summed
from persimchat.experiments.place import ITEMS, TABLES, Place
from persimchat.experiments.plan import Planned
from persimchat.experiments.report import Section, write_report
from persimchat.experiments.table_models import Row
from persimchat.experiments.tables import tables, write_tables
from persimchat.models.asking import uselessness
from persimchat.models.ledger import Ledger
from persimchat.runs.events import Totals
from persimchat.runs.reports.export_writing import write_table
from persimchat.state.folders import RESULTS


class ItemRow(Row):
    """One row per item of a round and method: what was answered, and whether it is right."""

    benchmark: str = Field(description="the benchmark's name")
    round: int = Field(description="the draw of items")
    item: str = Field(description="the item: its format and its number in the file")
    method: str = Field(description="who answered: a model alone (zero_shot, cot), or a conversation by this method")
    answer: str | None = Field(description="the answer; empty if there is none")
    reference: str = Field(description="the right answer")
    state: str = Field(description="right, wrong, unparseable, refused, or failed: no answer for a technical reason")
    why: str | None = Field(description="why there is no answer")
    consensus: bool | None = Field(description="whether the debate came to a consensus; empty without a debate")
    calls: int = Field(description="requests to models")
    cost_usd: float | None = Field(description="what they cost; empty if a price is not known")


@dataclass(frozen=True)
class Part:
    """What one method has still to ask.

    Attributes:
        method: its name.
        items: all of its items.
        done: those that have an answer, or will have none.
        expected: what the others will take.
    """

    method: str
    items: int
    done: int
    expected: Totals


@dataclass(frozen=True)
class PreparedBenchmark:
    """A benchmark for which everything was checked that can be known before the first call.

    Attributes:
        benchmark: items and methods.
        place: its folder, which may not be there yet.
        solving: what is asked of a model alone.
        conversations: what is held; None without such methods.
    """

    benchmark: Benchmark
    place: Place
    solving: Solving
    conversations: Prepared | None

    def parts(self) -> list[Part]:
        """What each method has still to ask, in order of the methods."""
        left = self.solving.left(self.solving.rows())
        size = sum(map(len, self.benchmark.rounds))
        found = []
        for method in self.benchmark.methods:
            if self.conversations is None or method in ALONE:
                own = [unit for unit in left if unit.method == method]
                cost = self.solving.solver.cost_of(unit.asked for unit in own)
                tokens = {"input_tokens": cost.input_tokens, "output_tokens": cost.output_tokens}
                expected = Totals(calls=cost.calls, **tokens, estimated=True, cost_usd=cost.cost_usd)
                found.append(Part(method, size, size - len(own), expected))
            else:
                estimates = self.conversations.estimates
                cells = [cell for cell in self.open() if cell.cell.axes["method"] == method]
                expected = summed(estimates[cell.cell.id].total for cell in cells)
                found.append(Part(method, size, size - len(cells), expected))
        return found

    def open(self) -> list[Planned]:
        """The conversations that are to be held: neither complete nor ended by answers of no use."""
        if self.conversations is None:
            return []
        return [cell for cell in self.conversations.plan.cells if not _is_over(self.place, cell)]


def _is_over(place: Place, planned: Planned) -> bool:
    """Whether a conversation is not held again: asking until an answer can be read would favour its method."""
    standing = place.standing(planned.cell.id)
    useless = standing.status == "failed" and standing.manifest is not None and uselessness(standing.manifest.detail)
    return standing.status == "done" or bool(useless)


def prepare_benchmark(benchmark: Benchmark, out: Path | str = RESULTS, *, many: bool = False) -> PreparedBenchmark:
    """Plan, estimate and look into the folder; asks no model and writes nothing.

    Args:
        benchmark: items and methods.
        out: the folder in which it has a folder of its own, by its name.
        many: whether more than 10,000 conversations are meant.

    Raises:
        InputError: a conversation cannot be held, or a budget admits none.
        MissingExtraError: the extra `evaluation` is not installed.
    """
    results([], benchmark.methods, benchmark.reference)
    place = Place(Path(out) / benchmark.name)
    solving = Solving(place.path, solver_of(benchmark.settings), benchmark.alone, benchmark.rounds)
    conversations = prepare(experiment_of(benchmark), out, many=many) if benchmark.held else None
    return PreparedBenchmark(benchmark, place, solving, conversations)


@dataclass
class BenchmarkResults:
    """What a benchmark has found.

    Attributes:
        folder: its folder.
        scored: every answer.
        methods: the result of each method.
        failed: conversations that failed this time, with the reason.
        stopped: why not everything was asked; empty where it was.
    """

    folder: Path
    scored: Sequence[Scored]
    methods: Sequence[MethodResult]
    failed: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""


async def run_benchmark(
    prepared: PreparedBenchmark,
    *,
    answered: Callable[[], None] = lambda: None,
    tell: Callable[[Progress], None] = lambda _: None,
) -> BenchmarkResults:
    """Ask and hold what is missing, and write tables and report.

    Args:
        prepared: the benchmark.
        answered: is called after each answer of a model alone.
        tell: is told how far the conversations are.

    Raises:
        InputError: before the first call: a conversation cannot be held, or another process runs the benchmark.
        ModelError: the model cannot be asked alone; what was answered is kept.
        MachineError: the machine has stopped it; it goes on when it is run again.
    """
    place, conversations = prepared.place, prepared.conversations
    if conversations is not None:
        await check_cells(conversations.plan)
    with place.driven():
        stopped = await _ask_alone(prepared, answered)
        outcome = Outcome()
        if conversations is not None:
            place.keep(conversations.plan)
            outcome = await _hold(prepared, conversations, tell)
        found = await asyncio.to_thread(scored, prepared)
        summary = results(found, prepared.benchmark.methods, prepared.benchmark.reference)
        await asyncio.to_thread(_write, prepared, found, summary)
    return BenchmarkResults(place.path, found, summary, outcome.failed, stopped or outcome.stopped)


async def _ask_alone(prepared: PreparedBenchmark, answered: Callable[[], None]) -> str:
    """Ask a model alone; why a budget ended it, or nothing."""
    solving = prepared.solving
    if not solving.left(solving.rows()):
        return ""
    left = _left_of_budget(prepared, prepared.conversations.plan.cells if prepared.conversations else ())
    if left is None:
        return "the budget is used up"
    solver = solver_of(solving.solver.settings.model_copy(update=left))
    asking = await judge_all(solver, [replace(solving, solver=solver)], ledger=Ledger(), told=answered)
    return asking.exhausted


async def _hold(prepared: PreparedBenchmark, held: Prepared, tell: Callable[[Progress], None]) -> Outcome:
    """Hold the conversations that are to be held, with what is left of the budget."""
    cells = prepared.open()
    if not cells:
        return Outcome()
    going_on = {cell.cell.id for cell in cells}
    left = _left_of_budget(prepared, [cell for cell in held.plan.cells if cell.cell.id not in going_on])
    if left is None:
        return Outcome(left=going_on, stopped="the budget is used up")
    experiment = held.plan.experiment
    limits = experiment.limits.model_copy(update=left)
    plan = replace(held.plan, cells=cells, experiment=experiment.model_copy(update={"limits": limits}))
    return await drive(plan, prepared.place, held.estimates, LocalEngine(), tell)


def _left_of_budget(prepared: PreparedBenchmark, cells: Sequence[Planned]) -> dict[str, Any] | None:
    """The budgets without what a model alone and these conversations have used; None where one is used up."""
    solving = prepared.solving
    rows, own = solving.rows(), {unit.key(solving.solver.name) for unit in solving.units}
    used = [
        Totals(calls=r.calls, input_tokens=r.input_tokens, output_tokens=r.output_tokens, cost_usd=r.cost_usd or 0.0)
        for key, r in rows.items()
        if key in own
    ]
    for planned in cells:
        manifest = prepared.place.standing(planned.cell.id).manifest
        if manifest is not None and manifest.usage.total is not None:
            used.append(manifest.usage.total)
    spent = amounts(summed(used))
    left = {name: value - spent[name] for name, value in budgets(prepared.benchmark.settings).items()}
    if any(value <= 0 for value in left.values()):
        return None
    return {name: value if name == "budget_usd" else int(value) for name, value in left.items()}


def scored(prepared: PreparedBenchmark) -> list[Scored]:
    """Every answer so far, by method, round and item."""
    benchmark, solving = prepared.benchmark, prepared.solving
    rows, found = solving.rows(), []
    for unit in solving.units:
        row = rows.get(unit.key(solving.solver.name))
        found.append(scored_alone(row, unit.item, unit.method, unit.round))
    items = {item.id: item for each in benchmark.rounds for item in each}
    for planned in prepared.conversations.plan.cells if prepared.conversations else ():
        found.append(_scored_conversation(prepared.place, planned, items[planned.cell.task]))
    return sorted(found, key=lambda one: benchmark.methods.index(one.method))


def _scored_conversation(place: Place, planned: Planned, item: Item) -> Scored:
    """The score of a conversation's answer."""
    cell, standing = planned.cell, place.standing(planned.cell.id)
    blank = Scored(cell.round, item, str(cell.axes["method"]), why=f"the conversation is {standing.status}")
    manifest = standing.manifest
    if manifest is None:
        return blank
    if (total := manifest.usage.total) is not None:
        blank = replace(blank, calls=total.calls, cost_usd=total.cost_usd)
    if standing.status == "done" and manifest.conclusion is not None:
        concluded = manifest.conclusion
        state = state_of(concluded.answer, item)
        return replace(blank, answer=concluded.answer, state=state, why="", consensus=concluded.consensus)
    if standing.status == "failed":
        return replace(blank, state=uselessness(manifest.detail) or "failed", why=manifest.detail)
    return blank


def _write(prepared: PreparedBenchmark, found: Sequence[Scored], summary: Sequence[MethodResult]) -> None:
    """Write the table of items, and, where there are conversations, the experiment's tables and its report."""
    rows, place = [_row(prepared.benchmark.name, one) for one in found], prepared.place
    if prepared.conversations is None:
        (place.path / TABLES).mkdir(exist_ok=True)
        write_table(place.path / TABLES / f"{ITEMS}.csv", ItemRow, rows)
        return
    made = tables(prepared.conversations.plan.experiment, place)
    made = replace(made, rows={**made.rows, ITEMS: rows}, models={**made.models, ITEMS: ItemRow})
    write_tables(made, place)
    name = prepared.benchmark.name
    papers = {one.method: paper_says(name, one.method) for one in summary}
    values = {"name": name, "methods": summary, "published": papers, "notes": notes(prepared.benchmark)}
    write_report(made, place, [Section("benchmark", "Right answers", "benchmark.html.jinja", values)])


def _row(name: str, one: Scored) -> ItemRow:
    return ItemRow(
        benchmark=name,
        round=one.round,
        item=one.item.id,
        method=one.method,
        answer=one.answer or None,
        reference=one.item.answer,
        state=one.state,
        why=one.why or None,
        consensus=one.consensus,
        calls=one.calls,
        cost_usd=one.cost_usd,
    )
