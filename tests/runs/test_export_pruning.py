"""The tables of what utterances were worded without: pieces of information with their scores, and checks."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pruned_lines import pruned
from run_folders import PEOPLE, mind, write_run

from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.export_pruning import TABLES

BASIC = "basic_information"
CHECKS = [
    {"scores": [7, 8, 6], "comment": "=It denies the hives.", "taken": False},
    {"scores": [], "comment": "", "taken": True},
]


def folder(out: Path, **more: Any) -> Path:
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE if (turn, name) != (2, PEOPLE[1])]
    return write_run(out, None, [*minds, mind(2, PEOPLE[1], pruned=pruned(2, 0.5, checks=CHECKS, **more))])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_an_item_and_turn(tmp_path: Path) -> None:
    done = export_runs([folder(tmp_path / "runs")], tmp_path / "out")
    found = rows(done.files["pruning"])
    names = ("turn", "agent", "lambda", "method", "place", "block", "kind", "item", "words", "score", "removed")
    assert [tuple(row[name] for name in names) for row in found][:2] == [
        ("2", PEOPLE[1], "0.5", "embedding", "1", BASIC, "description", "description:1", "5", "0.5", "true"),
        ("2", PEOPLE[1], "0.5", "embedding", "2", BASIC, "trait", "trait:1", "3", "0.1", "false"),
    ]
    assert [row["place"] for row in found] == ["1", "2", "3", "4", "5"]
    text = done.codebook.read_text(encoding="utf-8")
    assert "| `lambda` | number | share | 0–1 |" in text
    assert "## pruning_checks" in text


def test_what_a_spreadsheet_would_run_is_guarded(tmp_path: Path) -> None:
    done = export_runs([folder(tmp_path / "runs")], tmp_path / "out")
    assert {row["text"][:3] for row in rows(done.files["pruning"])} == {"'- "}
    assert rows(done.files["pruning_checks"])[0]["comment"] == "'=It denies the hives."


def test_one_row_a_checked_wording(tmp_path: Path) -> None:
    found = rows(export_runs([folder(tmp_path / "runs")], tmp_path / "out").files["pruning_checks"])
    assert [(row["wording"], row["scores"], row["mean_score"], row["taken"]) for row in found] == [
        ("1", "[7, 8, 6]", "7.0", "false"),
        ("2", "[]", "", "true"),
    ]


@pytest.mark.parametrize("form", ["jsonl", "md", "html", "parquet"])
def test_every_format_has_them(tmp_path: Path, form: str) -> None:
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    path = export_runs([folder(tmp_path / "runs")], tmp_path / "out", form).files["pruning"]
    if form == "parquet":
        assert parquet.read_table(path)["lambda"].to_pylist() == [0.5] * 5
    elif form == "jsonl":
        assert {json.loads(line)["lambda"] for line in path.read_text(encoding="utf-8").splitlines()} == {0.5}
    else:
        assert "lambda" in path.read_text(encoding="utf-8")


def test_a_run_without_pruning_has_none_of_them(tmp_path: Path) -> None:
    assert not set(TABLES) & export_runs([write_run(tmp_path / "runs")], tmp_path / "out").files.keys()


def test_no_participant_has_seen_them(tmp_path: Path, refused: Callable[..., str]) -> None:
    done = export_runs([folder(tmp_path / "runs")], tmp_path / "out", eyes=PEOPLE[1])
    assert not set(TABLES) & done.files.keys()
    wanted: dict[str, Any] = {"eyes": PEOPLE[1], "tables": ["pruning"]}
    refused(
        lambda: export_runs([tmp_path / "runs"], tmp_path / "no", **wanted),
        "no participant has seen what is in the table pruning",
    )


DAMAGED = [
    ("nothing of the kind", "pruned"),
    ({**pruned(2), "units": None}, "pruned.units"),
    ({**pruned(2), "lambda": "high"}, "pruned.lambda"),
    ({**pruned(2), "items": [{"block": "memories"}]}, "pruned.items.0"),
    ({**pruned(2), "items": 3}, "pruned.items"),
    ({**pruned(2), "words_removed": -4}, "pruned.words_removed"),
    ({**pruned(2), "share": 5}, "pruned.share"),
    ({**pruned(2), "checks": [{"scores": [99], "taken": True}]}, "pruned.checks.0.scores"),
]


@pytest.mark.parametrize(("record", "field"), DAMAGED)
def test_a_damaged_record_is_named(tmp_path: Path, refused: Callable[..., str], record: Any, field: str) -> None:
    path = write_run(tmp_path / "runs", None, [mind(2, PEOPLE[1], pruned=record)])
    refused(lambda: export_runs([path], tmp_path / "out"), "minds.jsonl", "line 1", field)
