"""What `persimchat evaluate benchmark` prints: what it will take, and what each method got right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.evaluate_view import as_data, number, p_value
from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.benchmarks.scoring import Against, MethodResult, Share
from persimchat.evaluation.published.paper import Published
from persimchat.evaluation.statistics.intervals import Estimate
from persimchat.experiments.benchmarking import Part
from persimchat.runs.reports.words import UNKNOWN, cost, whole


def parts(wanted: Sequence[Part], look: Look, *, debates: bool) -> RenderableType:
    """What each method has still to ask."""
    columns = ["method", "answers", "there", "calls, at most" if debates else "calls", "tokens in", "out", "cost"]
    rows = []
    for one in wanted:
        expected = one.expected
        tokens = [whole(expected.input_tokens), whole(expected.output_tokens)]
        rows.append([one.method, str(one.items), str(one.done), whole(expected.calls), *tokens, cost(expected)])
    return table(look, "Still to ask", columns, rows)


def methods(
    name: str,
    results: Sequence[MethodResult],
    published: Mapping[str, Published | None],
    look: Look,
    notes: Iterable[str],
) -> RenderableType:
    """The tables of a benchmark's results, and what a reader must know of them."""
    shown: list[RenderableType] = [_accuracy(name, results, published, look)]
    compared = [(one.method, one.against) for one in results if one.against is not None]
    if compared:
        shown += [Text(""), _compared(compared, look)]
    debates = [one for one in results if one.consensus is not None]
    if debates:
        shown += [Text(""), _debates(debates, look)]
    return Group(*shown, Text(""), *map(look, notes))


def _accuracy(
    name: str, results: Sequence[MethodResult], published: Mapping[str, Published | None], look: Look
) -> RenderableType:
    paper = any(published.values())
    columns = ["method", "right", "accuracy", "95 % interval", "mean ± SD\nof rounds", *(["published"] * paper)]
    columns += ["wrong", "unpar-\nseable", "refused", "failed", "calls a\nright", "USD a\nright"]

    def row(one: MethodResult) -> list[str]:
        spread = f"{_share(one.mean)} ± {_share(one.sd)}" if one.sd is not None else _share(one.mean)
        cells = [one.method, f"{one.states['right']} of {one.accuracy.n}", _share(one.accuracy.value)]
        cells += [_between(one.accuracy), spread, *([_published(published[one.method])] * paper)]
        cells += [str(one.states[state]) for state in ("wrong", "unparseable", "refused", "failed")]
        usd = UNKNOWN if one.usd_a_right is None else f"{one.usd_a_right:,.4f}"
        return [*cells, number(one.calls_a_right), usd]

    return table(look, f"Right answers, {name}", columns, map(row, results))


def _compared(compared: Sequence[tuple[str, Against]], look: Look) -> RenderableType:
    columns = ["method", "against", "difference", "95 % interval", "items", "left out", "only it\nright"]
    columns += ["only the\nother", "McNemar", "Holm"]
    rows = [
        [method, one.reference, _signed(one.difference.value), _between(one.difference), str(one.difference.n)]
        + [str(one.left_out), str(one.only_first), str(one.only_second), p_value(one.test.p), p_value(one.p_holm)]
        for method, one in compared
    ]
    return table(look, "Methods compared, on items that both answered", columns, rows)


def _debates(debates: Sequence[MethodResult], look: Look) -> RenderableType:
    columns = ["method", "consensus", "95 % interval", "right with it", "right without"]
    rows = []
    for one in debates:
        assert one.consensus is not None
        shares = [f"{share.right} of {share.n}" for share in (one.agreed, one.not_agreed)]
        rows.append([one.method, _share(one.consensus.value), _between(one.consensus), *shares])
    return table(look, "Debates with and without consensus", columns, rows)


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4f}".replace("-", "−")


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.4f}".replace("-", "−")


def _between(estimate: Estimate) -> str:
    return UNKNOWN if estimate.low is None else f"{_share(estimate.low)} to {_share(estimate.high)}"


def _published(paper: Published | None) -> str:
    """A published accuracy, as a share like all others here."""
    return UNKNOWN if paper is None else f"{paper.value / 100:.3f} ± {paper.sd / 100:.3f}"


def data(result: MethodResult, paper: Published | None) -> dict[str, Any]:
    """One method's result for --json."""
    against = result.against
    return {
        "method": result.method,
        **dict(result.states.items()),
        "accuracy": as_data(result.accuracy),
        "rounds": list(result.rounds),
        "mean": result.mean,
        "sd": result.sd,
        "published": None if paper is None else {"mean": paper.value / 100, "sd": paper.sd / 100},
        "consensus": None if result.consensus is None else as_data(result.consensus),
        "with_consensus": _right(result.agreed),
        "without_consensus": _right(result.not_agreed),
        "calls": result.calls,
        "cost_usd": result.cost_usd,
        "calls_a_right": result.calls_a_right,
        "usd_a_right": result.usd_a_right,
        "against": None if against is None else {**asdict(against), "difference": as_data(against.difference)},
    }


def _right(share: Share) -> dict[str, int]:
    return {"right": share.right, "n": share.n}
