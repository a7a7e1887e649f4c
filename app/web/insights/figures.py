"""The figures of a run up to a turn, from its board: the arithmetic is that of `runs/summary.py`."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from persimchat.app.web.board import Board
from persimchat.runs.events import Analysed, Uttered
from persimchat.runs.recorded import RecordedScore, RecordedUtterance
from persimchat.runs.summary import AgentSummary, Best, Speech, agent_summary, highest_coherence, most_active, speech


@dataclass(frozen=True)
class Figures:
    """What a run comes to at a turn.

    Attributes:
        total: of all messages.
        agents: of each participant, in order of listing.
        most_active: who made most messages; several where they are equal.
        highest_coherence: the message found most coherent; None without analysis.
        last: of the last message alone, its scores included; None before the first.
        last_speaker: who made it; empty before the first.
    """

    total: Speech
    agents: list[AgentSummary]
    most_active: list[str]
    highest_coherence: Best | None
    last: Speech | None
    last_speaker: str


class Numbers:
    """The numbers of a board's messages and scores, taken over as they come."""

    def __init__(self) -> None:
        self._said: list[RecordedUtterance] = []
        self._scores: dict[int, RecordedScore] = {}
        self._seen = 0

    def at(self, board: Board, turn: int) -> Figures:
        """The figures at the end of a turn, always of the same board."""
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

    def upto(self, board: Board, turn: int) -> list[RecordedUtterance]:
        """The messages up to the end of a turn."""
        self._take_over(board)
        return self._said[: bisect_right(self._said, turn, key=lambda one: one.turn)]

    def _take_over(self, board: Board) -> None:
        self._said += [recorded_utterance(one) for one in board.utterances[len(self._said) :]]
        if self._seen != len(board.scores):
            self._seen = len(board.scores)
            for turn, analysed in board.scores.items():
                score = None if turn in self._scores else recorded_score(analysed)
                if score is not None:
                    self._scores[turn] = score


_numbers: WeakKeyDictionary[Board, Numbers] = WeakKeyDictionary()


def numbers_of(board: Board) -> Numbers:
    """The numbers of a board, the same for everybody who looks at it."""
    if board not in _numbers:
        _numbers[board] = Numbers()  # it holds no board: that would keep it for ever
    return _numbers[board]


def recorded_utterance(uttered: Uttered) -> RecordedUtterance:
    """A message as the summary takes it."""
    fields = {"turn", "speaker", "text", "response_time_s", "tokens", "corrections"}
    return RecordedUtterance.model_validate(uttered.model_dump(include=fields))


def recorded_score(analysed: Analysed) -> RecordedScore | None:
    """Scores as the summary takes them; None where the message could not be scored."""
    if analysed.failed or None in (analysed.coherence, analysed.sentiment, analysed.engagement):
        return None
    return RecordedScore.model_validate(analysed.model_dump(exclude={"event", "version", "failed"}))
