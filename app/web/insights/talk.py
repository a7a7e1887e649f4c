"""The data of a run's charts on its page, from what the page already holds of the run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from persimchat.app.web.board import Board
from persimchat.models.naming import OFFLINE
from persimchat.runs.events import Silenced
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import Record
from persimchat.runs.reports.charts.scales import Point
from persimchat.runs.reports.charts.talk import Talk, shown_positions
from persimchat.runs.reports.report_people import people
from persimchat.runs.reports.stances import Position, ledger

_SOURCES = ("supports", "verdicts", "answers")
"""Where positions come from while a run goes on; polls are held afterwards."""


def positions(board: Board, manifest: Manifest) -> list[Position]:
    """Who held what so far, by the same ledger as in the report; minds are not asked for what was recalled."""
    record = Record(
        path=Path(),
        manifest=manifest,
        utterances=board.utterances,
        minds=[],
        judge_minds=[],
        verdicts=board.verdicts,
        scores=[],
        silences=[line for line in board.lines if isinstance(line, Silenced)],
        interventions=[],
        calls=None,
        notes=[],
        happenings=board.happenings,
    )
    return shown_positions(ledger(record, _SOURCES))


def talk(board: Board, manifest: Manifest) -> Talk:
    """The data of a run's charts, as far as it is."""
    started = board.started
    models = started.models if started is not None else {}
    return Talk(
        people=people(board.participants, dict.fromkeys(board.people, "person")),
        last=board.turn,
        speakers={said.turn: said.speaker for said in board.utterances},
        needs=_courses(board.needs, board.participants),
        openness=_courses(board.openness, board.participants),
        felt={
            name: [
                (turn, board.emotions[turn][name]) for turn in sorted(board.emotions) if name in board.emotions[turn]
            ]
            for name in board.participants
        },
        verdicts=board.verdicts,
        scores=[board.scores[turn] for turn in sorted(board.scores)],
        response_times=[
            (said.turn, said.took_s, said.speaker)
            for said in board.utterances
            if said.took_s is not None and models.get(said.speaker) != OFFLINE
        ],
        left_out=[
            (said.turn, sum(block.words_removed for block in board.left_out[said.turn]), said.speaker)
            for said in board.utterances
            if said.turn in board.left_out
        ],
        positions=positions(board, manifest),
    )


def _courses(levels: Mapping[int, Mapping[str, int]], names: list[str]) -> dict[str, list[Point]]:
    """Each agent's levels in order of turns."""
    turns = sorted(levels)
    return {name: [(turn, levels[turn][name]) for turn in turns if name in levels[turn]] for name in names}
