"""Stories in numbers: pure functions on recorded runs, which ask no model.

Who won, who stood behind whom, who talked to whom, who guessed right; how one character's closeness changes while all
others treat it badly (T1 and T2); the entropy of what is said; and the share of first answers that have their form.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import StatisticsError, correlation, fmean
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from ..models.answers import answer_text, find_object, stop_problem
from ..models.recording import Row, asking_of, from_record
from ..runs.folder.reading import Record, calls_of
from ..state.minds.speech import words
from ..state.stories.judgement import ballot_schema, choice_schema, review_schema
from ..state.stories.story import Story
from ..state.stories.support import camps


def story_in(record: Record) -> Story | None:
    """The story of a recorded run; None where it is another conversation."""
    section = record.manifest.scenario.story
    return Story.model_validate(section.model_dump(by_alias=True)) if section is not None else None


Closeness = Mapping[str, Mapping[str, int]]
"""By character, its closeness to each of the others."""


@dataclass(frozen=True)
class Settled:
    """The result of a vote.

    Attributes:
        winner: who, or which outcome, won alone; empty after a draw, and if nobody voted.
        drawn: those between whom it was a draw.
        ceded: whether the decider put another in its own place; None where nobody could.
    """

    winner: str
    drawn: tuple[str, ...]
    ceded: bool | None


@dataclass(frozen=True)
class Stand:
    """Where everybody stood after an update.

    Attributes:
        round: 0 for first impressions.
        supports: by character, the main character whom it supported; empty for nobody.
        closeness: everybody's.
    """

    round: int
    supports: Mapping[str, str]
    closeness: Closeness


def settled(record: Record, story: Story) -> Settled | None:
    """The result of a story's vote; None if there was none."""
    outcome = record.manifest.outcome
    if outcome is None:
        return None
    alone = outcome.winners[0] if len(outcome.winners) == 1 else ""
    could = story.settlement is not None and story.settlement.decider in story.mains
    return Settled(alone, tuple(outcome.winners) if not alone else (), bool(outcome.ceded) if could else None)


def stands(record: Record) -> list[Stand]:
    """Where everybody stood, by round."""
    return [
        Stand(
            number, {name: one.supports or "" for name, one in by.items()}, {n: one.closeness for n, one in by.items()}
        )
        for number, by in sorted(record.standings.items())
    ]


def followers(story: Story) -> list[str]:
    """The characters who may stand behind a main one: those who are none themselves and not neutral."""
    return [name for name, one in story.characters.items() if not one.main and not one.neutral]


def supported(stand: Stand, among: Sequence[str]) -> float | None:
    """The share of characters that stand behind somebody, 0–1; None of nobody."""
    return sum(bool(stand.supports.get(name)) for name in among) / len(among) if among else None


def supporters(stand: Stand, main: str, among: Sequence[str]) -> int:
    """How many characters stand behind a main one."""
    return sum(stand.supports.get(name) == main for name in among)


def changes_of_side(course: Sequence[Stand], among: Sequence[str]) -> int:
    """How often a character went from one main character to another, also after a time behind nobody."""
    changes = 0
    for name in among:
        sides = [side for stand in course if (side := stand.supports.get(name))]
        changes += sum(one != other for one, other in zip(sides, sides[1:], strict=False))
    return changes


def reciprocity(closeness: Closeness) -> float | None:
    """Pearson's correlation of c_ij and c_ji over ordered pairs, −1 to 1: whether closeness is returned.

    None with fewer than two pairs of characters, and where all values are the same.
    """
    pairs = [
        (score, closeness[other][name])
        for name, near in closeness.items()
        for other, score in near.items()
        if name in closeness.get(other, {})
    ]
    if len(pairs) < 4:
        return None
    try:
        found = correlation([there for there, _ in pairs], [back for _, back in pairs])
    except StatisticsError:  # all values are the same
        return None
    return max(-1.0, min(1.0, found))


def guesses_right(record: Record, winner: str) -> float | None:
    """The share of voters who expected the winner to win, 0–1; None without guesses or without a winner."""
    guesses = [one.choice for one in record.happenings if one.do == "guess"]
    return sum(choice == winner for choice in guesses) / len(guesses) if guesses and winner else None


def talks(record: Record) -> Counter[tuple[str, str]]:
    """How often each host talked to each partner, private and confidential talks together."""
    met = (one for one in record.happenings if one.do == "met" and one.stage != "rooms")
    return Counter((one.speaker, partner) for one in met for partner in one.others)


Changes = Mapping[str, int]
"""The answered changes of closeness, by the other character's name."""


@dataclass(frozen=True)
class Attitude:
    """What became of the closeness between one character and the others.

    Attributes:
        rounds: in which a change was answered.
        t1: percent of the rounds in which the mean change was negative; None without rounds.
        t2: percent of all single changes that were negative; None without any.
        answers: the single changes on which `t2` rests.
    """

    rounds: int
    t1: float | None
    t2: float | None
    answers: int


def attitude(rounds: Sequence[Changes], among: Sequence[str]) -> Attitude:
    """T1 and T2 of changes, one mapping a round.

    T1 = 100/K · #{t: mean over all j of d_t(j) < 0}; T2 = 100/(K·M) · #{(t, j): d_t(j) < 0, j one of `among`}, with K
    rounds and M names.

    Args:
        rounds: the changes d_t of each round in which there was an answer.
        among: whose changes count for T2.
    """
    there = [changes for changes in rounds if changes]
    single = [changes[name] for changes in there for name in among if name in changes]
    return Attitude(
        rounds=len(there),
        t1=_percent([fmean(changes.values()) < 0 for changes in there]),
        t2=_percent([change < 0 for change in single]),
        answers=len(single),
    )


def shown_by(record: Record, observed: str, mains: Sequence[str]) -> Attitude:
    """The attitude of the observed character to the others; T2 is over the other main characters."""
    return attitude(
        [changes for by in _changes(record).values() if (changes := by.get(observed))],
        [name for name in mains if name != observed],
    )


def shown_to(record: Record, observed: str, mains: Sequence[str]) -> Attitude:
    """The attitude of the others to the observed character, as `shown_by`: whether it was treated badly."""
    towards = [
        {name: changes[observed] for name, changes in by.items() if observed in changes}
        for by in _changes(record).values()
    ]
    return attitude(towards, [name for name in mains if name != observed])


def _changes(record: Record) -> dict[int, dict[str, Changes]]:
    """The changes by round and character, first impressions left out."""
    found: dict[int, dict[str, Changes]] = {}
    for one in record.happenings:
        if one.do == "review" and one.round:
            found.setdefault(one.round, {})[one.speaker] = one.closeness
    return found


def _percent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None


WORDS, CHARACTERS = "words", "characters"
PIECES: Final[Mapping[str, Callable[[str], Sequence[str]]]] = {WORDS: words, CHARACTERS: list}
"""What a text is divided into: words as `persimchat.state.minds.speech` has them (without case and punctuation), or
characters as they were written."""
UNITS: Final[Mapping[str, float]] = {"bits": math.log(2), "nats": 1.0}
"""The units, each in nats."""
FORMS: Final = tuple((pieces, unit) for pieces in PIECES for unit in UNITS)
"""The four forms: pieces and unit."""

Bigram = tuple[str, str]


def texts_in(record: Record) -> list[str]:
    """What a story's characters said, in order; words that a moderator put in are not theirs."""
    own = set(record.manifest.names)
    return [said.text for said in record.utterances if said.speaker in own]


def bigrams(texts: Iterable[str], pieces: str) -> list[Bigram]:
    """The 2-grams of texts in order; none crosses from one text into the next.

    Args:
        texts: utterances.
        pieces: a name in `PIECES`.
    """
    divided = PIECES[pieces]
    return [pair for text in texts for pair in pairwise(divided(text))]


def entropy(grams: Iterable[Bigram], unit: str, first: int | None = None) -> float | None:
    """H = −Σ p·log p over the different 2-grams, from 0 to log n; None of nothing.

    Args:
        grams: the 2-grams.
        unit: a name in `UNITS`.
        first: how many of them count; all if None.
    """
    counts = Counter(islice(grams, first))
    n = counts.total()
    if not n:
        return None
    nats = math.fsum(-count / n * math.log(count / n) for count in counts.values())
    return abs(nats) / UNITS[unit]


KINDS: Final[Mapping[str, str]] = {
    "CS": "the partner, or the name on the ballot, is one of the candidates",
    "BUS": "all changes of beliefs are within the bound",
    "RUS": "all changes of closeness are within the bound",
    "NoB": "every belief has exactly one change",
    "NoR": "each of the others has exactly one change of closeness",
}
"""What is asked of a first answer, by the paper's abbreviation."""

_NUMBER: Final = ("missing", "extra_forbidden")
"""The validator's names of what is wrong if a name or number is missing, or is none of those asked for."""


@dataclass(frozen=True)
class Form:
    """How many first answers there are, and how many have the form.

    Attributes:
        right: those that have it.
        n: all of them.
    """

    right: int
    n: int

    @property
    def percent(self) -> float | None:
        """The share in percent; None without answers."""
        return 100 * self.right / self.n if self.n else None


def forms(record: Record, story: Story) -> dict[str, Form]:
    """The form of a run's first answers, by the names of `KINDS`."""
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    rooms = list(_rooms(record, story))
    for row in first_answers(record):
        for kind, right in _judged(row, story, rooms):
            found[kind].append(right)
    return {kind: Form(sum(each), len(each)) for kind, each in found.items()}


def first_answers(record: Record) -> Iterator[Row]:
    """The first answer to each choice, review and ballot of a run; of a question that was put again, the last time."""
    first: dict[Any, Row | None] = {}
    for row in calls_of(record):
        if row.module in ("choice", "review", "ballot"):
            key = asking_of(row)
            if row.n == 0:
                first[key] = None
            if first.get(key) is None and row.answer is not None:
                first[key] = row
    return (row for row in first.values() if row is not None)


def _judged(row: Row, story: Story, rooms: Sequence[_Room]) -> Iterator[tuple[str, bool]]:
    if row.module == "review":
        others = tuple(name for name in story.characters if name != row.agent)
        own = story.characters.get(row.agent)
        beliefs = 0 if own is None or row.part == "round 0" else len(own.beliefs)
        wrong = _problems(row, review_schema(others, beliefs, story.limits.change))
        yield "RUS", not _has(wrong, "closeness", number=False)
        yield "NoR", not _has(wrong, "closeness", number=True)
        if beliefs:
            yield "BUS", not _has(wrong, "beliefs", number=False)
            yield "NoB", not _has(wrong, "beliefs", number=True)
        return
    if row.module == "choice":
        field, among = "partner", {name for room in rooms if room.may_be(row) for name in room.partners[row.agent]}
    else:
        field = "choice"
        among = {name for name in story.candidates if row.part != "closed" or name != row.agent}
    schema = choice_schema(tuple(sorted(among))) if row.module == "choice" else ballot_schema(tuple(sorted(among)))
    if among:
        yield "CS", not any(place[:1] in ((field,), ()) for place, _ in _problems(row, schema))


Problems = Sequence[tuple[tuple[int | str, ...], str]]
"""Where an answer is wrong, and the validator's name of what is wrong; the empty place is the whole answer."""


def _problems(row: Row, schema: type[BaseModel]) -> Problems:
    assert row.answer is not None
    message = from_record(row.answer)
    found = None if stop_problem(message) else find_object(answer_text(message), schema.model_fields)
    if found is None:
        return [((), "no object")]
    try:
        schema.model_validate(found)
    except ValidationError as error:
        return [(problem["loc"], problem["type"]) for problem in error.errors(include_url=False, include_input=False)]
    return []


def _has(wrong: Problems, field: str, *, number: bool) -> bool:
    """Whether an answer has a problem in a field: of number, or of a bound.

    Without the whole field it has both, and so it has if a name stands there twice: its changes cannot be told.
    """
    return any(place in ((), (field,)) or (place[0] == field and (kind in _NUMBER) == number) for place, kind in wrong)


@dataclass(frozen=True)
class _Room:
    """A stage of rooms in one round.

    Attributes:
        first: utterances made when it began.
        last: utterances made when the next stage, or the update, began.
        partners: whom each host could choose.
    """

    first: float
    last: float
    partners: Mapping[str, Sequence[str]]

    def may_be(self, row: Row) -> bool:
        """Whether a choice may have been made in it; where stages without words meet, in several."""
        return self.first <= row.turn <= self.last and row.agent in self.partners


def _rooms(record: Record, story: Story) -> Iterator[_Room]:
    supports = {name: one.supports for name, one in story.characters.items()}
    began: list[tuple[float, Mapping[str, Sequence[str]]]] = []
    place: dict[int, int] = {}
    for one in record.happenings:
        if one.do == "standing":
            supports[one.speaker] = one.supports or ""
        elif one.do == "stage":
            number = place[one.round] = place.get(one.round, -1) + 1
            partners: Mapping[str, Sequence[str]] = {}
            if number < len(story.stages) and story.stages[number].by_two:
                sides = camps(story, supports)
                partners = {host: story.partners(host, story.stages[number], sides) for host in story.mains}
            began.append((one.turn, partners))
    for (first, partners), (last, _) in pairwise([*began, (float("inf"), {})]):
        yield _Room(first, last, partners)
