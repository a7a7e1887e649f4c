"""The figures of a run up to a turn, and the data of charts; `runs/reports/summary.py` does the arithmetic."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing
from persimchat.runs.events import Analysed, Uttered
from persimchat.runs.reports.summary import (
    AgentSummary,
    Best,
    Speech,
    agent_summary,
    highest_coherence,
    most_active,
    speech,
)


@dataclass(frozen=True)
class Figures:
    """The figures of a run at a turn.

    Attributes:
        total: of all messages.
        agents: of each participant, in order of listing.
        most_active: who made most messages; several if they are equal.
        highest_coherence: the message with the highest coherence; None without analysis.
        last: figures of the last message, its scores included; None before the first.
        last_speaker: who made it; empty before the first.
    """

    total: Speech
    agents: list[AgentSummary]
    most_active: list[str]
    highest_coherence: Best | None
    last: Speech | None
    last_speaker: str


class Numbers:
    """The figures of a board's messages and scores, updated as they come."""

    def __init__(self) -> None:
        self._scores: dict[int, Analysed] = {}
        self._seen = 0

    def at(self, board: Board, turn: int) -> Figures:
        """The figures at the end of a turn, always of the same board."""
        self._take_over(board)
        said = self.upto(board, turn)
        scores = [self._scores[one.turn] for one in said if one.turn in self._scores]
        agents = [
            agent_summary(
                name, [one for one in said if one.speaker == name], [], [one for one in scores if one.speaker == name]
            )
            for name in board.participants
        ]
        last = said[-1] if said else None
        return Figures(
            total=speech(said, scores),
            agents=agents,
            most_active=most_active(agents),
            highest_coherence=highest_coherence(scores),
            last=speech([last], [self._scores[last.turn]] if last.turn in self._scores else []) if last else None,
            last_speaker=last.speaker if last else "",
        )

    def upto(self, board: Board, turn: int) -> list[Uttered]:
        """The messages up to the end of a turn."""
        return board.utterances[: bisect_right(board.utterances, turn, key=lambda one: one.turn)]

    def _take_over(self, board: Board) -> None:
        if self._seen != len(board.scores):
            self._seen = len(board.scores)
            for turn, analysed in board.scores.items():
                if analysed.is_scored:
                    self._scores[turn] = analysed


_numbers: WeakKeyDictionary[Board, Numbers] = WeakKeyDictionary()


def numbers_of(board: Board) -> Numbers:
    """The figures of a board, shared by all tabs that show it."""
    if board not in _numbers:
        _numbers[board] = Numbers()  # it must not hold the board, which would then never be freed
    return _numbers[board]


Levels = Mapping[int, Mapping[str, int]]
"""Levels by turn and name."""


def latest(levels: Levels, names: Iterable[str], turn: int) -> dict[str, int]:
    """The last level of each agent up to the end of a turn; agents without one are left out."""
    found: dict[str, int] = {}
    missing = dict.fromkeys(names)
    for at in sorted((at for at in levels if at <= turn), reverse=True):
        if not missing:
            break
        for name in [name for name in missing if name in levels[at]]:
            found[name] = levels[at][name]
            del missing[name]
    return found


def drawn_from(viewing: Viewing) -> Hashable:
    """A value that changes when the insights' data do; single words of an utterance in progress do not change it."""
    board, turn = viewing.board, viewing.turn
    now = [len(levels.get(turn, ())) for levels in (board.needs, board.emotions, board.openness)]
    counts = (
        len(board.scores),
        len(board.left_out),
        len(board.verdicts),
        board.totals_at(turn).calls,
        len(board.participants),
    )
    hands = tuple(sorted(board.hands)) if viewing.newest else ()
    return (turn, viewing.newest, *now, *counts, hands, board.status == "ended")
