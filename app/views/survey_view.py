"""What `persimchat survey read` prints: ratings by system, agreement, comparisons, and what raters wrote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from persimchat.app.views.evaluate_view import between, number, p_value
from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.published.paper import published
from persimchat.evaluation.statistics.agreement import Alpha
from persimchat.evaluation.survey.results import PAPER, Compared, PairResult, SurveyResult, SystemResult
from persimchat.evaluation.survey.scale import scale
from persimchat.runs.reports.words import UNKNOWN, count

_UNIT: Final = (
    "The unit is the rater: means, intervals, tests and effects are over one mean a rater and system. Median and "
    "quartiles are of single ratings. Rows with the unit rater × topic show what the thesis seems to have done; "
    "nothing follows from them, because the ratings of one rater hang together."
)


def result(found: SurveyResult, look: Look) -> RenderableType:
    """Everything that a survey has found."""
    blank = Text("")
    parts: list[RenderableType] = [_systems(found, look), blank, _agreement(found, look), blank]
    parts += [_comparisons(found, look), blank]
    if found.answers.comments:
        parts += [Text.assemble(look("Comments"), style="bold"), _comments(found, look), blank]
    return Group(*parts, *(look(note) for note in (_UNIT, _published(), *found.notes)))


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


def _agreement(found: SurveyResult, look: Look) -> Table:
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for label, words in _facts(found):
        facts.add_row(look(label), look(words))
    return facts


def _facts(found: SurveyResult) -> Iterable[tuple[str, str]]:
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


def _published() -> str:
    paper = published(PAPER)
    people = paper.people
    differs = "other topics, models, raters and wording: no figure is expected to be the same"
    return (
        f"Published: {paper.source}, section {people.section}, {people.raters} raters, {people.topics} topics, "
        f"{len(people.systems)} systems, the first {people.messages} messages; {people.prefer_short.count} of "
        f"{people.raters} preferred short messages. It had {differs}."
    )
