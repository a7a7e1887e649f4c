"""What a survey comes to: ratings by system, agreement of raters, and comparisons with the rater as the unit.

Ratings of one rater hang together, so tests and intervals use one mean a rater and system. The thesis seems to count
each rater and topic as a unit of its own; that is computed too, to stand beside its figures, and used for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from persimchat.evaluation.published.paper import published
from persimchat.evaluation.statistics.agreement import Alpha, Metric, krippendorff_with_interval
from persimchat.evaluation.statistics.effects import rank_biserial
from persimchat.evaluation.statistics.intervals import RESAMPLES, Estimate, mean_over_tasks
from persimchat.evaluation.statistics.significance import Ranking, Significance, friedman, holm, wilcoxon
from persimchat.evaluation.statistics.spread import Quartiles, quartiles
from persimchat.evaluation.survey.key import Key, KeyItem
from persimchat.evaluation.survey.reading import Answers, Rating
from persimchat.runs.reports.words import count

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


@dataclass(frozen=True)
class Compared:
    """Two systems compared over one kind of unit.

    Attributes:
        a: mean of the first system over the units that have both.
        b: mean of the second.
        difference: mean of first minus second, with its interval; `n` units, `dropped` for lack of one of the two.
        effect: the rank-biserial correlation; None where there is no difference at all.
        test: Wilcoxon's signed-rank test.
        p_holm: its p, adjusted for all pairs; None where nothing is adjusted.
    """

    a: float | None
    b: float | None
    difference: Estimate
    effect: float | None
    test: Significance
    p_holm: float | None = None


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


def survey_result(key: Key, answers: Answers, *, resamples: int = RESAMPLES) -> SurveyResult:
    """Compute everything.

    Args:
        key: of the survey.
        answers: of the raters.
        resamples: of the intervals of α; their seed is 0.

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
        ordinal=_alpha(rated, "ordinal", resamples),
        interval=_alpha(rated, "interval", resamples),
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


def _alpha(rated: Mapping[str, Sequence[float]], metric: Metric, resamples: int) -> Alpha:
    return krippendorff_with_interval(list(rated.values()), metric, resamples=resamples)


def _system(key: Key, name: str, rated: Mapping[str, Sequence[float]], means: Sequence[float | None]) -> SystemResult:
    own = [item for item in key.items if item.system == name]
    return SystemResult(
        system=name,
        mean=mean_over_tasks(means),
        spread=quartiles([rating for item in own for rating in rated[item.item]]),
        words=sum(item.words for item in own) / sum(item.utterances for item in own),
        published_words=_published_words().get(name),
    )


def _pairs(names: Sequence[str], by_rater: Units, by_topic: Units) -> list[PairResult]:
    found = [
        PairResult(a, b, _compared(a, b, by_rater), _compared(a, b, by_topic), _published_p(a, b))
        for a, b in combinations(names, 2)
    ]
    adjusted = holm([pair.raters.test.p for pair in found])
    return [replace(pair, raters=replace(pair.raters, p_holm=p)) for pair, p in zip(found, adjusted, strict=True)]


def _compared(a: str, b: str, units: Units) -> Compared:
    both = [(unit[a], unit[b]) if a in unit and b in unit else None for unit in units.values()]
    differences = [None if pair is None else pair[0] - pair[1] for pair in both]
    there = [pair for pair in both if pair is not None]
    return Compared(
        a=fmean(first for first, _ in there) if there else None,
        b=fmean(second for _, second in there) if there else None,
        difference=mean_over_tasks(differences),
        effect=rank_biserial(differences).value,
        test=wilcoxon(differences),
    )


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
