"""Who stands where at a turn, what everybody feels, and who moves whom: pure functions of a run's board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from persimchat.app.web.board import Board
from persimchat.runs.events import Silenced
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.stances import Position, ledger
from persimchat.state.emotion import EMOTIONS


@dataclass(frozen=True)
class Stand:
    """Where a participant of a debate stands.

    Attributes:
        words: the position, as the judge worded it last; empty if there is none.
        answer: the position in the debate's form of answer; empty if it has none or is not clear.
    """

    words: str = ""
    answer: str = ""


def stands(board: Board, turn: int) -> dict[str, Stand]:
    """Where participants stand at a turn, by name, as the last verdict says, or their own answers in rounds."""
    found = {one.speaker: Stand(answer=one.answer) for one in board.utterances[:turn] if one.answer}
    for verdict in board.verdicts:
        if verdict.turn <= turn:
            found |= {one.agent: Stand(one.position, one.answer or "") for one in verdict.positions}
    return found


def turned(board: Board, folder: Path, manifest: Manifest, turn: int) -> list[Position]:
    """The rows of the ledger in which somebody changed sides, by what was known at a turn; in order of turns.

    Args:
        board: the run.
        folder: the run's.
        manifest: the run's.
        turn: up to this one.
    """
    silences = [one for one in board.lines if isinstance(one, Silenced) and one.turn <= turn]
    verdicts = [one for one in board.verdicts if one.turn <= turn]
    record = Record(folder, manifest, board.utterances[:turn], [], [], verdicts, [], silences, [], None, [])
    return sorted((row for row in ledger(record, ("verdicts", "answers")) if row.moved), key=lambda row: row.turn)


def felt(board: Board, name: str, turn: int) -> list[tuple[str, int, int]]:
    """What somebody feels at a turn: the emotions above 0, the strongest first, with their changes since the last turn.

    Empty if nothing is felt, or if it is not known.
    """
    known = [at for at in sorted(board.emotions) if at <= turn and name in board.emotions[at]]
    if not known:
        return []
    now = board.emotions[known[-1]][name]
    before = board.emotions[known[-2]][name] if len(known) > 1 else now
    levels = [(one, now.get(one, 0), now.get(one, 0) - before.get(one, 0)) for one in EMOTIONS if now.get(one, 0)]
    return sorted(levels, key=lambda one: -one[1])


@dataclass(frozen=True)
class Stirring:
    """How much somebody's words change what somebody else feels.

    Attributes:
        speaker: whose words.
        listener: whose feelings.
        points: the change of all six emotions together, for each message that was heard.
        messages: how many those are.
    """

    speaker: str
    listener: str
    points: float
    messages: int


def stirred(board: Board, turn: int) -> list[Stirring]:
    """After whose words whose feelings changed, up to a turn, the most first; pairs without a change are left out."""
    changes: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    last: dict[str, Mapping[str, int]] = dict(board.emotions.get(0, {}))
    for said in board.utterances[:turn]:
        for name, now in board.emotions.get(said.turn, {}).items():
            before = last.get(name)
            last[name] = now
            hears = said.heard_by is None or name in said.heard_by
            if before is not None and hears and name != said.speaker:
                changes[said.speaker, name].append(sum(abs(now.get(one, 0) - before.get(one, 0)) for one in EMOTIONS))
    found = [Stirring(*pair, sum(points) / len(points), len(points)) for pair, points in changes.items() if any(points)]
    return sorted(found, key=lambda one: (-one.points, one.speaker, one.listener))
