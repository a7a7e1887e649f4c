"""The ledger of positions in numbers: where each participant began and ended, how often they moved, and after whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.reports.stances import Position
from persimchat.runs.reports.summary import mean

VALUES: Final[Mapping[str, str]] = {
    "moves": "How often participants changed their position.",
    "moves_to_majority": "The share of moves to what most of the others held then.",
    "moves_uncredited": "The share of moves after nobody who held the new position.",
    "kept": "The share of participants whose first clear position was their last.",
    "stances_at_end": "How many different positions were held at the end.",
}
"""What `Stances.values` has, and what it says."""


@dataclass(frozen=True)
class Holder:
    """A participant's positions in a run, as one source shows them.

    Attributes:
        agent: the participant.
        first: the first clear stance; None if there is none.
        last: the last clear one.
        seen: observations.
        unclear: those of them without a clear stance.
        moves: how often the stance changed.
        toward_majority: moves to what most of the others held then.
        credit: the shares in others' moves, summed up.
        openness_moving: mean openness to consensus just before a move; None if it is not known.
        openness_else: mean openness before all other observations.
    """

    agent: str
    first: str | None
    last: str | None
    seen: int
    unclear: int
    moves: int
    toward_majority: int
    credit: float
    openness_moving: float | None
    openness_else: float | None


@dataclass(frozen=True)
class Stances:
    """One source of a run, or one poll.

    Attributes:
        source: where the positions come from.
        poll: the poll; empty for other sources.
        holders: the participants, in the order in which they were first seen.
        uncredited: moves that came after nobody.
        ask: the poll's question; empty for other sources.
    """

    source: str
    poll: str
    holders: tuple[Holder, ...]
    uncredited: int
    ask: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Source and poll, as in the ledger's rows."""
        return self.source, self.poll

    @property
    def where(self) -> str:
        """The source in words: "verdicts", "the poll “Tea?”"."""
        return f"the poll “{self.ask or self.poll}”" if self.poll else self.source

    @property
    def moves(self) -> int:
        """All moves."""
        return sum(holder.moves for holder in self.holders)

    @property
    def toward_majority(self) -> int:
        """Moves to what most of the others held then."""
        return sum(holder.toward_majority for holder in self.holders)

    @property
    def kept(self) -> int:
        """How many participants' first clear stance was their last."""
        return sum(holder.first is not None and holder.first == holder.last for holder in self.holders)

    @property
    def held(self) -> int:
        """How many participants had a clear stance."""
        return sum(holder.first is not None for holder in self.holders)

    def values(self) -> dict[str, float | None]:
        """The run in numbers, by the names of `VALUES`, for comparisons of runs; None where one is not defined."""
        return {
            "moves": float(self.moves),
            "moves_to_majority": self.toward_majority / self.moves if self.moves else None,
            "moves_uncredited": self.uncredited / self.moves if self.moves else None,
            "kept": self.kept / self.held if self.held else None,
            "stances_at_end": float(len({holder.last for holder in self.holders} - {None})),
        }


def stances_of(rows: Iterable[Position], polls: Iterable[PollAnswer] = ()) -> list[Stances]:
    """The ledger of a run in numbers, source by source.

    Args:
        rows: of the ledger.
        polls: the run's answers to polls, which have the questions' words.
    """
    asked = {row.poll: row.question.ask for row in polls}
    grouped: dict[tuple[str, str], list[Position]] = {}
    for row in rows:
        grouped.setdefault((row.source, row.poll), []).append(row)
    return [_stances(source, poll, asked.get(poll, ""), own) for (source, poll), own in grouped.items()]


def _stances(source: str, poll: str, ask: str, rows: Sequence[Position]) -> Stances:
    credit: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        for name, share in row.credit.items():
            credit[name] += share
    names = dict.fromkeys([*(row.agent for row in rows), *credit])
    holders = tuple(_holder(name, [row for row in rows if row.agent == name], credit[name]) for name in names)
    return Stances(source, poll, holders, sum(bool(row.moved and not row.candidates) for row in rows), ask)


def _holder(agent: str, rows: Sequence[Position], credit: float) -> Holder:
    clear = [row.stance for row in rows if row.stance is not None]
    moves = [row for row in rows if row.moved]
    return Holder(
        agent=agent,
        first=clear[0] if clear else None,
        last=clear[-1] if clear else None,
        seen=len(rows),
        unclear=len(rows) - len(clear),
        moves=len(moves),
        toward_majority=sum(row.toward_majority is True for row in moves),
        credit=credit,
        openness_moving=mean(row.openness for row in moves if row.openness is not None),
        openness_else=mean(row.openness for row in rows if not row.moved and row.openness is not None),
    )
