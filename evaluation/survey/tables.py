"""The tables of a survey's result, one model a table, and their codebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from persimchat.evaluation.published.paper import published
from persimchat.evaluation.statistics.agreement import Alpha
from persimchat.evaluation.survey.results import PAPER, Compared, PairResult, SurveyResult
from persimchat.evaluation.survey.scale import scale
from persimchat.evaluation.tables import remarks
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.reports.codebook import explained
from persimchat.runs.reports.export_columns import column
from persimchat.runs.reports.export_writing import write_table
from persimchat.state.errors import InputError

CODEBOOK: Final = "codebook.md"
RATERS, AS_PUBLISHED = "rater", "rater and topic, as published"
"""Units of a comparison."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RatingRow(_Row):
    """One row per rating, with the system that made the excerpt."""

    rater: str = column("the rater's pseudonym")
    item: str = column("the excerpt's id")
    topic: int = column("the topic's number")
    about: str = column("the topic")
    task: str = column("the task of the conversation, which all systems have")
    label: str = column("what the excerpt was called under its topic")
    order: int = column("its place under its topic", "place")
    system: str = column("what made it")
    run: str = column("the id of its run")
    words: float = column("mean words of an utterance in it", "words")
    rating: int = column("the rating", "points")


class SummaryRow(_Row):
    """One row per system."""

    system: str = column("its name")
    raters: int = column("raters who rated it: the unit of analysis", "raters")
    mean: float | None = column("mean over the means of raters", "points")
    low: float | None = column("lower bound of its 95 % interval (t); empty if there is none", "points")
    high: float | None = column("upper bound of its 95 % interval (t); empty if there is none", "points")
    ratings: int = column("single ratings", "ratings")
    lower_quartile: float | None = column("lower quartile of single ratings", "points")
    median: float | None = column("median of single ratings", "points")
    upper_quartile: float | None = column("upper quartile of single ratings", "points")
    words: float = column("mean words of an utterance in its excerpts", "words")
    published_words: int | None = column("the same as the thesis says; empty if it has no such system", "words")


class ComparisonRow(_Row):
    """Two rows per pair of systems: over raters, which counts, and over rater and topic, as the thesis seems to do."""

    a: str = column("the first system")
    b: str = column("the second system")
    unit: str = column(f"what counts as one: {RATERS}; or {AS_PUBLISHED}")
    n: int = column("units that rated both", "units")
    left_out: int = column("units that lack one of the two", "units")
    mean_a: float | None = column("mean of the first system", "points")
    mean_b: float | None = column("mean of the second system", "points")
    difference: float | None = column("mean of a minus b over units", "points")
    low: float | None = column("lower bound of its 95 % interval (t); empty if there is none", "points")
    high: float | None = column("upper bound of its 95 % interval (t); empty if there is none", "points")
    effect: float | None = column("rank-biserial correlation, −1 to 1; empty if there is no difference at all")
    test: str = column("the test")
    method: str = column("how p is computed")
    p: float | None = column("two-sided p")
    p_holm: float | None = column("p adjusted by Holm for all pairs; empty for the unit that is not used")
    published_p: float | None = column("p of the thesis's test of these systems; empty if it has none")
    note: str | None = column("what a reader must know of interval and test")


class AgreementRow(_Row):
    """One row per measure of how far raters agree."""

    measure: str = column("Krippendorff's α of ratings as ranks or as distances, or Kendall's W with Friedman's test")
    value: float | None = column("its value; 1 is full agreement")
    low: float | None = column("lower bound of its 95 % interval, by resampling excerpts; empty if there is none")
    high: float | None = column("upper bound of its 95 % interval, by resampling excerpts; empty if there is none")
    statistic: float | None = column("Friedman's χ²; empty for α")
    p: float | None = column("Friedman's p; empty for α")
    n: int = column("excerpts with two ratings or more; for Kendall's W, raters who rated all systems")
    left_out: int = column("excerpts with fewer ratings; for Kendall's W, raters who lack a system")
    method: str | None = column("how interval or p is computed")
    published: float | None = column("the thesis's α; it does not say of which kind")
    note: str | None = column("what a reader must know")


class CommentRow(_Row):
    """One row per comment."""

    rater: str = column("the rater's pseudonym")
    item: str = column("the excerpt's id, or the open question's")
    system: str | None = column("what made the excerpt; empty for an open question")
    topic: int | None = column("the topic's number; empty for an open question")
    comment: str = column("the comment as it is")


MODELS: Final[Mapping[str, type[_Row]]] = {
    "ratings": RatingRow,
    "summary": SummaryRow,
    "comparisons": ComparisonRow,
    "agreement": AgreementRow,
    "comments": CommentRow,
}
"""The tables."""


def rows_of(result: SurveyResult) -> dict[str, list[_Row]]:
    """The rows of all tables."""
    return {
        "ratings": _ratings(result),
        "summary": _summary(result),
        "comparisons": [
            row
            for pair in result.pairs
            for row in (_compared(pair, RATERS, pair.raters), _compared(pair, AS_PUBLISHED, pair.as_published))
        ],
        "agreement": _agreement(result),
        "comments": _comments(result),
    }


def _ratings(result: SurveyResult) -> list[_Row]:
    items = {item.item: item for item in result.key.items}
    topics = {topic.topic: topic for topic in result.key.topics}
    rows: list[_Row] = []
    for one in result.answers.ratings:
        item = items[one.item]
        topic = topics[item.topic]
        rows.append(
            RatingRow(
                rater=one.rater,
                item=one.item,
                topic=item.topic,
                about=topic.about,
                task=topic.task,
                label=item.label,
                order=item.order,
                system=item.system,
                run=item.run,
                words=round(item.words / item.utterances, 2),
                rating=one.rating,
            )
        )
    return rows


def _summary(result: SurveyResult) -> list[_Row]:
    return [
        SummaryRow(
            system=one.system,
            raters=one.mean.n,
            mean=one.mean.value,
            low=one.mean.low,
            high=one.mean.high,
            ratings=one.spread.n,
            lower_quartile=one.spread.low,
            median=one.spread.median,
            upper_quartile=one.spread.high,
            words=round(one.words, 2),
            published_words=one.published_words,
        )
        for one in result.systems
    ]


def _compared(pair: PairResult, unit: str, one: Compared) -> ComparisonRow:
    return ComparisonRow(
        a=pair.a,
        b=pair.b,
        unit=unit,
        n=one.difference.n,
        left_out=one.difference.dropped,
        mean_a=one.a,
        mean_b=one.b,
        difference=one.difference.value,
        low=one.difference.low,
        high=one.difference.high,
        effect=one.effect,
        test=one.test.test,
        method=one.test.method,
        p=one.test.p,
        p_holm=one.p_holm,
        published_p=pair.published_p,
        note=remarks(one.difference, one.test),
    )


def _agreement(result: SurveyResult) -> list[_Row]:
    ranking = result.ranking
    return [
        _alpha(result.ordinal),
        _alpha(result.interval),
        AgreementRow(
            measure="Kendall's W",
            value=ranking.kendall_w,
            statistic=ranking.statistic,
            p=ranking.p,
            n=ranking.n,
            left_out=ranking.dropped,
            method=f"Friedman, {ranking.method}",
            note=ranking.note or None,
        ),
    ]


def _alpha(alpha: Alpha) -> AgreementRow:
    around = alpha.interval
    return AgreementRow(
        measure=f"Krippendorff's α, {alpha.metric}",
        value=alpha.value,
        low=around.low if around else None,
        high=around.high if around else None,
        n=alpha.units,
        left_out=alpha.dropped,
        method=around.method if around else None,
        published=published(PAPER).people.krippendorff_alpha,
        note=(around.note if around else "") or None,
    )


def _comments(result: SurveyResult) -> list[_Row]:
    items = {item.item: item for item in result.key.items}
    rows: list[_Row] = []
    for one in result.answers.comments:
        item = items.get(one.item)
        about = {"system": item.system, "topic": item.topic} if item else {}
        rows.append(CommentRow.model_validate({"rater": one.rater, "item": one.item, "comment": one.text, **about}))
    return rows


def write_tables(result: SurveyResult, folder: Path) -> list[Path]:
    """Write the tables as CSV, and the codebook; each whole or not at all.

    Raises:
        InputError: they cannot be written.
    """
    rows = rows_of(result)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, model in MODELS.items():
            write_table(folder / f"{name}.csv", model, rows[name])
        (folder / CODEBOOK).write_text(_codebook(result, rows), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"the tables cannot be written: {error.strerror}", where=str(folder), remedy="Choose another with --out."
        ) from error
    return [folder / f"{name}.csv" for name in MODELS] + [folder / CODEBOOK]


def _codebook(result: SurveyResult, rows: Mapping[str, Sequence[_Row]]) -> str:
    asked = scale()
    anchors = (f"- {anchor.from_}–{anchor.to}, {anchor.title}: {anchor.text}" for anchor in asked.anchors)
    parts = [
        "# Codebook of a survey",
        f"Survey {result.key.survey}, made with PerSimChat {version('persimchat')}. Comma-separated values, UTF-8, one "
        "heading line. An empty cell means: not known, or does not apply. It is never 0. `item` joins the tables.",
        f"> {DISCLAIMER}",
        "Ratings and comments of people are personal data, also under pseudonyms: share them only as they agreed to.",
        f"## The item\n\n{asked.asked} {asked.hint}",
        "\n".join(anchors),
        "## Open questions",
        "\n".join(f"- `{question.id}`: {question.text}" for question in asked.open),
    ]
    for name, model in MODELS.items():
        parts += explained(name, f"{name}.csv", model, len(rows[name]))
    return "\n\n".join(parts) + "\n"
