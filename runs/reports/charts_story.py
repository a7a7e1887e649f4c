"""The figures of a story's charts: who is close to whom, beliefs and influence over rounds, meetings, ballots.

Pure functions of a run's happenings, for the report, the page and the documents; `charts.py` has scales and paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from persimchat.runs.events import Happened
from persimchat.runs.folder.lines import STANDING
from persimchat.runs.reports.charts import Point
from persimchat.state.standing import HIGHEST


@dataclass(frozen=True)
class Update:
    """Where the characters stand after an update.

    Attributes:
        round: its number; 0 before the first round.
        turn: utterances so far.
        standings: by name; all characters' once the update is over.
    """

    round: int
    turn: int
    standings: Mapping[str, Happened]


@dataclass(frozen=True)
class Cell:
    """One cell of the heat map of closeness.

    Attributes:
        who: whose closeness it is.
        to: towards whom.
        value: 0–100; None for oneself, and where it is not known.
        change: since the first update; None if one of the two is not known.
    """

    who: str
    to: str
    value: int | None
    change: int | None

    @property
    def share(self) -> float:
        """How strongly it is tinted, 0–1."""
        return (self.value or 0) / HIGHEST


@dataclass(frozen=True)
class Meeting:
    """A talk behind a door.

    Attributes:
        round: its number.
        stage: its kind.
        room: its id.
        host: who asked for it.
        others: with whom.
        public: whether all know that they meet.
        turn: utterances before it.
    """

    round: int
    stage: str
    room: str
    host: str
    others: Sequence[str]
    public: bool
    turn: int


@dataclass(frozen=True)
class Votes:
    """One voter's ballots, and why; what was not given is empty.

    Attributes:
        voter: who votes.
        guess: who it expects to win.
        openly: its open ballot.
        closed: its closed ballot.
        why: by "guess", "ballot" and "closed_ballot", the reason.
    """

    voter: str
    guess: str
    openly: str
    closed: str
    why: Mapping[str, str]


BALLOTS: Final = ("guess", "ballot", "closed_ballot")
"""The happenings of a vote, in order."""


def updates(happenings: Iterable[Happened]) -> list[Update]:
    """The updates of a story, in order; the first one is before the first round."""
    found: dict[int, dict[str, Happened]] = {}
    for one in happenings:
        if one.do == STANDING:
            found.setdefault(one.round, {})[one.speaker] = one
    return [Update(number, max(one.turn for one in found[number].values()), found[number]) for number in sorted(found)]


def closeness(found: Sequence[Update], names: Sequence[str], at: int = -1) -> list[list[Cell]]:
    """The heat map of closeness after an update: a row for each character, a column towards each.

    Args:
        found: the updates, in order.
        names: the characters, in order of listing.
        at: the place of the update; the last one if left out.
    """
    if not found:
        return []

    def value(update: Update, who: str, to: str) -> int | None:
        standing = update.standings.get(who)
        return standing.closeness.get(to) if standing is not None else None

    def cell(who: str, to: str) -> Cell:
        first, now = value(found[0], who, to), value(found[at], who, to)
        return Cell(who, to, now, None if first is None or now is None else now - first)

    return [[cell(who, to) for to in names] for who in names]


def belief_courses(found: Iterable[Update], name: str) -> list[list[Point]]:
    """For each belief of a character, in the file's order: round and strength (0–100)."""
    courses: list[list[Point]] = []
    for update in found:
        standing = update.standings.get(name)
        for place, score in enumerate(standing.beliefs if standing is not None else ()):
            if place == len(courses):
                courses.append([])
            courses[place].append((update.round, score))
    return courses


def influence_courses(found: Iterable[Update], names: Sequence[str]) -> dict[str, list[Point]]:
    """Round and influence by character, of those who have had any; points, not percents."""
    courses: dict[str, list[Point]] = {name: [] for name in names}
    for update in found:
        for name in names:
            standing = update.standings.get(name)
            if standing is not None and standing.influence is not None:
                courses[name].append((update.round, standing.influence))
    return {name: points for name, points in courses.items() if any(value for _, value in points)}


def supports(found: Iterable[Update], names: Sequence[str]) -> dict[str, list[str | None]]:
    """By character, whom it supports after each update: empty for nobody, None if it is not known."""
    every = list(found)
    return {
        name: [update.standings[name].supports if name in update.standings else None for update in every]
        for name in names
    }


def meetings(happenings: Iterable[Happened]) -> list[Meeting]:
    """The talks behind doors, in order."""
    return [
        Meeting(one.round, one.stage, one.room, one.speaker, one.others, one.heard_by is None, one.turn)
        for one in happenings
        if one.do == "met"
    ]


def votes(happenings: Iterable[Happened]) -> list[Votes]:
    """Everybody's ballots, in the order in which they were first given."""
    given: dict[str, dict[str, Happened]] = {}
    for one in happenings:
        if one.do in BALLOTS:
            given.setdefault(one.speaker, {})[one.do] = one

    def choice(of: Mapping[str, Happened], what: str) -> str:
        return of[what].choice if what in of else ""

    return [
        Votes(
            voter,
            guess=choice(of, "guess"),
            openly=choice(of, "ballot"),
            closed=choice(of, "closed_ballot"),
            why={what: one.text for what, one in of.items()},
        )
        for voter, of in given.items()
    ]
