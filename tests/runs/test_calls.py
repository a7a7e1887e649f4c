"""Requests on disk: written one by one, read back, torn and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from run_folders import write_run

from persimchat.models.recording import Row, as_record
from persimchat.runs.folder.jsonl import (
    CALLS,
    EMBEDDINGS,
    CallsFile,
    calls_in,
)
from persimchat.runs.folder.reading import read_answers
from persimchat.runs.kinds import KINDS, EmbeddedText
from persimchat.runs.log import Log
from persimchat.state.errors import InputError, MachineError


def row(turn: int = 1, said: str | None = "Hm \ud800 李雷\u2028", **more: Any) -> Row:
    known = {
        "turn": turn, "agent": "Ada Lind", "module": "action", "model": "offline", "n": 0, "prompt": "0" * 16,
        "seconds": 0.1 + 0.2, "input_tokens": 7, "output_tokens": 3, "estimated": True, "cost_usd": 0.0,
        "failed": None if said else "no answer", "answer": as_record(AIMessage(said)) if said else None,
    }  # fmt: skip
    return Row(**{**known, **more})


def list_of(folder: Path) -> list[Row]:
    return list(calls_in(folder))


def written(folder: Path, rows: list[Row]) -> None:
    file = CallsFile(folder)
    for one in rows:
        file.call(one)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    rows = [row(1), row(2, None), row(3, cost_usd=None), row(4, cost_usd=0)]
    written(tmp_path, rows[:2])
    written(tmp_path, rows[2:])
    assert list_of(tmp_path) == rows == list(calls_in(tmp_path))
    assert (tmp_path / CALLS).read_bytes().count(b"\n") == 4
    assert not (tmp_path / EMBEDDINGS).exists()


def test_every_line_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    file = CallsFile(tmp_path)
    for turn in (1, 2):
        file.call(row(turn))
        assert len(list_of(tmp_path)) == turn


def test_a_row_is_a_line_of_the_analysts_table(tmp_path: Path) -> None:
    written(tmp_path, [row(5)])
    line = json.loads((tmp_path / CALLS).read_text())
    assert Row.model_validate(line).seconds == pytest.approx(0.3)


def test_no_file_is_no_calls(tmp_path: Path) -> None:
    assert list_of(tmp_path) == []


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.integers(1, 400))
def test_a_file_torn_anywhere_loses_its_last_line_only_and_goes_on(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], back: int
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    written(folder, [row(turn, text) for turn, text in enumerate(said)])
    data = (folder / CALLS).read_bytes()
    torn = data[: max(0, len(data) - back)]
    whole = torn.count(b"\n")
    (folder / CALLS).write_bytes(torn)
    before = list_of(folder)
    assert len(before) - whole in (0, 1)
    written(folder, [row(99)])
    assert [r.turn for r in list_of(folder)] == [*(r.turn for r in before), 99]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"turn": 1, "age', "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("[1]", "valid dictionary"),
        ('{"turn": 1}', "field agent"),
        (json.dumps(row(1).line() | {"turn": "x\x1b[31m"}), "valid integer"),
        (json.dumps(row(1).line() | {"answer": 5}), "field answer"),
        (json.dumps(row(1).line() | {"answer": {"content": "Hm", "usage_metadata": [None]}}), "field answer"),
        (json.dumps(row(1).line() | {"input_tokens": -1}), "field input_tokens"),
        (json.dumps(row(1).line() | {"input_tokens": 10**30}), "this is not JSON"),
    ],
)
def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, line: str, words: str) -> None:
    good = json.dumps(row(1).line())
    (tmp_path / CALLS).write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(InputError, match=r"calls\.jsonl, line 2") as caught:
        list_of(tmp_path)
    assert words in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_answers_and_embeddings_of_a_run_are_read_together(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    with Log(folder / "run.sqlite", KINDS) as log:
        log.append([row(1, "old"), row(1, "new"), EmbeddedText(text="a" * 16, vector="AAAAAA==")])
    answers = read_answers(folder)
    found = answers.find((1, "Ada Lind", "action", 0), "0" * 16)
    assert found and found.row.answer and found.row.answer["content"] == "new"
    assert answers.vectors == {"a" * 16: "AAAAAA=="}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / CALLS).mkdir()
    with pytest.raises(MachineError, match=r"cannot be (written|read).*calls\.jsonl"):
        CallsFile(tmp_path)
    with pytest.raises(InputError, match=r"cannot be read.*calls\.jsonl"):
        list_of(tmp_path)


def test_a_full_disk_stops_the_run(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full on this system")
    file = CallsFile(tmp_path)
    (tmp_path / CALLS).symlink_to("/dev/full")
    with pytest.raises(MachineError, match="cannot be written"):
        file.call(row())
