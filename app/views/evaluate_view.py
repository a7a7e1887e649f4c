"""What `persimchat evaluate` prints: a table of dimensions, or the verdicts on pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.pair_results import Counts, PairsResult
from persimchat.evaluation.scores import DimensionResult
from persimchat.evaluation.statistics.agreement import Kappa
from persimchat.evaluation.statistics.intervals import Estimate
from persimchat.runs.reports.words import UNKNOWN, count

_UNIT: Final = (
    "Mean ± SD are over conversations. The interval is of the mean over tasks (topic, participants, seed), the "
    "independent unit."
)


def number(value: float | None) -> str:
    """A number with two decimals."""
    return UNKNOWN if value is None else f"{value:,.2f}"


def p_value(value: float | None) -> str:
    """A p-value with three decimals."""
    return UNKNOWN if value is None else "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def between(estimate: Estimate) -> str:
    """An interval: "5.45 to 9.55"."""
    return UNKNOWN if estimate.low is None else f"{number(estimate.low)} to {number(estimate.high)}"


def reasons(missing: Mapping[str, int]) -> str:
    """Why something is missing, and how often: "unparseable 2, refused 1"."""
    return ", ".join(f"{why} {times:,}" for why, times in sorted(missing.items())) or "0"


def dimensions(results: Sequence[DimensionResult], look: Look, notes: Iterable[str]) -> RenderableType:
    """The table of dimensions, what it means, and warnings."""
    repeated = any(result.reliability is not None for result in results)
    columns = ["dimension", "mean ± SD", "95 % interval", "n", "tasks", "missing"]
    columns += ["does not\napply"] * any(result.not_applicable for result in results) + ["α of\nrepeats"] * repeated

    def row(result: DimensionResult) -> list[str]:
        mean = number(result.mean) if result.sd is None else f"{number(result.mean)} ± {number(result.sd)}"
        name = f"{result.dimension.key} {result.dimension.name}"
        cells = [name, mean, between(result.interval), str(result.n), str(result.interval.n), reasons(result.missing)]
        cells += [str(result.not_applicable)] if len(columns) > len(cells) + repeated else []
        return cells + [number(result.reliability)] * repeated

    shown = table(look, "Dimensions, 0 to 10 (REL: −5 to 5)", columns, map(row, results))
    return _with_notes(shown, look, [_UNIT, *notes])


def pairs(
    result: PairsResult, look: Look, notes: Iterable[str], *, swap: bool, agreement: Kappa | None
) -> RenderableType:
    """The verdicts on A against B, and how far to believe the judge."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, words in _pair_facts(result, swap=swap, agreement=agreement):
        facts.add_row(look(label), look(words))
    return _with_notes(facts, look, notes)


def _pair_facts(result: PairsResult, *, swap: bool, agreement: Kappa | None) -> Iterable[tuple[str, str]]:
    rate, test = result.rate, result.test
    yield "pairs", f"{len(result.pairs)}, without verdict: {reasons(result.missing)}"
    yield "answers missing", reasons(result.answers_missing)
    if rate.n:
        yield "A against B", _counted(result.counts)
        yield "win rate of A", f"{number(rate.value)} (95 % interval {between(rate)}, ties count half, n {rate.n})"
        yield "sign test", f"{p_value(test.p)} ({count(test.n, 'decided pair')}){_note(test.note)}"
    if not swap:
        yield "one order", "A was always shown first, so a favour for the first place counts for A"
    elif result.position.n:
        yield from _orders(result)
    if agreement is not None:
        observed, kappa = number(agreement.observed), number(agreement.value)
        yield "people", f"same verdict {observed}, Cohen's κ {kappa} ({count(agreement.n, 'pair')} with both)"


def _orders(result: PairsResult) -> Iterable[tuple[str, str]]:
    """How much the order of the two conversations matters to the judge."""
    position, tested, conflicts = result.position, result.position_test, result.conflicts
    effect = f"{number(position.value)} (95 % interval {between(position)}; above 0: the first is favoured)"
    yield "position effect", f"{effect}, Wilcoxon {p_value(tested.p)}{_note(tested.note)}"
    share = f"{number(conflicts.value)} (95 % interval {between(conflicts)})"
    yield "conflicts", f"{share}: the share of pairs whose verdict changes with the order"
    yield "A first alone", _counted(result.alone[0])
    yield "B first alone", _counted(result.alone[1])


def _counted(counts: Counts) -> str:
    return f"{counts.win} won, {counts.tie} tied, {counts.loss} lost"


def _note(note: str) -> str:
    return f"; {note}" if note else ""


def _with_notes(shown: RenderableType, look: Look, notes: Iterable[str]) -> RenderableType:
    return Group(shown, Text(""), *map(look, notes))


def as_data(estimate: Estimate) -> dict[str, Any]:
    """An estimate for --json."""
    named = ("value", "low", "high", "method", "n", "dropped", "note")
    return {name: getattr(estimate, name) for name in named}
