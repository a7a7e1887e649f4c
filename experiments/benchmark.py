"""A benchmark as an experiment: items are tasks with reference answers, methods an axis, draws the rounds.

A model is asked alone first, within the same budget, and its answers stand in `answers.jsonl`; conversations are held
as those of any experiment (`place.py`, `driver.py`) in the same folder. Then all answers are scored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..evaluation.asking import Judge, Questions, judge_all
from ..evaluation.benchmarks.formats import OWN, Item, drawn, panel
from ..evaluation.benchmarks.scoring import (
    ALONE,
    MethodResult,
    Scored,
    Solved,
    asked_alone,
    results,
    scored_alone,
    solver_of,
    state_of,
)
from ..evaluation.published.paper import Published, published
from ..models.asking import uselessness
from ..reports.tables import write_table
from ..runs.events import Totals
from ..state.errors import InputError, suggestion
from ..state.folders import RESULTS
from ..state.settings import BUDGETS, Settings
from ..state.wording import t
from .api import Prepared, prepare
from .axes import methods
from .driver import Outcome, Progress, check_cells, drive
from .estimate import amounts, summed
from .file import Base, Experiment, Limits, Measures, Task, Tasks
from .place import ITEMS, LOG, Place
from .place import TABLES as FOLDER
from .plan import Planned
from .report import Section, in_its_language, write_report
from .run_cell import LocalEngine
from .tables import TABLES, tables, write_tables

MESSAGES: Final = 20
"""The message limit of debates unless one is set; the thesis does not state its own."""
_CELLS: Final = 8
_SILENT: Final = "single_agent"
HELD: Final = tuple(method for method in methods() if method != _SILENT)
"""Methods that hold a conversation which has an answer."""
_TAKEN: Final = ("mode", "answer_format", "choices", "pattern", "baseline")
"""Settings that items and methods decide."""


@dataclass(frozen=True)
class Benchmark:
    """Items drawn for rounds, and the methods that answer them.

    Attributes:
        name: gsm8k, aqua, strategyqa, ecqa, or own.
        rounds: the items of each round.
        methods: in the order of tables.
        reference: the method with which the others are compared.
        settings: of models and conversations, budgets included.
        participants: of conversations, as in a scenario file.
    """

    name: str
    rounds: Sequence[Sequence[Item]]
    methods: Sequence[str]
    reference: str
    settings: Settings
    participants: Sequence[Any]

    @property
    def alone(self) -> list[str]:
        """Methods of a model alone."""
        return [method for method in self.methods if method in ALONE]

    @property
    def held(self) -> list[str]:
        """Methods that hold conversations."""
        return [method for method in self.methods if method not in ALONE]

    @property
    def repeated(self) -> int:
        """How many items were drawn more than once, because there are too few."""
        drawn_at_all = [item.id for items in self.rounds for item in items]
        return len(drawn_at_all) - len(set(drawn_at_all))


def make_benchmark(
    name: str,
    items: Sequence[Item],
    methods: Sequence[str],
    settings: Settings,
    *,
    number: int,
    rounds: int,
    reference: str | None = None,
    participants: Sequence[Any] | None = None,
) -> Benchmark:
    """Draw items for a benchmark, and check what is asked for.

    Args:
        name: of the benchmark.
        items: all that its file has.
        methods: to be compared.
        settings: of models and conversations; the seed is also that of the draws.
        number: items of each round.
        rounds: each with other items while there are any.
        reference: the method with which the others are compared; the first by default.
        participants: of conversations, as in a scenario file; a panel of our own by default.

    Raises:
        InputError: a method is not known or has no answer, or there are too few items.
    """
    for method in methods:
        if method == _SILENT:
            remedy = f"Leave it out. There are {', '.join((*ALONE, *HELD))}."
            raise InputError("single_agent holds discussions, which have no answer", where="--methods", remedy=remedy)
        if method not in (*ALONE, *HELD):
            remedy = suggestion(method, (*ALONE, *HELD))
            raise InputError(f"there is no method {method!r}", where="--methods", remedy=remedy)
    twice = next((method for method in methods if list(methods).count(method) > 1), None)
    if twice is not None or not methods:
        what = f"the method {twice} is named twice" if twice else "no method is named"
        raise InputError(what, where="--methods", remedy="Name each once: --methods cot,mad.")
    if reference is not None and reference not in methods:
        what = f"the reference {reference!r} is none of the methods"
        raise InputError(what, where="--reference", remedy=f"Name one of {', '.join(methods)}.")
    if number > len(items):
        what = f"{number} items are asked for, and there are {len(items)}"
        raise InputError(what, where="--items", remedy=f"Ask for at most {len(items)}.")
    taken = next((one for one in _TAKEN if one != "mode" and one in settings.model_fields_set), None)
    if taken is not None:
        what = f"{taken} is decided by the methods and the items"
        raise InputError(what, where=f"setting {taken}", remedy="Leave it out; methods are named with --methods.")
    draws = drawn(name, settings.seed, len(items), number, rounds)
    chosen = [[items[place] for place in draw] for draw in draws]
    people = list(participants) if participants is not None else panel(name)
    return Benchmark(name, chosen, tuple(methods), reference or methods[0], settings, people)


def experiment_of(benchmark: Benchmark) -> Experiment:
    """The experiment that holds a benchmark's conversations."""
    given = benchmark.settings.model_dump(mode="json", exclude_unset=True, exclude={*_TAKEN, *BUDGETS})
    items = {item.id: item for items in benchmark.rounds for item in items}
    return Experiment(
        name=benchmark.name,
        base=Base(
            participants=list(benchmark.participants),
            settings={"max_messages": MESSAGES, **given, "mode": "debate"},
        ),
        tasks=Tasks.model_validate({
            "list": [_task(item) for item in items.values()],
            "draws": [[item.id for item in drawn_] for drawn_ in benchmark.rounds],
        }),
        grid={"method": benchmark.held},
        measures=Measures(evaluators=["correct", "consensus"]),
        limits=Limits(cells=_CELLS, retries=0, **budgets(benchmark.settings)),
    )  # fmt: skip


def _task(item: Item) -> Task:
    settings = {"answer_format": item.form, **({"choices": list(item.choices)} if item.choices else {})}
    return Task(id=item.id, topic=item.question, category=item.format, answer=item.answer, settings=settings)


def budgets(settings: Settings) -> dict[str, Any]:
    """The budgets that are set, by name."""
    return {name: value for name in BUDGETS if (value := getattr(settings, name)) is not None}


def paper_says(name: str, method: str) -> Published | None:
    """What the thesis published of a benchmark and method (table 6.11)."""
    return next(iter(published("thesis").find(name, method)), None)


def notes(benchmark: Benchmark) -> list[str]:
    """What a reader must know of the figures."""
    solver, size = solver_of(benchmark.settings), sum(map(len, benchmark.rounds))
    found = []
    if solver.model.provider == "offline":
        found.append(t("findings.benchmark_offline"))
    if benchmark.repeated:
        found.append(t("findings.benchmark_repeated", size=size, different=size - benchmark.repeated))
    theirs = next(filter(None, (paper_says(benchmark.name, method) for method in benchmark.methods)), None)
    if theirs is not None:
        held = {"table": theirs.table, "rounds": theirs.rounds, "tasks": theirs.tasks, "model": theirs.model}
        found.append(t("findings.benchmark_published", here=solver.name, **held))
    if benchmark.name == OWN:
        found.append(t("findings.benchmark_own"))
    return found


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
        solver: the model that answers alone.
        solving: what it is asked.
        conversations: what is held; None without such methods.
    """

    benchmark: Benchmark
    place: Place
    solver: Judge
    solving: Questions[Solved]
    conversations: Prepared | None

    def parts(self) -> list[Part]:
        """What each method has still to ask, in order of the methods."""
        left = self.solving.left(self.solver.name, self.solving.rows())
        size = sum(map(len, self.benchmark.rounds))
        found = []
        for method in self.benchmark.methods:
            if self.conversations is None or method in ALONE:
                own = [unit for unit in left if unit.fields["method"] == method]
                expected: Totals = self.solver.cost_of(unit.asked for unit in own)
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
    solver = solver_of(benchmark.settings)
    solving = asked_alone(place.path / LOG, solver, benchmark.alone, benchmark.rounds)
    conversations = prepare(experiment_of(benchmark), out, many=many) if benchmark.held else None
    return PreparedBenchmark(benchmark, place, solver, solving, conversations)


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
    if not solving.left(prepared.solver.name, solving.rows()):
        return ""
    left = _left_of_budget(prepared, prepared.conversations.plan.cells if prepared.conversations else ())
    if left is None:
        return "the budget is used up"
    solver = solver_of(prepared.solver.settings.model_copy(update=left))
    asking = await judge_all(solver, [solving], told=answered)
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
    used = [
        Totals(calls=r.calls, input_tokens=r.input_tokens, output_tokens=r.output_tokens, cost_usd=r.cost_usd or 0.0)
        for r in solving.answers(prepared.solver.name)
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
    items = {item.id: item for each in benchmark.rounds for item in each}
    rows, found = solving.rows(), []
    for unit in solving.units:
        row = rows.get(unit.key(prepared.solver.name))
        found.append(scored_alone(row, items[unit.fields["item"]], unit.fields["method"], unit.repeat))
    for planned in prepared.conversations.plan.cells if prepared.conversations else ():
        found.append(_scored_conversation(prepared.place, planned, items[planned.cell.task]))
    return sorted(found, key=lambda one: benchmark.methods.index(one.method))


def _scored_conversation(place: Place, planned: Planned, item: Item) -> Scored:
    """The score of a conversation's answer."""
    cell, standing = planned.cell, place.standing(planned.cell.id)
    blank = Scored(cell.round, item, str(cell.axes["method"]), why=f"the conversation is {standing.status}")
    manifest = standing.manifest
    if manifest is None:
        return replace(blank, why=standing.why or blank.why)
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
    table, place, name = TABLES[ITEMS], prepared.place, prepared.benchmark.name
    rows = [table.row(one, benchmark=name) for one in found]
    if prepared.conversations is None:
        (place.path / FOLDER).mkdir(exist_ok=True)
        write_table(place.path / FOLDER / f"{ITEMS}.csv", table.model, rows)
        return
    made = tables(prepared.conversations.plan.experiment, place)
    made = replace(made, rows={**made.rows, ITEMS: rows}, made={**made.made, ITEMS: table})
    write_tables(made, place)
    papers = {one.method: paper_says(name, one.method) for one in summary}
    with in_its_language(place):
        values = {"name": name, "methods": summary, "published": papers, "notes": notes(prepared.benchmark)}
        write_report(made, place, [Section("benchmark", t("findings.right_answers"), "benchmark.html.jinja", values)])
