"""What the commands of studies print: benchmarks, diversity, surveys of people, measures of companions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Group, RenderableType, group
from rich.table import Table
from rich.text import Text

from ...evaluation.benchmarks.scoring import Against, MethodResult, Share
from ...evaluation.companion.latency import at_rank, ratio
from ...evaluation.companion.measuring import Plan
from ...evaluation.companion.rows import Row, summed_up
from ...evaluation.diversity.cases import Chosen, apart_in_words
from ...evaluation.diversity.measuring import CASE, GAIN, MEASURES, NO_OTHERS, POSITION, UNEQUAL, Diversity
from ...evaluation.diversity.texts import ORDERS
from ...evaluation.published.paper import Published, published
from ...evaluation.statistics.effects import Alpha
from ...evaluation.statistics.intervals import Estimate
from ...evaluation.survey.key import scale
from ...evaluation.survey.results import PAPER, Compared, PairResult, SurveyResult, SystemResult
from ...experiments.benchmark import Part
from ...experiments.report_diversity import BESIDE, CHECKED, CUT, ITSELF, LEFT_OUT, SIDE_BY_SIDE
from ...reports.words import UNKNOWN, cost, count, whole
from .evaluations import as_data, between, number, p_value
from .tables import Look, facts, heading, table

# Benchmarks


def still_to_ask(wanted: Sequence[Part], look: Look, *, debates: bool) -> RenderableType:
    """What each method has still to ask."""
    columns = ["method", "answers", "there", "calls, at most" if debates else "calls", "tokens in", "out", "cost"]
    rows = []
    for one in wanted:
        expected = one.expected
        tokens = [whole(expected.input_tokens), whole(expected.output_tokens)]
        rows.append([one.method, str(one.items), str(one.done), whole(expected.calls), *tokens, cost(expected)])
    return table(look, "Still to ask", columns, rows)


def benchmark(
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
        shown += [Text(""), _with_consensus(debates, look)]
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
        cells += [_shares(one.accuracy), spread, *([_published(published[one.method])] * paper)]
        cells += [str(one.states[state]) for state in ("wrong", "unparseable", "refused", "failed")]
        usd = UNKNOWN if one.usd_a_right is None else f"{one.usd_a_right:,.4f}"
        return [*cells, number(one.calls_a_right), usd]

    return table(look, f"Right answers, {name}", columns, map(row, results))


def _compared(compared: Sequence[tuple[str, Against]], look: Look) -> RenderableType:
    columns = ["method", "against", "difference", "95 % interval", "items", "left out", "only it\nright"]
    columns += ["only the\nother", "McNemar", "Holm"]
    rows = [
        [method, one.reference, _signed(one.difference.value), _shares(one.difference), str(one.difference.n)]
        + [str(one.left_out), str(one.only_first), str(one.only_second), p_value(one.test.p), p_value(one.p_holm)]
        for method, one in compared
    ]
    return table(look, "Methods compared, on items that both answered", columns, rows)


def _with_consensus(debates: Sequence[MethodResult], look: Look) -> RenderableType:
    columns = ["method", "consensus", "95 % interval", "right with it", "right without"]
    rows = []
    for one in debates:
        assert one.consensus is not None
        shares = [f"{share.right} of {share.n}" for share in (one.agreed, one.not_agreed)]
        rows.append([one.method, _share(one.consensus.value), _shares(one.consensus), *shares])
    return table(look, "Debates with and without consensus", columns, rows)


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4f}".replace("-", "−")


def _signed(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.4f}".replace("-", "−")


def _shares(estimate: Estimate) -> str:
    return UNKNOWN if estimate.low is None else f"{_share(estimate.low)} to {_share(estimate.high)}"


def _published(paper: Published | None) -> str:
    """A published accuracy, as a share like all others here."""
    return UNKNOWN if paper is None else f"{paper.value / 100:.3f} ± {paper.sd / 100:.3f}"


def benchmark_data(result: MethodResult, paper: Published | None) -> dict[str, Any]:
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


# Diversity


HEADINGS: Final = {
    "sim": "sim",
    **{f"dist_{n}": f"dist-{n}" for n in ORDERS},
    **{f"dist_{n}_cut": f"dist-{n}\n(cut)" for n in ORDERS},
    "words": "words an\nutterance",
    "repeated_end": "repeated\nend",
    "words_left_out": "share of\nwords left out",
    GAIN: "gain in\ndist-3",
    "inconsistency": "inconsistency\n1–10",
    "inconsistency_first": "of first\nwordings",
    "max_sim": "max\nsimilarity",
    **{f"exclusive_{n}": f"exclusive\n{n}-grams" for n in ORDERS},
}
_BESIDE: Final = "Beside the reference"
_TABLES: Final = (
    ("Each setting by itself", SIDE_BY_SIDE),
    ("Every dialogue cut to the words of its case's shortest", CUT),
    ("What pruning left out, and what it brought", LEFT_OUT),
    ("Contradictions of what was left out", CHECKED),
    (_BESIDE, BESIDE),
)
_READ: Final = (
    "Lower sim and higher dist-N mean more diverse dialogues. dist-N falls as texts grow: what vanishes when they are "
    "cut is length."
)
_INTERVALS: Final = (
    "The intervals are of means over cases; values that do not vary have none. p is Wilcoxon's, adjusted by Holm for "
    "all differences here: up to 0.05, one is shown."
)


def _fine(value: float | None) -> str:
    """A number with three decimals."""
    return UNKNOWN if value is None else f"{value:,.3f}".replace("-", "−")


@group()
def diversity(chosen: Chosen, found: Diversity, look: Look) -> Iterator[RenderableType]:
    """All tables, what was left out, and what the figures mean."""
    cases, settings = len(found.cases.sets), [one.label for one in found.cases.settings]
    dialogues = sum(len(each) for by_setting in found.cases.sets.values() for each in by_setting.values())
    head = f"{count(dialogues, 'dialogue')} in {count(cases, 'case')}, {count(len(settings), 'setting')}"
    yield look(f"{head}. Embedding for sim: {found.embedding}.")
    yield Text("")
    for title, names in _TABLES:
        taken = [name for name in names if name in found.measures]
        rows = list(_means(found, settings, taken))
        if rows:
            beside = ["reference"] * (title == _BESIDE)
            columns = ["setting", "cases", *(HEADINGS[name] for name in taken), *beside]
            if title == _BESIDE:
                rows = [[*row, found.cases.reference(row[0]) or ITSELF] for row in rows]
            yield table(look, title, columns, rows)
            yield Text("")
    if found.options.positions:
        yield from _positions(found, settings, look)
    intervals = list(_intervals(found))
    if intervals:
        columns = ["setting", "measure", "mean", "95 % interval", "cases", "reference", "difference", "95 % interval"]
        yield table(
            look,
            "Means over cases, and differences from the reference",
            [*columns, "in both", "p (Holm)", "shown"],
            intervals,
        )
        yield Text("")
        yield look(_INTERVALS)
    yield look(_READ)
    yield from map(look, _notes(chosen, found))


def _means(found: Diversity, settings: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    for setting in settings:
        means = [found.mean(setting, name) for name in names]
        known = [one for one in means if one is not None]
        if known:
            cases = max(one.estimate.n for one in known)
            yield [setting, str(cases), *(_fine(one.estimate.value if one else None) for one in means)]


def _positions(found: Diversity, settings: Sequence[str], look: Look) -> Iterator[RenderableType]:
    names = ("sim", *(f"dist_{n}" for n in ORDERS))
    rows = []
    for setting in settings:
        places = dict.fromkeys(one.who for one in found.means if one.setting == setting and one.unit == POSITION)
        for who in sorted(places, key=int):
            means = [found.mean(setting, name, who) for name in names]
            rows.append([setting, who, *(_fine(one.estimate.value if one else None) for one in means)])
    if rows:
        yield table(look, "By position in the dialogue", ["setting", "utterance", *(HEADINGS[n] for n in names)], rows)
        yield Text("")


def _intervals(found: Diversity) -> Iterator[list[str]]:
    for one in found.means:
        if one.unit == CASE and one.estimate.low is not None:
            away = [one.against or UNKNOWN, *[UNKNOWN] * 5]
            if one.claim is not None:
                apart, p = one.claim.difference, p_value(one.claim.p_holm)
                away[1:] = [_fine(apart.value), _finely(apart), str(apart.n), p, one.claim.shown or "not shown"]
            own = [_fine(one.estimate.value), _finely(one.estimate), str(one.estimate.n)]
            yield [one.setting, one.measure, *own, *away]


def _finely(one: Estimate) -> str:
    return UNKNOWN if one.low is None else f"{_fine(one.low)} to {_fine(one.high)}"


def _notes(chosen: Chosen, found: Diversity) -> Iterator[str]:
    if chosen.left_out:
        yield f"Left out: {', '.join(f'{run} ({why})' for run, why in chosen.left_out.items())}."
    yield from apart_in_words(chosen.apart)
    yield from found.notes
    missing = dict.fromkeys(
        f"{one.case}, {one.setting}: {one.measure} is missing ({one.missing})."
        for one in found.values
        if one.value is None
        and one.unit == CASE
        and one.missing not in (UNEQUAL, NO_OTHERS)
        and one.measure in MEASURES
    )
    yield from missing


# Surveys


_UNIT: Final = (
    "The unit is the rater: means, intervals, tests and effects are over one mean a rater and system. Median and "
    "quartiles are of single ratings. Rows with the unit rater × topic show what the thesis seems to have done; "
    "nothing follows from them, because the ratings of one rater hang together."
)


def survey(found: SurveyResult, look: Look) -> RenderableType:
    """Everything that a survey has found."""
    blank = Text("")
    parts: list[RenderableType] = [_systems(found, look), blank, facts(look, _agreeing(found)), blank]
    parts += [_comparisons(found, look), blank]
    if found.answers.comments:
        parts += [heading(look, "Comments"), _comments(found, look), blank]
    return Group(*parts, *(look(note) for note in (_UNIT, _paper(), *found.notes)))


def _systems(found: SurveyResult, look: Look) -> Table:
    asked = scale()
    known = any(one.published_words is not None for one in found.systems)
    columns = ["system", "mean", "95 % interval", "raters", "median", "quartiles", "ratings", "words an\nutterance"]

    def row(one: SystemResult) -> list[str]:
        spread = one.spread
        quartiles = UNKNOWN if spread.low is None else f"{number(spread.low)} to {number(spread.high)}"
        cells = [one.system, number(one.mean.value), between(one.mean), str(one.mean.n), number(spread.median)]
        cells += [quartiles, str(spread.n), number(one.words)]
        return cells + [UNKNOWN if one.published_words is None else str(one.published_words)] * known

    title = f"Ratings, {asked.least} to {asked.most}, of {count(found.raters, 'rater')}"
    return table(look, title, [*columns, *["words\npublished"] * known], map(row, found.systems))


def _agreeing(found: SurveyResult) -> Iterable[tuple[str, str]]:
    ordinal, ranking = found.ordinal, found.ranking
    units = f"{count(ordinal.units, 'excerpt')} with two ratings or more, {ordinal.dropped} left out"
    yield "α, ratings as ranks", f"{_alpha(ordinal)}; {units}"
    yield "α, ratings as distances", _alpha(found.interval)
    yield "α published", f"{number(published(PAPER).people.krippendorff_alpha)}; it is not said of which kind"
    chi = f"χ² {number(ranking.statistic)}, " if ranking.statistic is not None else ""
    raters = f"{count(ranking.n, 'rater')}, {ranking.dropped} left out who lack a system"
    note = f"; {ranking.note}" if ranking.note else ""
    yield "Friedman", f"{chi}{p_value(ranking.p)}, Kendall's W {number(ranking.kendall_w)} ({raters}){note}"


def _alpha(alpha: Alpha) -> str:
    around = alpha.interval
    if around is None or around.low is None:
        return f"{number(alpha.value)} ({around.note if around else 'no interval'})"
    return f"{number(alpha.value)} (95 % interval {between(around)})"


def _comparisons(found: SurveyResult, look: Look) -> Table:
    known = any(pair.published_p is not None for pair in found.pairs)
    columns = ["compared", "unit", "n", "left\nout", "difference", "95 % interval", "effect r", "p", "p (Holm)"]

    def row(pair: PairResult, unit: str, one: Compared, published_p: float | None) -> list[str]:
        cells = [f"{pair.a} − {pair.b}", unit, str(one.difference.n), str(one.difference.dropped)]
        cells += [number(one.difference.value), between(one.difference), number(one.effect)]
        cells += [p_value(one.test.p), p_value(one.p_holm)]
        return cells + [p_value(published_p)] * known

    rows = []
    for pair in found.pairs:
        rows += [row(pair, "rater", pair.raters, None)]
        rows += [row(pair, "rater × topic (as published, not used)", pair.as_published, pair.published_p)]
    return table(look, "Comparisons", [*columns, *["p\npublished"] * known], rows)


def _comments(found: SurveyResult, look: Look) -> Table:
    systems = {item.item: item.system for item in found.key.items}
    open_questions = {question.id: question.text for question in scale().open}
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", overflow="fold")
    grid.add_column(style="dim", overflow="fold")
    grid.add_column(overflow="fold")
    for one in found.answers.comments:
        about = f"{one.item}, {systems[one.item]}" if one.item in systems else open_questions[one.item]
        grid.add_row(look(one.rater), look(about), look(one.text))
    return grid


def _paper() -> str:
    paper = published(PAPER)
    people = paper.people
    differs = "other topics, models, raters and wording: no figure is expected to be the same"
    return (
        f"Published: {paper.source}, section {people.section}, {people.raters} raters, {people.topics} topics, "
        f"{len(people.systems)} systems, the first {people.messages} messages; {people.prefer_short.count} of "
        f"{people.raters} preferred short messages. It had {differs}."
    )


# Companions


_BY_UNIT: Final = ("accepted_at_first", "accepted_at_second")
"""Measures that are shown for each module."""
_ABOUT: Final = (
    "Shares are between 0 and 1, with Clopper and Pearson's interval; means have Student's. The unit is the question, "
    "answer or course. No figure says how a person would judge the talk."
)


def companion_data(plan: Plan, rows: Sequence[Row]) -> dict[str, Any]:
    """The same for `--json`, with every row."""
    measures = [{"run": group, "measure": name, **asdict(summed_up(own, name))} for group, name, own in _groups(rows)]
    timed = {"latency": {"ratio": ratio(rows), "ratio_p95": ratio(rows, 0.95)}} if "latency" in plan.what else {}
    return {"measures": measures, **timed, "rows": [asdict(row) for row in rows]}


@group()
def companion(rows: Sequence[Row], look: Look) -> Iterator[RenderableType]:
    """The measures, by number of talks where these differ."""
    plain = [(group, name, own) for group, name, own in _groups(rows) if group != "latency"]
    if plain:
        estimates = [(group, name, summed_up(own, name)) for group, name, own in plain]
        cells = ([group, name, number(one.value), between(one), str(one.n)] for group, name, one in estimates)
        yield table(look, "Measures", ["of", "measure", "value", "95 % interval", "n"], cells)
        yield look(_ABOUT)
    timed = [row for row in rows if row.run == "latency"]
    if timed:
        if plain:
            yield Text("")
        names = dict.fromkeys(row.measure for row in timed)
        found = ([name, _whole(at_rank(timed, name, 0.5)), _whole(at_rank(timed, name, 0.95))] for name in names)
        columns = ["measure", "median", "95 of 100 below"]
        yield table(look, "Latency, milliseconds", columns, found)
        yield look(
            f"First words through the companion take {number(ratio(timed))} times as long as those of the same "
            f"requests sent bare (medians); {number(ratio(timed, 0.95))} times at 95 of 100."
        )


def _groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """Measures with their rows: recall by its number of talks, answers by module."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.measure == "trust":
            continue
        study, _, rest = row.run.partition("-")
        group = f"{study} {rest.partition('-')[0]}" if study == "recall" else study
        if row.measure in _BY_UNIT:
            group = row.unit
        elif row.run.startswith("trust") and not row.unit.startswith("answer"):
            group = f"trust {row.unit}"
        by.setdefault((group, row.measure), []).append(row)
    for (group, name), own in by.items():
        yield group, name, own


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"
