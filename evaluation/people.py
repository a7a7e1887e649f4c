"""Answers of simulated people to a poll, beside those of real people to the same question.

Both are distributions over the poll's answers. Every distance stands beside its floor: how far samples of these sizes
are apart if they come from one population (`statistics/claims.py`). There is no overall score, for likeness on one
question is no likeness; and a small distance in a small sample is no evidence of likeness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from ..runs.folder.answers import PollAnswer
from ..state.errors import InputError
from ..state.plain_text import quoted
from ..state.poll import Poll
from .csv_rows import Row, read_rows
from .statistics.claims import DRAWS, Floor, Statistic, family, floors
from .statistics.distributions import jensen_shannons, total_variations, wassersteins
from .statistics.effects import Effect, spearman, spreads, variance_ratio
from .statistics.intervals import Numbers, known

_SHOWN: Final = 60
_NEAR: Final = 0.01
"""How far the sum of shares may be from 1; they are scaled."""
_FORM: Final = "Write option and count, or option, share and n; question and group are optional."
_OPTIONAL: Final = ("count", "share", "n", "question", "group")


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
        value: the distance, 0–1, or in the answer's unit; of variances, their ratio. None where there is none.
        floor: what samples of these sizes have by chance; None where there is none.
    """

    name: str
    value: float | None
    floor: Floor | None

    @property
    def hidden(self) -> bool:
        """Whether it is not distinguishable from chance."""
        return self.floor is None or self.floor.hides


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
        variances: simulated variance by people's (n − 1), with its floor; None without an order.
        mean_difference: simulated mean minus people's; None without an order.
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
    variances: Apart | None = None
    mean_difference: float | None = None
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

    For floors, a run counts as one answer, because those who heard each other are not independent.

    Args:
        people: what people answered.
        clusters: the simulated answers by run, or by agent if they took part in none.
        missing_as: the answer as which a missing one counts; empty: it is left out.
        ordered: whether the options of a choice have an order.
        seed: of the draws.
        draws: how many resamples.

    Raises:
        InputError: `missing_as` is no answer of the poll, or a number is too great to compute with.
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
    at = _places(places, poll)
    missing = Counter(row.missing for own in clusters for row in own if row.answer is None)
    told = (people, options, counts, human, n, len(units), dict(missing))
    distances: dict[str, Statistic] = {"total variation": total_variations, "Jensen-Shannon": jensen_shannons}
    if in_order:
        # A scale's ends are its own, so a distance is a share of it; any number has its unit alone.
        name = "Wasserstein" if poll.possible else "Wasserstein, in the answer's unit"
        steps = at if not poll.possible else np.linspace(0.0, 1.0, len(options))
        distances[name] = lambda first, second: wassersteins(first, second, steps)
    if not n:
        return Likeness(
            *told, tuple(Apart(name, None, None) for name in distances), notes=_notes(people, clusters, units)
        )
    ours, sizes = [count / n for count in counts], [sum(unit) for unit in units]
    independent = max(1, int(n**2 / sum(size**2 for size in sizes) + 1e-9))
    ratio = variance_ratio(ours, human, places, sizes=(n, people.n)) if in_order else None
    asked = {**distances}
    if ratio is not None and independent > 1:
        asked[_VARIANCES] = lambda first, second: _unlike(first, second, at, independent, people.n)
    chance = floors(list(asked.values()), ours, human, n=independent, people=people.n, seed=seed, draws=draws)
    sides = np.array(ours)[None], np.array(human)[None]
    apart = [
        Apart(name, float(of(*sides)[0]) if name != _VARIANCES else ratio, floor)
        for (name, of), floor in zip(asked.items(), chance, strict=True)
    ]
    return Likeness(
        *told,
        tuple(one for one in apart if one.name != _VARIANCES),
        next(
            (one for one in apart if one.name == _VARIANCES),
            Apart(_VARIANCES, ratio, None) if ratio is not None else None,
        ),
        float(np.dot(ours, places) - np.dot(human, places)) if in_order else None,
        _notes(people, clusters, units),
    )


_VARIANCES: Final = "variances"


def _places(places: Sequence[float], poll: Poll) -> Numbers:
    try:
        return known(places).values
    except ValueError as error:
        raise InputError(str(error), where=f"the poll {poll.id}", remedy="Leave this answer out.") from None


def _unlike(first: Numbers, second: Numbers, places: Numbers, n: int, people: int | None) -> Numbers:
    """How far the ratios of two variances are from 1, either way: |ln|; where one side does not vary, very far."""
    ours, theirs = spreads(first, places, n), spreads(second, places, people)
    least = 1e-12 * float(np.ptp(places)) ** 2
    found: Numbers = np.abs(np.log(np.maximum(ours, least)) - np.log(np.maximum(theirs, least)))
    return found


def corrected(every: Sequence[Likeness]) -> list[Likeness]:
    """The same, with the floors of all questions as one family, so that much looking makes no finding."""
    groups = [[one.floor for one in _floored(each)] for each in every]
    fixed = []
    for each, adjusted in zip(every, family(*groups), strict=True):
        new = {one.name: replace(one, floor=floor) for one, floor in zip(_floored(each), adjusted, strict=True)}
        variances = each.variances and new.get(each.variances.name, each.variances)
        fixed.append(replace(each, apart=tuple(new.get(one.name, one) for one in each.apart), variances=variances))
    return fixed


def _floored(one: Likeness) -> list[Apart]:
    return [apart for apart in (*one.apart, one.variances) if apart is not None and apart.floor is not None]


def _notes(people: People, clusters: Sequence[Sequence[PollAnswer]], units: Sequence[tuple[int, ...]]) -> list[str]:
    notes = []
    if people.n is None:
        notes.append("n is not known: people's shares are taken as fixed.")
    if people.scaled:
        notes.append("People's shares did not sum to 1 exactly, and were scaled.")
    if any(sum(unit) > 1 for unit in units):
        notes.append("For the floor, a run (or an agent who was asked repeatedly) counts as one answer.")
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
    values = [one.apart[0].value for one in every]
    there = [value for value in values if value is not None]
    simulated = [share for one in every for share in one.simulated]
    human = [share for one in every for share in one.human]
    return Together(len(every), sum(there) / len(there) if there else None, spearman(simulated, human))
