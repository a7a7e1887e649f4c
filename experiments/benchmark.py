"""A benchmark as an experiment: items are tasks with reference answers, methods an axis, draws the rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from persimchat.evaluation.benchmarks.formats import OWN, Item, drawn, panel
from persimchat.evaluation.benchmarks.solving import ALONE, solver_of
from persimchat.evaluation.published.paper import Published, published
from persimchat.experiments.axes import METHODS
from persimchat.experiments.file import Base, Experiment, Limits, Measures, Task, Tasks
from persimchat.state.errors import InputError, suggestion
from persimchat.state.settings import BUDGETS, Settings

MESSAGES: Final = 20
"""The message limit of debates unless one is set; the thesis does not state its own."""
_CELLS: Final = 8
_SILENT: Final = "single_agent"
HELD: Final = tuple(method for method in METHODS if method != _SILENT)
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
        found.append("The offline model guesses: these results mean nothing.")
    if benchmark.repeated:
        different = size - benchmark.repeated
        found.append(
            f"There are too few items: {size} draws are of {different} items, so intervals and p are too small."
        )
    theirs = next(filter(None, (paper_says(benchmark.name, method) for method in benchmark.methods)), None)
    if theirs is not None:
        found.append(
            f"Published: thesis, table {theirs.table}, mean ± SD of {theirs.rounds} rounds of {theirs.tasks} items. "
            f"What differed: its model was {theirs.model}, here it is {solver.name}; it does not state its items, "
            "prompts, personas and message limit."
        )
    if benchmark.name == OWN:
        found.append("These items are PerSimChat's own. They are few and easy, and no benchmark.")
    return found
