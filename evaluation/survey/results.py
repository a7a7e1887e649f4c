"""What a survey comes to: ratings by system, agreement of raters, and comparisons with the rater as the unit.

Ratings of one rater hang together, so tests and intervals use one mean a rater and system. The thesis seems to count
each rater and topic as a unit of its own; that is computed too, to stand beside its figures, and used for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from ...reports.tables import explained
from ...reports.words import count
from ...runs.folder.lines import DISCLAIMER
from ...state.errors import InputError
from ...state.plain_text import is_visible, quoted
from ..csv_rows import read_rows
from ..published.paper import published
from ..statistics.claims import Claim, family, paired
from ..statistics.effects import Alpha, krippendorff
from ..statistics.intervals import Estimate, Kind, Quartiles, mean_over_tasks, quartiles
from ..statistics.significance import Ranking, friedman
from ..tables import read_tables, remarks, write
from .key import Key, KeyItem, scale
from .making import ITEMS

PAPER = "thesis"
_FEW_RATERS = 10


@dataclass(frozen=True)
class SystemResult:
    """One system.

    Attributes:
        system: its name.
        mean: over the means of raters, with its interval; `n` raters.
        spread: of its single ratings.
        words: mean words of an utterance in its excerpts.
        published_words: the same in the thesis; None where it has no such system.
    """

    system: str
    mean: Estimate
    spread: Quartiles
    words: float
    published_words: int | None


@dataclass(frozen=True, kw_only=True)
class Compared(Claim):
    """Two systems compared over one kind of unit; nothing is adjusted for what only stands beside published figures.

    Attributes:
        a: mean of the first system over the units that have both.
        b: mean of the second.
    """

    a: float | None
    b: float | None


@dataclass(frozen=True)
class PairResult:
    """Two systems.

    Attributes:
        a: the first system.
        b: the second, from which the first differs.
        raters: compared over raters.
        as_published: compared over pairs of rater and topic, as the thesis seems to do; its p is not adjusted.
        published_p: of the thesis's test of these two; None where it has none.
    """

    a: str
    b: str
    raters: Compared
    as_published: Compared
    published_p: float | None


@dataclass(frozen=True)
class SurveyResult:
    """A survey's result.

    Attributes:
        key: of the survey.
        raters: how many there are.
        answers: of the raters.
        systems: one by one.
        ordinal: agreement over excerpts, with ratings as ranks.
        interval: the same, with ratings as distances.
        ranking: Friedman's test on the means of raters.
        pairs: of systems.
        notes: what a reader must know.
    """

    key: Key
    raters: int
    answers: Answers
    systems: Sequence[SystemResult]
    ordinal: Alpha
    interval: Alpha
    ranking: Ranking
    pairs: Sequence[PairResult]
    notes: Sequence[str]


Units = Mapping[tuple[str, ...], Mapping[str, float]]
"""The mean rating of each system by unit."""
_Part = Callable[[KeyItem], tuple[str, ...]]
"""To which part of the survey an item belongs, where a rater is more than one unit."""


def survey_result(key: Key, answers: Answers) -> SurveyResult:
    """Compute everything.

    Args:
        key: of the survey.
        answers: of the raters.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    items = {item.item: item for item in key.items}
    names = [system.name for system in key.systems]
    by_rater = _means(answers.ratings, items, lambda item: ())
    by_topic = _means(answers.ratings, items, lambda item: (str(item.topic),))
    rated: dict[str, list[float]] = {item: [] for item in items}
    for one in answers.ratings:
        rated[one.item].append(float(one.rating))
    rows = [[unit.get(name) for name in names] for unit in by_rater.values()]
    return SurveyResult(
        key=key,
        raters=len(answers.raters),
        answers=answers,
        systems=[_system(key, name, rated, [unit.get(name) for unit in by_rater.values()]) for name in names],
        ordinal=krippendorff(list(rated.values()), "ordinal"),
        interval=krippendorff(list(rated.values()), "interval"),
        ranking=friedman(rows),
        pairs=_pairs(names, by_rater, by_topic),
        notes=_notes(key, answers),
    )


def _means(ratings: Sequence[Rating], items: Mapping[str, KeyItem], part: _Part) -> Units:
    """The mean rating of each system by rater and part of the survey."""
    given: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for one in ratings:
        item = items[one.item]
        given.setdefault((one.rater, *part(item)), {}).setdefault(item.system, []).append(one.rating)
    return {unit: {system: fmean(found) for system, found in systems.items()} for unit, systems in given.items()}


def _system(key: Key, name: str, rated: Mapping[str, Sequence[float]], means: Sequence[float | None]) -> SystemResult:
    own = [item for item in key.items if item.system == name]
    return SystemResult(
        system=name,
        mean=mean_over_tasks(means, _rating_kind()),
        spread=quartiles([rating for item in own for rating in rated[item.item]]),
        words=sum(item.words for item in own) / sum(item.utterances for item in own),
        published_words=_published_words().get(name),
    )


def _pairs(names: Sequence[str], by_rater: Units, by_topic: Units) -> list[PairResult]:
    found = [
        PairResult(a, b, _compared(a, b, by_rater), _compared(a, b, by_topic), _published_p(a, b))
        for a, b in combinations(names, 2)
    ]
    (adjusted,) = family([pair.raters for pair in found])
    return [replace(pair, raters=raters) for pair, raters in zip(found, adjusted, strict=True)]


def _compared(a: str, b: str, units: Units) -> Compared:
    both = [(unit[a], unit[b]) if a in unit and b in unit else None for unit in units.values()]
    differences = [None if pair is None else pair[0] - pair[1] for pair in both]
    there = [pair for pair in both if pair is not None]
    return Compared(
        a=fmean(first for first, _ in there) if there else None,
        b=fmean(second for _, second in there) if there else None,
        **vars(paired(differences, _rating_kind())),
    )


def _rating_kind() -> Kind:
    return Kind(low=scale().least, high=scale().most)


def _notes(key: Key, answers: Answers) -> list[str]:
    notes = []
    wanted = len(answers.raters) * len(key.items)
    if missing := wanted - len(answers.ratings):
        notes.append(
            f"{missing:,} of {count(wanted, 'rating')} are missing; a rater's mean is over the ratings that are there."
        )
    if len(answers.raters) < _FEW_RATERS:
        notes.append(f"Only {count(len(answers.raters), 'rater')}: intervals are wide, and tests find little.")
    return notes


def _published_words() -> dict[str, int]:
    """Words of a message in the thesis, by what its systems are called here."""
    paper = published(PAPER)
    return {paper.systems[name].method: words for name, words in paper.people.words_a_message.items()}


def _published_p(a: str, b: str) -> float | None:
    """The p of the thesis's test of these two systems."""
    paper = published(PAPER)
    tested = paper.people.wilcoxon
    return tested.p if {a, b} == {paper.systems[name].method for name in (tested.first, tested.second)} else None


# Tables


CODEBOOK: Final = "codebook.md"
TABLES: Final = read_tables(__file__)
RATERS, AS_PUBLISHED = "rater", "rater and topic, as published"
"""Units of a comparison."""


def rows_of(result: SurveyResult) -> dict[str, list[Any]]:
    """The rows of all tables."""
    items = {item.item: item for item in result.key.items}
    topics = {topic.topic: topic for topic in result.key.topics}
    rows: dict[str, list[Any]] = {name: [] for name in TABLES}
    for rating in result.answers.ratings:
        item = items[rating.item]
        about = {"item": item, "topic": topics[item.topic], "words": round(item.words / item.utterances, 2)}
        rows["ratings"].append(TABLES["ratings"].row({}, rating=rating, **about))
    rows["summary"] = [TABLES["summary"].row(one, words=round(one.words, 2)) for one in result.systems]
    for pair in result.pairs:
        for unit, one in ((RATERS, pair.raters), (AS_PUBLISHED, pair.as_published)):
            note = remarks(one.difference, one.test)
            rows["comparisons"].append(TABLES["comparisons"].row(one, pair=pair, unit=unit, note=note))
    theirs = {"published": published(PAPER).people.krippendorff_alpha, "statistic": None, "p": None}
    for alpha in (result.ordinal, result.interval):
        measure = f"Krippendorff's α, {alpha.metric}"
        rows["agreement"].append(TABLES["agreement"].row(alpha, measure=measure, **theirs))
    ranking = result.ranking
    around = {"method": f"Friedman, {ranking.method}", "note": ranking.note}
    about = {"value": ranking.kendall_w, "units": ranking.n, "interval": around, "published": None}
    rows["agreement"].append(TABLES["agreement"].row(ranking, measure="Kendall's W", **about))
    for comment in result.answers.comments:
        rows["comments"].append(TABLES["comments"].row({}, comment=comment, item=items.get(comment.item)))
    return rows


def write_tables(result: SurveyResult, folder: Path) -> list[Path]:
    """Write the tables as CSV, and the codebook; each whole or not at all.

    Raises:
        InputError: they cannot be written.
    """
    rows = rows_of(result)
    try:
        written = [write(folder, name, rows[name], TABLES) for name in TABLES]
        (folder / CODEBOOK).write_text(_codebook(result, rows), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"the tables cannot be written: {error.strerror}", where=str(folder), remedy="Choose another with --out."
        ) from error
    return [*written, folder / CODEBOOK]


def _codebook(result: SurveyResult, rows: Mapping[str, Sequence[Any]]) -> str:
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
    for name, table in TABLES.items():
        parts += explained(name, f"{name}.csv", table.model, len(rows[name]))
    return "\n\n".join(parts) + "\n"


_NEEDED, _OPTIONAL = ("rater", "item", "rating"), ("comment",)
_SHOWN: Final = 60


@dataclass(frozen=True)
class Rating:
    """A rater's rating of an item."""

    rater: str
    item: str
    rating: int


@dataclass(frozen=True)
class Comment:
    """What a rater wrote: on an item, or as the answer to an open question."""

    rater: str
    item: str
    text: str


@dataclass(frozen=True)
class Answers:
    """What raters answered.

    Attributes:
        raters: their pseudonyms, in order of appearance.
        ratings: in order of the file.
        comments: in order of the file.
    """

    raters: Sequence[str]
    ratings: Sequence[Rating]
    comments: Sequence[Comment]


def check_items(folder: Path, key: Key) -> None:
    """Refuse a key that does not belong to the excerpts beside it; without excerpts there is nothing to compare.

    Raises:
        InputError: it does not, or the excerpts cannot be read.
    """
    path = folder / ITEMS
    if not path.exists():
        return
    rows = read_rows(path, ["item"], what="excerpts", remedy="Take the file from a backup.")
    if [row["item"] for _, row in rows] != [item.item for item in key.items]:
        raise InputError(
            f"the key is of another survey than {ITEMS}",
            where=str(folder),
            remedy="Put the key of this survey there, or give the folder of the survey that was answered.",
        )


def read_answers(path: Path, key: Key) -> Answers:
    """The answers in a table with the columns rater, item, rating and, if there are any, comment.

    An empty rating is one that a rater did not give. Open questions have answers in `comment` alone.

    Raises:
        InputError: the file cannot be read; or a line has no rater, one that seems to be a real name, an unknown item,
            one that this rater has rated before, or a rating that is not on the scale.
    """
    remedy = "Write one line for each rater and item: rater,item,rating,comment"
    rows = read_rows(path, _NEEDED, what="answers", remedy=remedy, optional=_OPTIONAL)
    items, questions = {item.item for item in key.items}, {question.id for question in scale().open}
    if rows and not any(row["item"] in items for _, row in rows):
        raise InputError(
            "these are answers to another survey: none of their items is in it",
            where=str(path),
            remedy="Give the folder of the survey that was answered.",
        )
    raters: dict[str, None] = {}
    ratings: list[Rating] = []
    comments: list[Comment] = []
    answered: dict[tuple[str, str], str] = {}
    for where, row in rows:
        rater, item = row["rater"], row["item"]
        _check_rater(rater, where)
        if item not in items | questions:
            raise InputError(
                f"there is no item {quoted(item, _SHOWN)} in this survey", where=where, remedy=f"See {ITEMS}."
            )
        if (rater, item) in answered:
            raise InputError(
                f"rater {quoted(rater, _SHOWN)} has answered item {item} before",
                where=where,
                remedy=f"Keep one of the two lines; the other is {answered[rater, item].rpartition(', ')[2]}.",
            )
        answered[rater, item] = where
        raters[rater] = None
        if row["rating"]:
            if item in questions:
                raise InputError(
                    f"{item} is an open question, which has no rating",
                    where=where,
                    remedy="Put the answer into the column comment.",
                )
            ratings.append(Rating(rater, item, _rating(row["rating"], where)))
        if is_visible(row.get("comment", "")):
            comments.append(Comment(rater, item, row["comment"]))
    if not ratings:
        raise InputError("there is no rating in it", where=str(path), remedy=remedy)
    return Answers(list(raters), ratings, comments)


def _check_rater(rater: str, where: str) -> None:
    if not is_visible(rater) or len(rater) > _SHOWN:
        what = "there is no rater" if not is_visible(rater) else f"the rater has more than {_SHOWN} characters"
        raise InputError(what, where=where, remedy="Give each rater a pseudonym, for example R01.")
    what = "an e-mail address" if "@" in rater else "a real name" if seems_a_name(rater) else ""
    if what:
        # The name itself is not repeated: errors are copied into reports.
        raise InputError(
            f"the rater looks like {what}",
            where=where,
            remedy="Give raters pseudonyms, for example R01; keep who is who elsewhere, or nowhere.",
        )


def seems_a_name(rater: str) -> bool:
    """Whether it is words of letters alone: two long ones ("Jana Nováková", "novak.jan"), or an initial and one."""
    words = re.split(r"[\s,.]+", rater.strip(" .,"))
    if len(words) < 2 or not all(re.sub("['’-]", "", word).isalpha() for word in words):
        return False
    return sum(len(word) > 1 for word in words) > 1 or "." in rater


def _rating(text: str, where: str) -> int:
    """A rating; "7.0" is 7, as some programs write it.

    Raises:
        InputError: it is no whole number of the scale.
    """
    asked = scale()
    try:
        value = Decimal(text.replace(",", "."))
        if asked.least <= value <= asked.most and value == int(value):
            return int(value)
    except InvalidOperation:  # no number; or one that cannot be compared
        pass
    raise InputError(
        f"{quoted(text, _SHOWN)} is no rating",
        where=where,
        remedy=f"Give a whole number from {asked.least} to {asked.most}, or leave it empty.",
    )
