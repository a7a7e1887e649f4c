"""The figures of a run up to a turn, and the data of charts; `runs/reports/summary.py` does the arithmetic."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from persimchat.app.web.board import Board
from persimchat.app.web.context import Viewing
from persimchat.runs.events import Analysed, Judged, Uttered
from persimchat.runs.reports.charts.scales import Point, bin_size, binned
from persimchat.runs.reports.summary import (
    AgentSummary,
    Best,
    Speech,
    agent_summary,
    highest_coherence,
    most_active,
    speech,
)
from persimchat.state.emotion import EMOTIONS

MOST_POINTS: Final = 200
"""The most points of a line or a cloud; more are thinned to means of neighbours."""


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


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[list[float]]:
    """At most `most` points, as charts take them, rounded to hundredths."""
    return [[round(x, 2), round(y, 2)] for x, y in binned(points, bin_size(len(points), most))]


def longest(lines: Mapping[str, Sequence[Point]]) -> int:
    """Points of the longest line."""
    return max(map(len, lines.values()), default=0)


def levels_of(levels: Levels, name: str, turn: int) -> list[Point]:
    """An agent's levels up to the end of a turn, in order of turns."""
    return [(at, levels[at][name]) for at in sorted(levels) if at <= turn and name in levels[at]]


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


def emotions_over_time(
    emotions: Mapping[int, Mapping[str, Mapping[str, int]]], names: Sequence[str], turn: int
) -> dict[str, list[Point]]:
    """Each emotion's level up to the end of a turn, summed over `names`.

    A turn counts only if all agents with any known level are known at it: while the minds of a turn are still coming
    in, the sum would seem to fall.
    """
    felt = {at: [emotions[at][name] for name in names if name in emotions[at]] for at in sorted(emotions) if at <= turn}
    most = max(map(len, felt.values()), default=0)
    whole = {at: minds for at, minds in felt.items() if len(minds) == most > 0}
    return {
        emotion: [(at, sum(mind.get(emotion, 0) for mind in minds)) for at, minds in whole.items()]
        for emotion in EMOTIONS
    }


def emotions_now(
    emotions: Mapping[int, Mapping[str, Mapping[str, int]]], names: Iterable[str], turn: int
) -> dict[str, list[int]]:
    """The last emotions of each agent up to a turn's end, ordered as `EMOTIONS`; agents without any are left out."""
    found: dict[str, list[int]] = {}
    turns = sorted((at for at in emotions if at <= turn), reverse=True)
    for name in names:
        felt = next((emotions[at][name] for at in turns if name in emotions[at]), None)
        if felt is not None:
            found[name] = [felt.get(emotion, 0) for emotion in EMOTIONS]
    return found


def verdict_kind(verdict: Judged) -> str:
    """How a verdict is marked: consensus, overruled, circling or progressing."""
    if verdict.consensus:
        return "consensus"
    if verdict.overruled:
        return "overruled"
    return "circling" if verdict.progress == "circling" else "progressing"


def verdict_marks(verdicts: Iterable[Judged], turn: int, most: int = MOST_POINTS) -> list[tuple[int, str]]:
    """Turns and kinds of the verdicts up to the end of a turn; of too many, those of consensus and the last ones."""
    marks = [(verdict.turn, verdict_kind(verdict)) for verdict in verdicts if verdict.turn <= turn]
    if len(marks) > most:
        marks = [mark for mark in marks if mark[1] in ("consensus", "overruled")] or marks
    return marks[-most:]


def response_times(said: Iterable[Uttered], name: str) -> list[Point]:
    """A speaker's response times in seconds, by turn; words that a person wrote have none."""
    return [(one.turn, one.took_s) for one in said if one.speaker == name and one.took_s is not None]


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
