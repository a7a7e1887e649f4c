"""Answers of simulated people to a poll, beside those of real people to the same question.

Both are distributions over the poll's answers. Every distance stands beside its floor: the distance that samples of the
simulated size have from people's shares by chance. There is no overall score, for likeness on one question is no
likeness; and a small distance in a small sample is no evidence of likeness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from ..runs.folder.answers import PollAnswer
from ..state.errors import InputError
from ..state.plain_text import quoted
from ..state.poll import Poll
from .csv_rows import Row, read_rows
from .statistics import distributions
from .statistics.distributions import DRAWS, Distance, Floor
from .statistics.effects import Effect, spearman, variance_ratio
from .statistics.intervals import FEWEST, LEVEL, Estimate, known, resampled

_SHOWN: Final = 60
_NEAR: Final = 0.01
"""How far the sum of shares may be from 1; they are scaled."""
_FORM: Final = "Write option and count, or option, share and n; question and group are optional."
_OPTIONAL: Final = ("count", "share", "n", "question", "group")
_DISTANCES: Final[Mapping[str, Distance]] = {
    "total variation": distributions.total_variation,
    "Jensen-Shannon": distributions.jensen_shannon,
    "Wasserstein": distributions.wasserstein,
}


@dataclass(frozen=True)
class People:
    """What people answered to a question.

    Attributes:
        poll: the question.
        group: of the people; empty for all.
        shares: by answer; they sum to 1.
        n: how many people; None if that is not known.
        scaled: whether the shares were scaled, because they did not sum to 1 exactly.
    """

    poll: Poll
    group: str
    shares: dict[str, float]
    n: int | None
    scaled: bool = False


def read_people(path: Path, polls: Sequence[Poll]) -> list[People]:
    """What people answered, by question and group: a CSV file with `option` and `count`, or `option`, `share` and `n`.

    Args:
        path: the file; its column `question` names polls, and may be missing if there is only one.
        polls: the polls that are compared.

    Raises:
        InputError: the file cannot be read, or a line is wrong; it is named.
    """
    rows = read_rows(path, ["option"], what="answers of people", remedy=_FORM, optional=_OPTIONAL)
    if not rows:
        raise InputError("there are no answers of people", where=str(path), remedy=_FORM)
    columns = set(rows[0][1])
    if len(columns & {"count", "share"}) != 1:
        raise InputError("either the column count or the column share is needed", where=f"{path}, line 1", remedy=_FORM)
    by_id = {poll.id: poll for poll in polls}
    grouped: dict[tuple[str, str], dict[str, float]] = {}
    sizes: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str], str] = {}
    for where, row in rows:
        if row.get("question", "") == "" and len(polls) > 1:
            raise InputError("no question is named", where=where, remedy=f"Name one of {', '.join(by_id)}.")
        poll = by_id.get(row.get("question") or polls[0].id)
        if poll is None:
            continue
        of = (poll.id, row.get("group", ""))
        answer, share = _answer(row["option"], poll, where), _share(row, where)
        if answer in grouped.setdefault(of, {}):
            raise InputError(f"the answer {quoted(answer, _SHOWN)} is given twice", where=where, remedy="Keep one.")
        grouped[of][answer] = share
        places.setdefault(of, where)
        if row.get("n"):
            size = _whole(row["n"], "n", where)
            if sizes.setdefault(of, size) != size:
                raise InputError(f"n is {size}, and was {sizes[of]}", where=where, remedy="Give one n a question.")
    missing = next((name for name in by_id if not any(of[0] == name for of in grouped)), None)
    if missing is not None:
        raise InputError(f"no line is about the poll {missing}", where=str(path), remedy="Check the column question.")
    counted = "count" in columns
    return [_people(by_id[of[0]], of[1], own, sizes.get(of), places[of], counted) for of, own in grouped.items()]


def _answer(text: str, poll: Poll, where: str) -> str:
    try:
        return poll.parsed(text)
    except ValueError as error:
        raise InputError(str(error), where=where, remedy=f"Answers of the poll are {poll.described}.") from None


def _share(row: Row, where: str) -> float:
    """A row's count or share."""
    if "count" in row:
        return _whole(row["count"], "count", where)
    try:
        share = float(row["share"])
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"the share {quoted(row['share'], _SHOWN)} is not 0 to 1", where=where, remedy=_FORM)
    return share


def _whole(text: str, name: str, where: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InputError(f"the {name} {quoted(text, _SHOWN)} is no whole number, 0 or more", where=where, remedy=_FORM)
    return int(text)


def _people(poll: Poll, group: str, given: dict[str, float], n: int | None, where: str, counted: bool) -> People:
    total = sum(given.values())
    if total == 0:
        raise InputError("nobody answered", where=where, remedy="Leave the question out.")
    if not counted and abs(total - 1) > _NEAR:
        raise InputError(f"the shares sum to {total:g}, not to 1", where=where, remedy="Give all answers and shares.")
    scaled = not counted and abs(total - 1) > 1e-9
    shares = {answer: value / total for answer, value in given.items()}
    return People(poll, group, shares, int(total) if counted else n, scaled)


@dataclass(frozen=True)
class Apart:
    """How far simulated answers are from people's, by one measure.

    Attributes:
        name: of the measure.
        estimate: the distance, 0–1, with its interval.
        floor: what samples of this size have by chance; None where there is none.
    """

    name: str
    estimate: Estimate
    floor: Floor | None

    @property
    def hidden(self) -> bool:
        """Whether the distance is not distinguishable from chance at this size."""
        return self.floor is not None and self.estimate.value is not None and self.floor.hides(self.estimate.value)


@dataclass(frozen=True)
class Likeness:
    """Simulated answers beside people's, for one question and group.

    Attributes:
        people: what people answered.
        options: the answers, in order.
        counts: how often each was given by simulated people.
        human: people's shares.
        n: simulated answers that are there.
        runs: how many runs, or agents without a run, they come from.
        missing: why answers are missing, and how often; they are left out.
        apart: the distances.
        mean_difference: simulated mean minus people's; None without an order.
        variance_ratio: simulated variance by people's; None without an order, or if people's is 0.
        notes: what a reader must know.
    """

    people: People
    options: tuple[str, ...]
    counts: tuple[int, ...]
    human: tuple[float, ...]
    n: int
    runs: int
    missing: dict[str, int]
    apart: tuple[Apart, ...]
    mean_difference: float | None = None
    variance_ratio: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def simulated(self) -> tuple[float | None, ...]:
        """The simulated shares; None of nothing."""
        return tuple(count / self.n if self.n else None for count in self.counts)


def likeness(
    people: People,
    clusters: Sequence[Sequence[PollAnswer]],
    *,
    missing_as: str = "",
    ordered: bool = False,
    seed: int = 0,
    draws: int = DRAWS,
) -> Likeness:
    """Simulated answers beside people's, for one question and group.

    Intervals come from drawing whole runs anew, so that those who heard each other stay together, and people's counts
    anew, if their number is known.

    Args:
        people: what people answered.
        clusters: the simulated answers by run, or by agent if they took part in none.
        missing_as: the answer as which a missing one counts; empty: it is left out.
        ordered: whether the options of a choice have an order.
        seed: of the draws.
        draws: how many resamples.

    Raises:
        InputError: `missing_as` is no answer of the poll.
    """
    poll = people.poll
    instead = _answer(missing_as, poll, "--missing-as") if missing_as else None
    given = [[row.answer if row.answer is not None else instead for row in own] for own in clusters]
    found = {answer for own in given for answer in own if answer is not None} | people.shares.keys()
    options = poll.possible or tuple(sorted(found, key=float))
    human = tuple(people.shares.get(option, 0.0) for option in options)
    units = [tuple(Counter(own)[option] for option in options) for own in given]
    counts = tuple(int(sum(column)) for column in zip(*units, strict=True)) if units else (0,) * len(options)
    n, in_order = sum(counts), poll.is_ordered or ordered
    places = [float(option) for option in options] if poll.is_ordered else list(range(1, len(options) + 1))
    names = [name for name in _DISTANCES if in_order or name != "Wasserstein"]
    apart = tuple(_apart(name, units, counts, human, people.n, seed=seed, draws=draws) for name in names)
    mean = float(np.dot(counts, places) / n - np.dot(human, places)) if in_order and n else None
    ratio = variance_ratio(counts, human, places) if in_order and n else None
    missing = Counter(row.missing for own in clusters for row in own if row.answer is None)
    notes = _notes(people, clusters, len(units))
    return Likeness(people, options, counts, human, n, len(units), dict(missing), apart, mean, ratio, notes)


def _apart(
    name: str,
    units: Sequence[tuple[int, ...]],
    counts: tuple[int, ...],
    human: tuple[float, ...],
    size: int | None,
    *,
    seed: int,
    draws: int,
) -> Apart:
    measure = _DISTANCES[name]
    value, method = measure(counts, human), f"percentile bootstrap over runs, {draws:,} resamples, seed {seed}"
    floor = distributions.floor(measure, human, sum(counts), seed=seed)
    if value is None or len(units) < FEWEST:
        note = "there are no answers" if value is None else f"fewer than {FEWEST} runs have no interval"
        return Apart(name, Estimate(value=value, method=method, n=len(units), note=note), floor)
    chance = np.random.default_rng(seed)

    def once(drawn: Sequence[tuple[int, ...]]) -> float | None:
        others = [float(times) for times in chance.multinomial(size, human)] if size else human
        return measure([float(times) for times in np.sum(drawn, axis=0)], others)

    every = resampled(units, once, seed=seed, resamples=draws)
    there = known([value for value in every if not np.isnan(value)]).values
    low, high = np.quantile(there, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Apart(name, Estimate(value=value, low=float(low), high=float(high), method=method, n=len(units)), floor)


def _notes(people: People, clusters: Sequence[Sequence[PollAnswer]], runs: int) -> list[str]:
    notes = []
    if people.n is None:
        notes.append("n is not known: people's shares are taken as fixed.")
    if people.scaled:
        notes.append("People's shares did not sum to 1 exactly, and were scaled.")
    if runs < FEWEST:
        notes.append(f"Fewer than {FEWEST} runs: there are no intervals.")
    if any(row.repeat > 1 for own in clusters for row in own):
        notes.append("Repeated answers of one agent are not independent, so the floor is too low.")
    return notes


@dataclass(frozen=True)
class Together:
    """Several questions at once.

    Attributes:
        questions: how many questions and groups.
        mean: the mean total variation distance.
        ranks: Spearman's rank correlation of simulated with people's shares, over all answers of all questions.
    """

    questions: int
    mean: float | None
    ranks: Effect


def together(every: Sequence[Likeness]) -> Together:
    """What several questions say at once: a mean distance and whether the order of shares is the same."""
    values = [one.apart[0].estimate.value for one in every]
    there = [value for value in values if value is not None]
    simulated = [share for one in every for share in one.simulated]
    human = [share for one in every for share in one.human]
    return Together(len(every), sum(there) / len(there) if there else None, spearman(simulated, human))
