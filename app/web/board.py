"""The data of a run that panels show, collected from its events; read from the folder if the run is not live.

Every turn is kept, so that a page can go back: a board is a record that grows. Of minds, it holds what charts need;
the part of the page on minds reads the rest from the run's folder.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from ...models.recording import Row
from ...runs.events import (
    Analysed,
    Asked,
    Continued,
    Event,
    HandRaised,
    Happened,
    Judged,
    JudgeMindChanged,
    MindChanged,
    MindRecord,
    Paused,
    Shortened,
    Silenced,
    Speaking,
    Started,
    Stopped,
    Token,
    TopicChanged,
    Totals,
    TurnEnded,
    Uttered,
    Waiting,
)
from ...runs.folder.manifest import Manifest
from ...runs.folder.parts import UNKNOWN, totals
from ...runs.folder.reading import Record, calls_in, calls_of, past_events, read_run
from ...state.minds.pruning import Pruned

Status = Literal["running", "paused", "asked", "ended", "unfinished"]
"""The state of a run: `asked` waits for a person; `unfinished` has no end and is not running."""

Line = Uttered | Silenced | TopicChanged | Judged | Shortened
"""The lines of the conversation, in order."""

_BESIDE = (HandRaised, Paused, Continued, TopicChanged, Shortened)
"""Events that do not show whether a server answers again."""


class Board:
    """The data of a run, from its events so far.

    Attributes:
        revision: grows with every change; a page draws again when it differs from the drawn one.
        started: its first event; None before it.
        lines: utterances, silences, changes of topic, verdicts and prompts that were shortened, in order.
        utterances: the utterances; number `n` is at index `n - 1`.
        scores: by turn, where analysis is on.
        verdicts: of the judge, in order.
        minds: of participants, by turn and agent, without what they recalled.
        judge_minds: of a persona judge.
        left_out: what the prompt of each utterance lacked, by turn; empty where nothing was to be left out.
        totals: what was used, by turn.
        heard: the last turn that all participants have heard.
        speaking: who is speaking; None if nobody is.
        words: what they have said so far.
        asked: who is being asked, and for what; None if nobody is.
        waits: a model's server that asked for a pause; None if the run waits for none.
        hands: people who have raised a hand.
        paused: whether the run is paused.
        happenings: what happened in a story beside words, in order.
        stopped: its last event; None before it.
        error: the error with which the run failed, before its first event or beside its last; empty if none.
        kept: whether this server does not run it.
        elsewhere: whether another program runs it; checked whenever a page opens the run.
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
        self.minds: dict[int, dict[str, MindRecord]] = {}
        self.judge_minds: list[MindRecord] = []
        self.left_out: dict[int, Pruned] = {}
        self.totals: dict[int, Totals] = {}
        self.heard = 0
        self.speaking: Speaking | None = None
        self.words = ""
        self.asked: Asked | None = None
        self.waits: Waiting | None = None
        self.hands: set[str] = set()
        self.paused = False
        self.happenings: list[Happened] = []
        self.stopped: Stopped | None = None
        self.error = ""

    @property
    def status(self) -> Status:
        """The state of the run."""
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
        """The participants who are people."""
        return list(self.started.people) if self.started else []

    def lines_upto(self, turn: int) -> int:
        """The number of lines up to the end of a turn."""
        return bisect_right(self.lines, turn, key=lambda line: line.turn)

    def totals_at(self, turn: int) -> Totals:
        """Calls, tokens and cost up to the end of the last finished turn that is not after this one."""
        if self.stopped is not None and turn >= self.turn:
            return self.stopped.totals
        return next((self.totals[known] for known in range(turn, -1, -1) if known in self.totals), Totals())

    def felt_by(self, name: str) -> list[tuple[int, Mapping[str, int]]]:
        """What somebody is known to have felt, by turn, in order."""
        known = ((turn, self.minds[turn][name].emotion) for turn in sorted(self.minds) if name in self.minds[turn])
        return [(turn, emotion) for turn, emotion in known if emotion]

    def record(self, manifest: Manifest, turn: int | None = None) -> Record:
        """The run as reports read it, as far as it is.

        Args:
            manifest: how it was set up.
            turn: up to the end of this turn; None for all.
        """
        upto = self.turn if turn is None else turn
        return Record(
            path=Path(),
            manifest=manifest,
            utterances=self.utterances[:upto],
            minds=[mind for at in sorted(self.minds) if at <= upto for mind in self.minds[at].values()],
            judge_minds=[mind for mind in self.judge_minds if mind.turn <= upto],
            verdicts=[one for one in self.verdicts if one.turn <= upto],
            scores=[self.scores[at] for at in sorted(self.scores) if at <= upto and self.scores[at].is_scored],
            silences=[line for line in self.lines if isinstance(line, Silenced) and line.turn <= upto],
            interventions=[],
            notes=[],
            happenings=self.happenings,
        )

    def take(self, event: Event) -> None:
        """Update the data with an event."""
        self.revision += 1
        if not isinstance(event, _BESIDE):
            self.waits = event if isinstance(event, Waiting) else None
        match event:
            case Started():
                self.started = event
            case Speaking():
                self.speaking, self.words, self.asked = event, "", None
            case Token():
                self.words += event.text
            case Uttered():
                self._uttered(event)
            case Silenced() | TopicChanged() | Judged() | Shortened():
                self.lines.append(event)
                if isinstance(event, Judged):
                    self.verdicts.append(event)
                elif isinstance(event, Silenced) and event.step == "speak":
                    self._settle()  # what the speaker has said so far is dropped
            case Happened():
                self.happenings.append(event)
            case Analysed():
                self.scores[event.turn] = event
            case MindChanged():
                mind = event.record.model_copy(update={"recalled": []})
                self.minds.setdefault(mind.turn, {})[mind.agent] = mind
                if mind.pruned is not None:
                    self.left_out[mind.pruned.turn] = mind.pruned
            case JudgeMindChanged():
                self.judge_minds.append(event.record.model_copy(update={"recalled": []}))
            case Asked():
                self.asked, self.speaking, self.words = event, None, ""
                if event.what == "utterance":
                    self.hands.discard(event.agent)  # they have the floor, and may pass
            case HandRaised():
                (self.hands.add if event.raised else self.hands.discard)(event.agent)
            case Paused() | Continued():
                self.paused = isinstance(event, Paused)
            case TurnEnded():
                self.heard, self.asked = event.turn, None
                self.know({event.turn: event.totals})
            case Stopped():
                self.stopped, self.paused = event, False
                self._settle()

    def know(self, totals: dict[int, Totals]) -> None:
        """Add totals by turn; an unknown total never replaces a known one."""
        self.totals |= {turn: used for turn, used in totals.items() if used.calls or turn not in self.totals}

    def fail(self, error: str) -> None:
        """The run has failed with this error."""
        self.revision += 1
        self.error, self.paused = error, False
        self._settle()

    def abandon(self) -> None:
        """The run is no longer running, and has no end."""
        self.revision += 1
        self.kept, self.paused = True, False
        self._settle()

    def _settle(self) -> None:
        """Nobody speaks, nobody is asked, and nothing waits for a server."""
        self.waits = None
        self.speaking, self.words, self.asked = None, "", None

    def _uttered(self, event: Uttered) -> None:
        self.asked = None
        self.utterances.append(event)
        self.lines.append(event)
        self._settle()
        self.hands.discard(event.speaker)


def earlier_totals(folder: Path, turn: int) -> dict[int, Totals]:
    """Totals at the end of each past turn of a resumed run or a branch; blocks."""
    return totals_by_turn(calls_in(folder, []), turn)


def board_of(folder: Path) -> Board:
    """Read a run from its folder; blocks.

    Raises:
        InputError: the folder does not hold a run, or is damaged.
    """
    record = read_run(folder)
    board = Board(kept=True)
    for event in past_events(record):
        board.take(event)
    board.totals = totals_by_turn(calls_of(record), board.turn)
    return board


def totals_by_turn(calls: Iterable[Row], last: int) -> dict[int, Totals]:
    """Totals at the end of each turn, from the journal of calls; unknown if a run has none."""
    used: dict[int, list[dict[str, Any]]] = {}
    for call in calls:
        used.setdefault(min(call.turn or 0, last), []).append(call.model_dump(include=set(Totals.model_fields)))
    found: dict[int, Totals] = {}
    total = Totals()
    for turn in sorted(used):
        total = found[turn] = totals([total.model_dump(), *used[turn]])
    return found or dict.fromkeys(range(last + 1), UNKNOWN)
