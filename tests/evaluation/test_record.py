"""Answers on disk: kept once, cut where they were torn, held while they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluation.judging import run_about
from persimchat.evaluation.record import is_answered, opened
from persimchat.runs.folder.judgements import JUDGEMENTS, RecordedJudgement, answers_in, read_judgements
from persimchat.runs.folder.lock import held


def row(repeat: int = 1, **more: Any) -> RecordedJudgement:
    given = {"dimension": "BEL", "judge": "m", "request": "0123", "repeat": repeat, "score": 7, "reasoning": "So."}
    return RecordedJudgement(**{**given, **more})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / JUDGEMENTS
    with opened(path, RecordedJudgement) as answers:
        answers.add(row())
        answers.add(row())
        answers.add(row(2, score=None, missing="refused", calls=2, cost_usd=0.5))
    assert path.read_text(encoding="utf-8").count("\n") == 2
    assert read_judgements(tmp_path) == [row(), row(2, score=None, missing="refused", calls=2, cost_usd=0.5)]


def test_a_torn_line_is_cut_before_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / JUDGEMENTS
    with opened(path, RecordedJudgement) as answers:
        answers.add(row())
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    notes: list[str] = []
    assert list(answers_in(path, RecordedJudgement, notes).values()) == [row()]
    assert len(notes) == 1
    with opened(path, RecordedJudgement) as answers:
        assert answers.has(row().key)
        answers.add(row(2))
    assert path.read_bytes().startswith(whole + b"{")
    assert read_judgements(tmp_path) == [row(), row(2)]


def test_a_damaged_line_is_named(tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / JUDGEMENTS
    path.write_text('{"dimension": "BEL", "judge": "m", "request": "r", "score": 11}\n', encoding="utf-8")
    refused(lambda: read_judgements(tmp_path), f"{path}, line 1, field score", "11")


def test_a_run_that_is_worked_on_is_left_alone(tmp_path: Path, refused: Callable[..., str]) -> None:
    folder = run_about(tmp_path)

    def write() -> None:
        with opened(folder / JUDGEMENTS, RecordedJudgement):
            raise AssertionError("it was held")

    with held(folder):
        refused(write, "worked on", str(folder))
    assert not (folder / JUDGEMENTS).exists()


def test_too_long_is_looked_for_again_and_all_else_is_not() -> None:
    rows = {one.key: one for one in (row(), row(2, score=None, missing="unparseable"))}
    rows |= {one.key: one for one in (row(3, score=None, missing="too long"),)}
    assert [is_answered(rows, row(n).key) for n in (1, 2, 3, 4)] == [True, True, False, False]
