"""Answers of no use and answers put right, where a run is looked at."""

from __future__ import annotations

from pathlib import Path

from run_folders import PEOPLE, mind, write_run

from persimchat.app.web.board import Board
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export_rows import rows_of
from persimchat.runs.reports.summary import summarise
from persimchat.runs.reports.words import came_out

COUNTS = {"emotion": {"asked": 15, "valid": 9, "again": 2, "corrected": 3, "failed": 1}}


def test_they_are_counted_everywhere(tmp_path: Path) -> None:
    minds = [mind(0, PEOPLE[0], failed=["emotion"], corrected=["need_to_talk", "openness"]), mind(0, PEOPLE[1])]
    folder = write_run(tmp_path, minds=minds, judgements=COUNTS)
    summary = summarise(read_run(folder))
    assert came_out(summary.judgements, "failed") == "emotion 1 of 15"
    assert came_out(summary.judgements, "corrected") == "emotion 3 of 15"
    rows = list(rows_of(read_run(folder, whole=True)))
    run = next(row for table, row in rows if table == "runs").model_dump()
    assert [run[f"judgements{of}"] for of in ("", "_first_try", "_corrected", "_failed")] == [15, 9, 3, 1]
    told = [row.model_dump() for table, row in rows if table == "minds"]
    assert [(row["failed"], row["corrected"]) for row in told] == [
        (["emotion"], ["need_to_talk", "openness"]),
        ([], []),
    ]
    board = Board(kept=True)
    for event in past_events(read_run(folder)):
        board.take(event)
    assert (board.failed, board.corrected) == ({0: ["emotion"]}, {0: ["need_to_talk", "openness"]})
