"""The tables of what was left out of prompts, and of damaged records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from pruned_lines import pruned
from run_files import read_table
from run_folders import (
    MARKER,
    PEOPLE,
    mind,
    write_run,
    write_story,
)
from runs.test_export import STORY

from persimchat.reports.export import export_runs

PRUNING = ("pruning", "pruning_checks")


BASIC = "basic_information"


CHECKS = [
    {"scores": [7, 8, 6], "comment": "=It denies the hives.", "taken": False},
    {"scores": [], "comment": "", "taken": True},
]


def folder(out: Path, **more: Any) -> Path:
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE if (turn, name) != (2, PEOPLE[1])]
    return write_run(out, None, [*minds, mind(2, PEOPLE[1], pruned=pruned(2, 0.5, checks=CHECKS, **more))])


def test_one_row_an_item_and_turn(tmp_path: Path) -> None:
    done = export_runs([folder(tmp_path / "runs")], tmp_path / "out")
    found = read_table(done.files["pruning"])
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
    assert {row["text"][:3] for row in read_table(done.files["pruning"])} == {"'- "}
    assert read_table(done.files["pruning_checks"])[0]["comment"] == "'=It denies the hives."


def test_one_row_a_checked_wording(tmp_path: Path) -> None:
    found = read_table(export_runs([folder(tmp_path / "runs")], tmp_path / "out").files["pruning_checks"])
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


def test_no_participant_has_seen_them(tmp_path: Path, refused: Refused) -> None:
    done = export_runs([folder(tmp_path / "runs")], tmp_path / "out", eyes=PEOPLE[1])
    assert not set(PRUNING) & done.files.keys()
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
def test_a_damaged_record_is_named(tmp_path: Path, refused: Refused, record: Any, field: str) -> None:
    path = write_run(tmp_path / "runs", None, [mind(2, PEOPLE[1], pruned=record)])
    refused(lambda: export_runs([path], tmp_path / "out"), "run.sqlite, event", f"record.{field}")


# The tables of stories in an export: rooms, standings, closeness, beliefs, ballots; all of them, or some


ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"


def some(path: Path, *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[column] for column in columns) for row in read_table(path)]


def test_each_table_has_one_value_a_row(tmp_path: Path) -> None:
    files = export_runs([write_story(tmp_path / "runs")], tmp_path / "out").files
    assert set(STORY) <= files.keys()
    assert some(files["rooms"], "room", "host", "others", "public", "chosen_by", "utterances") == [
        ("1.1.1", BO, f'["{CY}"]', "false", "", "2")
    ]
    assert some(files["standings"], "round", "agent", "main", "supports", "before", "influence", "review")[-2:] == [
        ("1", BO, "true", "", "", "20", "It served me."),
        ("1", CY, "false", BO, "", "20", ""),
    ]
    assert some(files["closeness"], "round", "agent", "other", "closeness", "change")[-4:] == [
        ("1", BO, ADA, "10", "-3"), ("1", BO, CY, "10", "2"), ("1", CY, ADA, "10", ""), ("1", CY, BO, "24", "")
    ]  # fmt: skip
    assert some(files["beliefs"], "round", "agent", "belief", "text", "favours", "score", "change", "strongest") == [
        ("0", BO, "1", "I should lead.", BO, "60", "", "true"),
        ("0", BO, "2", "Ada should.", ADA, "10", "", "false"),
        ("1", BO, "1", "I should lead.", BO, "55", "-5", "true"),
        ("1", BO, "2", "Ada should.", ADA, "11", "1", "false"),
    ]
    assert some(files["ballots"], "agent", "ballot", "choice", "own", "won", "text") == [
        (ADA, "guess", BO, "false", "true", "He is strong."),
        (ADA, "open", ADA, "true", "false", "'=1+1"),
        (BO, "open", BO, "true", "true", "Me."),
        (ADA, "closed", BO, "false", "true", "Him."),
    ]
    chosen = some(files["happenings"], "do", "agent", "chosen_by")
    assert [row for row in chosen if row[2]] == [("choice", ADA, "branch")]


@pytest.mark.proof
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


def test_only_some_tables(tmp_path: Path, refused: Refused) -> None:
    folder = write_story(tmp_path / "runs")
    done = export_runs([folder], tmp_path / "out", tables=["rooms", "ballots"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ballots.csv", "codebook.md", "rooms.csv"]
    assert "Tables of 1 run, made" in done.codebook.read_text(encoding="utf-8")
    wrong: dict[str, Any] = {"out": tmp_path / "no", "tables": ["balots"]}
    refused(lambda: export_runs([folder], **wrong), "no table 'balots'", "--tables", "ballots")
    refused(lambda: export_runs([folder], tmp_path / "no", tables=["calls"], eyes="Cy"), "no participant has seen")
    assert not (tmp_path / "no").exists()
