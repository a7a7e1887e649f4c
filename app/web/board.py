"""What is to be seen of a run: its events, sorted by what panels show. Every turn stays, so that a page can go back.

Minds stand here as far as charts need them; the whole ones are read from the run's folder when somebody looks.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from persimchat.runs.events import (
    Analysed,
    Asked,
    Continued,
    Event,
    HandRaised,
    Judged,
    JudgeMindChanged,
    MindChanged,
    Paused,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    TopicChanged,
    Totals,
    TurnEnded,
    Uttered,
)

Status = Literal["running", "paused", "asked", "ended", "unfinished"]
"""How a run stands: `asked` waits for a person; `unfinished` has no end, and nobody works on it."""

Line = Uttered | Silenced | TopicChanged | Judged
"""What stands in the conversation's order beside each other."""


class Board:
    """A run as far as its events tell.

    Attributes:
        revision: grows with every change; a page draws when it differs from what it has drawn.
        started: its first event; None before it.
        lines: utterances, silences, changes of topic and verdicts, in order.
        utterances: the utterances; number `n` is at index `n - 1`.
        scores: by turn, where analysis is on.
        verdicts: of the judge, in order.
        needs: need to talk by turn and agent.
        emotions: intensities by turn and agent.
        openness: openness to consensus by turn and agent (debates).
        totals: what was used, by turn.
        heard: the last turn that everybody has heard.
        speaking: who is speaking; None while nobody is.
        words: what they have said so far.
        asked: who is being asked for what; None while nobody is.
        hands: people who have raised a hand.
        paused: whether people have paused the run.
        stopped: its last event; None before it.
        error: what it has failed with, where that came before its first event or beside its last.
        kept: whether nobody in this server works on it.
        elsewhere: whether another program works on it; this one learns of it when the run is looked at.
    """

    def __init__(self, *, kept: bool = False) -> None:
        self.kept = kept
        self.elsewhere = False
        self.revision = 0
        self.started: Started | None = None
        self.lines: list[Line] = []
        self.utterances: list[Uttered] = []
        self.scores: dict[int, Analysed] = {}
        self.verdicts: list[Judged] = []
        self.needs: dict[int, dict[str, int]] = {}
        self.emotions: dict[int, dict[str, dict[str, int]]] = {}
        self.openness: dict[int, dict[str, int]] = {}
        self.totals: dict[int, Totals] = {}
        self.heard = 0
        self.speaking: Speaking | None = None
        self.words = ""
        self.asked: Asked | None = None
        self.hands: set[str] = set()
        self.paused = False
        self.stopped: Stopped | None = None
        self.error = ""

    @property
    def status(self) -> Status:
        """How the run stands."""
        if self.stopped is not None or self.error:
            return "ended"
        if self.kept:
            return "unfinished"
        if self.asked is not None:
            return "asked"
        return "paused" if self.paused else "running"

    @property
    def turn(self) -> int:
        """Utterances made."""
        return len(self.utterances)

    @property
    def participants(self) -> list[str]:
        """Names in order of listing; empty before the run has begun."""
        return list(self.started.participants) if self.started else []

    @property
    def people(self) -> list[str]:
        """Those of the participants who are people."""
        return list(self.started.people) if self.started else []

    def lines_upto(self, turn: int) -> int:
        """How many of the lines had come by the end of a turn."""
        return bisect_right(self.lines, turn, key=lambda line: line.turn)

    def totals_at(self, turn: int) -> Totals:
        """What was used up to the end of a turn, as far as it is known: at the last one before it that ended."""
        if self.stopped is not None and turn >= self.turn:
            return self.stopped.totals
        known = [number for number in self.totals if number <= turn]
        return self.totals[max(known)] if known else Totals()

    def take(self, event: Event) -> None:
        """Take one event in."""
        self.revision += 1
        match event:
            case Started():
                self.started = event
            case Speaking():
                self.speaking, self.words, self.asked = event, "", None
            case Token():
                self.words += event.text
            case Uttered():
                self._uttered(event)
            case Silenced() | TopicChanged() | Judged():
                self.lines.append(event)
                if isinstance(event, Judged):
                    self.verdicts.append(event)
                elif isinstance(event, Silenced) and event.step == "speak":  # what was said so far is no utterance
                    self.speaking, self.words, self.asked = None, "", None
            case Analysed():
                self.scores[event.turn] = event
            case MindChanged():
                self._mind(event)
            case JudgeMindChanged():
                pass  # nobody's need or emotion; it is read from the folder
            case Asked():
                self.asked, self.speaking, self.words = event, None, ""
            case HandRaised():
                (self.hands.add if event.raised else self.hands.discard)(event.agent)
            case Paused() | Continued():
                self.paused = isinstance(event, Paused)
            case TurnEnded():
                self.heard, self.asked = event.turn, None
                self.know({event.turn: event.totals})
            case Stopped():
                self.stopped, self.speaking, self.words, self.asked, self.paused = event, None, "", None, False

    def know(self, totals: dict[int, Totals]) -> None:
        """Take in what was used by the end of turns; what is known is not replaced by what is not."""
        self.totals |= {turn: used for turn, used in totals.items() if used.calls or turn not in self.totals}

    def fail(self, error: str) -> None:
        """The run has failed, with these words."""
        self.revision += 1
        self.error = error
        self.speaking, self.words, self.asked, self.paused = None, "", None, False

    def abandon(self) -> None:
        """Nobody works on the run any more, and it has no end."""
        self.revision += 1
        self.kept = True
        self.speaking, self.words, self.asked, self.paused = None, "", None, False

    def _uttered(self, event: Uttered) -> None:
        self.utterances.append(event)
        self.lines.append(event)
        self.speaking, self.words, self.asked = None, "", None
        self.hands.discard(event.speaker)

    def _mind(self, event: MindChanged) -> None:
        mind = event.record
        if mind.need_to_talk is not None:
            self.needs.setdefault(mind.turn, {})[mind.agent] = mind.need_to_talk
        if mind.emotion:
            self.emotions.setdefault(mind.turn, {})[mind.agent] = dict(mind.emotion)
        if mind.openness is not None:
            self.openness.setdefault(mind.turn, {})[mind.agent] = mind.openness
