"""The tables of stories in an export: rooms, standings, closeness, beliefs, ballots; all of them, or some."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_folders import MARKER, write_run, write_story

from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.export_story import TABLES

ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"


def rows(path: Path, *columns: str) -> list[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row[column] for column in columns) for row in csv.DictReader(file)]


def test_each_table_has_one_value_a_row(tmp_path: Path) -> None:
    files = export_runs([write_story(tmp_path / "runs")], tmp_path / "out").files
    assert set(TABLES) <= files.keys()
    assert rows(files["rooms"], "room", "host", "others", "public", "chosen_by", "utterances") == [
        ("1.1.1", BO, f'["{CY}"]', "false", "", "2")
    ]
    assert rows(files["standings"], "round", "agent", "main", "supports", "before", "influence", "review")[-2:] == [
        ("1", BO, "true", "", "", "20", "It served me."),
        ("1", CY, "false", BO, "", "20", ""),
    ]
    assert rows(files["closeness"], "round", "agent", "other", "closeness", "change")[-4:] == [
        ("1", BO, ADA, "10", "-3"), ("1", BO, CY, "10", "2"), ("1", CY, ADA, "10", ""), ("1", CY, BO, "24", "")
    ]  # fmt: skip
    assert rows(files["beliefs"], "round", "agent", "belief", "text", "favours", "score", "change", "strongest") == [
        ("0", BO, "1", "I should lead.", BO, "60", "", "true"),
        ("0", BO, "2", "Ada should.", ADA, "10", "", "false"),
        ("1", BO, "1", "I should lead.", BO, "55", "-5", "true"),
        ("1", BO, "2", "Ada should.", ADA, "11", "1", "false"),
    ]
    assert rows(files["ballots"], "agent", "ballot", "choice", "own", "won", "text") == [
        (ADA, "guess", BO, "false", "true", "He is strong."),
        (ADA, "open", ADA, "true", "false", "'=1+1"),
        (BO, "open", BO, "true", "true", "Me."),
        (ADA, "closed", BO, "false", "true", "Him."),
    ]
    chosen = rows(files["happenings"], "do", "agent", "chosen_by")
    assert [row for row in chosen if row[2]] == [("choice", ADA, "branch")]


def test_a_run_without_a_story_has_none_of_them(tmp_path: Path) -> None:
    assert not set(TABLES) & export_runs([write_run(tmp_path / "runs")], tmp_path / "out").files.keys()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "html", "md"])
def test_a_character_s_export_has_only_its_own_story(tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = write_story(tmp_path / "runs")
    for name, knows in ((ADA, "It did not serve me"), (BO, "Stand with me"), (CY, "Bo wants me")):
        done = export_runs([folder], tmp_path / name, form, eyes=name)
        assert {"happenings", "standings", "closeness"} <= done.files.keys()
        text = b"".join(path.read_bytes() for path in (tmp_path / name).iterdir())
        assert knows.encode() in text
        others = {"It did not serve me": ADA, "Bo wants me": CY, "It served me": BO, "He is strong": ADA}
        assert [words for words, owner in others.items() if words.encode() in text and owner != name] == []
    (tmp_path / ADA).rename(tmp_path / "ada")
    done = export_runs([folder], tmp_path / "none", form, eyes="Ada")
    assert "rooms" not in done.files, "she met nobody, and knows of no meeting"
    assert MARKER.encode() not in done.files["utterances"].read_bytes()


def test_only_some_tables(tmp_path: Path, refused: Callable[..., str]) -> None:
    folder = write_story(tmp_path / "runs")
    done = export_runs([folder], tmp_path / "out", tables=["rooms", "ballots"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ballots.csv", "codebook.md", "rooms.csv"]
    assert "Tables of 1 run, made" in done.codebook.read_text(encoding="utf-8")
    wrong: dict[str, Any] = {"out": tmp_path / "no", "tables": ["balots"]}
    refused(lambda: export_runs([folder], **wrong), "no table 'balots'", "--tables", "ballots")
    refused(lambda: export_runs([folder], tmp_path / "no", tables=["calls"], eyes="Cy"), "no participant has seen")
    assert not (tmp_path / "no").exists()
