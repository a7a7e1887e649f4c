"""Requests and embedded texts of a run, read together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from run_folders import write_run

from persimchat.models.recording import Row, as_record
from persimchat.runs.folder.reading import read_answers
from persimchat.runs.kinds import KINDS, EmbeddedText
from persimchat.runs.log import Log


def row(turn: int = 1, said: str | None = "Hm \ud800 李雷\u2028", **more: Any) -> Row:
    known = {
        "turn": turn, "agent": "Ada Lind", "module": "action", "model": "offline", "n": 0, "prompt": "0" * 16,
        "seconds": 0.1 + 0.2, "input_tokens": 7, "output_tokens": 3, "estimated": True, "cost_usd": 0.0,
        "failed": None if said else "no answer", "answer": as_record(AIMessage(said)) if said else None,
    }  # fmt: skip
    return Row(**{**known, **more})


def test_answers_and_embeddings_of_a_run_are_read_together(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    with Log(folder / "run.sqlite", KINDS) as log:
        log.append([row(1, "old"), row(1, "new"), EmbeddedText(text="a" * 16, vector="AAAAAA==")])
    answers = read_answers(folder)
    found = answers.find((1, "Ada Lind", "action", 0), "0" * 16)
    assert found and found.row.answer and found.row.answer["content"] == "new"
    assert answers.vectors == {"a" * 16: "AAAAAA=="}
