"""The course of a story: who won, who stood behind whom, who talked to whom, who guessed right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation

from persimchat.runs.folder.reading import Record
from persimchat.state.story import Story

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
