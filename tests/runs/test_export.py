"""Exports: whole or not at all, the same bytes for the same runs; for one participant, of stories, of pruning."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from offenders import check_each
from run_files import read_records, read_table
from run_folders import (
    HOSTILE,
    MARKER,
    PEOPLE,
    break_seals,
    call,
    mind,
    put,
    recalled,
    score,
    utterance,
    write_debate,
    write_run,
    write_steered,
)

from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports import export, tables
from persimchat.reports.export import export_runs
from persimchat.reports.export_tables import RARE, SEEN, TABLES
from persimchat.reports.tables import as_json, guarded, markdown
from persimchat.runs.control import Control
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

# Exports: whole or not at all, every row there, the same bytes for the same runs


RECALLED = recalled("Tea?")


ALWAYS = [table for table in TABLES if table not in RARE]


def bytes_of(path: Path) -> bytes:
    """What is in a file; of a workbook, unpacked."""
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as book:
        return b"".join(map(book.read, book.namelist()))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_many_runs_become_one_table(tmp_path: Path) -> None:
    talk = write_run(tmp_path / "runs", run="talk")
    debate = write_debate(tmp_path / "runs", 9, run="debate")
    done = export_runs([talk, debate], tmp_path / "out")
    counts = {"runs": 2, "utterances": 12, "minds": 42, "verdicts": 7, "positions": 21, "scores": 9}
    assert {table: done.counts[table] for table in counts} == counts
    assert {table: len(read_table(path)) for table, path in done.files.items()} == done.counts
    said = read_table(done.files["utterances"])
    assert [row["run"] for row in said] == ["talk"] * 3 + ["debate"] * 9
    assert {(row["run"], row["mode"], row["seed"]) for row in said} == {
        ("talk", "discussion", "7"),
        ("debate", "debate", "7"),
    }
    assert [row["turn"] for row in said[3:]] == [str(turn) for turn in range(1, 10)]


def test_values_are_those_of_the_run(tmp_path: Path) -> None:
    needs = dict(zip(PEOPLE, (7, 2, 3), strict=True))
    said = [utterance(1, PEOPLE[0], "One, two.", need_to_talk=needs, confidence=0.5, corrections=["still_repeats"])]
    percept = {"theme": "Counting", "keywords": ["one"], "importance": 4}
    plan = {"theme": "Count on"}
    heard = mind(
        1, PEOPLE[1], percept=percept, recalled=[RECALLED], plan=plan, openness=3, focal_points=["Why?", "How?"]
    )
    asked = call(1, "", "judge", model="m", estimated=True, cost_usd=None)
    folder = write_run(tmp_path, said, [heard], scores=[score(1, PEOPLE[0])], more={"asked_model": [asked]})
    put(folder, "judge_mind", [mind(1, "Judge", need_to_talk=None)])
    out = export_runs([folder], tmp_path / "out", "jsonl").files
    (row,) = read_records(out["utterances"])
    assert (row["text"], row["words"], row["need_to_talk"], row["happiness"]) == ("One, two.", 2, 7, 3)
    assert row["needs_to_talk"] == needs
    assert (row["corrections"], row["confidence"], row["answer"]) == (["still_repeats"], 0.5, None)
    one, judge = read_records(out["minds"])
    assert (one["percept_theme"], one["plan"], one["recalled"], one["role"]) == (
        "Counting",
        "Count on",
        1,
        "participant",
    )
    assert (one["need_reasoning"], one["openness"], one["did"]) == ("I might.", 3, None)
    assert (judge["agent"], judge["role"], judge["need_to_talk"]) == ("Judge", "judge", None)
    (memory,) = read_records(out["memories"])
    assert (memory["memory"], memory["rank"], memory["made"], memory["turn"], memory["score"]) == ("m1", 1, 0, 1, 2.5)
    (used,) = read_records(out["calls"])
    assert (used["module"], used["called_model"], used["model"], used["agent"]) == ("judge", "m", "offline", None)
    assert (used["calls"], used["cost_usd"], used["estimated"]) == (1, None, True)
    assert (used["kind"], used["turn"], used["n"], used["seconds"]) == ("request", 1, 0, 0.25)
    (scored,) = read_records(out["scores"])
    assert (scored["coherence"], scored["reasoning"]) == (5.0, "It answers.")


@pytest.mark.proof
def test_a_real_run_is_exported_whole(tmp_path: Path) -> None:
    import persimchat

    result = persimchat.simulate("Tea or coffee?", 3, model="offline", max_messages=4, out=tmp_path)
    done = export_runs([Path(result.folder or "")], tmp_path / "out")
    assert [row["text"] for row in read_table(done.files["utterances"])] == [said.text for said in result.utterances]
    recalled = sum(len(record.recalled) for record in result.minds)
    assert (done.counts["minds"], done.counts["memories"]) == (len(result.minds), recalled)
    assert recalled > 0
    assert sum(int(row["calls"]) for row in read_table(done.files["calls"])) == result.totals.calls
    assert done.notes == []


@pytest.mark.proof
@pytest.mark.parametrize("form", ["csv", "jsonl", "md", "html"])
def test_the_same_runs_give_the_same_bytes(tmp_path: Path, form: str) -> None:
    folder = write_debate(tmp_path, 5)
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        export_runs([folder], out, form)
    assert files(one) == files(two)
    assert sorted(files(one)) == sorted([*(f"{table}.{form}" for table in ALWAYS), "codebook.md"])


# What people wrote is data


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "-1"),
        ("-0.25", "-0.25"),
        ("-1+1", "'-1+1"),
        ("--1", "'--1"),
        (" -1", "' -1"),
        ("-1\n", "'-1\n"),
        ("-\u0663", "'-\u0663"),
        ("@A1", "'@A1"),
        (" \n=1", "' \n=1"),
        ("＝1", "'＝1"),
        ("'=1", "''=1"),
        ("'Tis", "'Tis"),
        ("a=1", "a=1"),
    ],
)
def test_a_spreadsheet_runs_nothing(text: str, shown: str) -> None:
    assert guarded(text) == shown


def test_numbers_are_not_guarded() -> None:
    assert [guarded(value) for value in (-1, -0.5, True, None, ["=1"])] == ["-1", "-0.5", "true", "", '["=1"]']


@given(st.text(alphabet="'=+-@＝a \n"))
def test_the_codebook_says_how_to_undo_it(text: str) -> None:
    undo = re.search(r"matches `(\^.*?\))`", export._FORMS["csv"])
    assert undo is not None
    shown = guarded(text)
    assert (shown[1:] if re.match(undo[1], shown) else shown) == text


@pytest.mark.parametrize("form", ["csv", "jsonl", "md", "html"])
def test_hostile_text_stays_text(tmp_path: Path, form: str) -> None:
    nasty = f'={HOSTILE}|\n"x",\r\n`y`\x00\ud800'
    speaker = "=cmd|' /C calc'!A0"
    folder = write_run(tmp_path, [utterance(1, speaker, "x")], [])
    put(folder, "utterance", [utterance(1, speaker, nasty)])
    done = export_runs([folder], tmp_path / "out", form)
    written = done.files["utterances"].read_text(encoding="utf-8")
    assert not {"\x1b", "\u202e", "\x00"} & set(written)
    if form == "csv":
        (row,) = read_table(done.files["utterances"])
        assert row["text"].startswith("'=</script>")
        assert row["speaker"] == f"'{speaker}"
    elif form == "jsonl":
        assert read_records(done.files["utterances"])[0]["speaker"] == speaker
    elif form == "md":
        assert len(written.splitlines()) == 3
        assert "\\<script\\>" in written
    else:
        assert "<script" not in written
        assert "<img" not in written
        assert "&lt;script&gt;" in written


def test_markdown_cannot_be_broken_out_of() -> None:
    assert markdown("a|b\n*c* &lt;") == "a\\|b<br>\\*c\\* &amp;lt;"


@pytest.mark.proof
def test_the_byte_order_mark_is_there_only_where_it_is_wanted(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    with_mark = export_runs([folder], tmp_path / "a", bom=True).files["utterances"].read_bytes()
    without = export_runs([folder], tmp_path / "b").files["utterances"].read_bytes()
    assert with_mark == b"\xef\xbb\xbf" + without
    assert without.startswith(b"run,")


# Whole or not at all


def test_nothing_is_written_where_one_run_is_damaged(tmp_path: Path, refused: Refused) -> None:
    good, bad = write_run(tmp_path / "runs", run="good"), write_run(tmp_path / "runs", run="bad")
    put(bad, "mind", [{"turn": 1, "agent": "A", "recalled": [{"id": 5}]}])
    refused(lambda: export_runs([good, bad], tmp_path / "a/b"), "run.sqlite, event", "field record.recalled.0")
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_what_is_there_is_replaced_only_when_asked(tmp_path: Path, refused: Refused) -> None:
    folder, out = write_run(tmp_path / "runs"), tmp_path / "out"
    out.mkdir()
    (out / "minds.csv").write_text("mine")
    (out / "notes.txt").write_text("mine too")
    refused(lambda: export_runs([folder], out), "minds.csv", "--force")
    assert files(out) == {"minds.csv": b"mine", "notes.txt": b"mine too"}
    export_runs([folder], out, force=True)
    assert (out / "minds.csv").read_text().startswith("run,")
    assert (out / "notes.txt").read_text() == "mine too"
    assert len(files(out)) == len(ALWAYS) + 2


def test_where_a_file_cannot_take_its_place_all_is_as_before(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = write_run(tmp_path / "runs"), tmp_path / "out"
    out.mkdir()
    (out / "runs.csv").write_text("mine")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "memories.csv":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    refused(lambda: export_runs([folder], out, force=True), "No space left", str(out))
    refused(lambda: export_runs([folder], tmp_path / "new/deep"), "No space left")
    assert files(out) == {"runs.csv": b"mine"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "runs"]


def test_places_that_will_not_do(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path / "runs")
    (tmp_path / "file").write_text("")
    refused(lambda: export_runs([folder], tmp_path / "file"), "a file, not a folder")
    refused(lambda: export_runs([folder], tmp_path / "file/x"), "file/x")
    (tmp_path / "out/runs.csv").mkdir(parents=True)
    refused(lambda: export_runs([folder], tmp_path / "out", force=True), "runs.csv")


def test_a_run_given_twice(tmp_path: Path, refused: Refused) -> None:
    one = write_run(tmp_path / "a", run="same")
    two = write_run(tmp_path / "b", run="same")
    refused(lambda: export_runs([one, two], tmp_path / "out"), "same is given twice")


def test_a_killed_run_is_exported_and_noted(tmp_path: Path) -> None:
    folder = write_run(tmp_path, stop_reason=None, ended=None, usage={})
    done = export_runs([folder], tmp_path / "out")
    assert (done.counts["utterances"], done.counts["minds"], done.counts["calls"]) == (3, 12, 0)
    assert len(done.notes) == 1
    assert "## What is missing" in done.codebook.read_text(encoding="utf-8")
    assert read_table(done.files["runs"])[0]["cost_usd"] == ""


def test_a_folder_of_the_first_version_has_no_invented_values(tmp_path: Path) -> None:
    old = {"turn": 1, "speaker": "A", "text": "Yes."}
    (row,) = read_records(export_runs([write_run(tmp_path, [old], [])], tmp_path / "out", "jsonl").files["utterances"])
    unknown = (
        "happiness",
        "need_to_talk",
        "response_time_s",
        "input_tokens",
        "output_tokens",
        "embedding",
        "relationships",
    )
    assert {name: row[name] for name in unknown} == dict.fromkeys(unknown)


def test_wrong_settings_are_named(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, settings={"seed": 0, "relationships": [1]})
    refused(lambda: export_runs([folder], tmp_path / "out"), "relationships")


# Formats


def test_parquet_that_is_not_installed_names_the_command(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    refused(
        lambda: export_runs([write_run(tmp_path)], tmp_path / "out", "parquet"), "pip install 'persimchat[parquet]'"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.proof
def test_parquet_has_the_same_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    folder = write_debate(tmp_path, 5)
    tables = export_runs([folder], tmp_path / "a", "parquet").files
    plain = export_runs([folder], tmp_path / "b", "jsonl").files
    for name, path in tables.items():
        expected = [
            {key: json.dumps(v, ensure_ascii=False) if isinstance(v, list | dict) else v for key, v in row.items()}
            for row in read_records(plain[name])
        ]
        assert parquet.read_table(path).to_pylist() == expected


def sheets(path: Path) -> dict[str, list[list[Any]]]:
    """The cells of a workbook by sheet, row by row: texts, numbers and truth values."""
    spaces = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}

    def value(found: ElementTree.Element) -> Any:
        if found.get("t") == "inlineStr":
            return "".join(found.itertext())
        number = found.findtext("m:v", "", spaces)
        return number == "1" if found.get("t") == "b" else float(number)

    with zipfile.ZipFile(path) as book:
        assert not [name for name in book.namelist() if "hyperlink" in name]
        names = [
            one.get("name")
            for one in ElementTree.fromstring(book.read("xl/workbook.xml")).iterfind(".//m:sheet", spaces)
        ]
        found = {}
        for number, name in enumerate(names, 1):
            text = book.read(f"xl/worksheets/sheet{number}.xml")
            assert b"<f>" not in text, "no formula"
            rows = ElementTree.fromstring(text).iterfind(".//m:row", spaces)
            found[str(name)] = [[value(cell) for cell in row] for row in rows]
    return found


def test_excel_has_the_same_rows_in_one_workbook(tmp_path: Path) -> None:
    folder = write_debate(tmp_path, 5)
    files = export_runs([folder], tmp_path / "a", "xlsx").files
    assert {path.name for path in files.values()} == {"tables.xlsx"}
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["codebook.md", "tables.xlsx"]
    found, plain = sheets(files["runs"]), export_runs([folder], tmp_path / "b", "jsonl").files
    expected = {name: read_records(path) for name, path in plain.items()}
    assert list(found) == [name for name, rows in expected.items() if rows]
    for name, (head, *rows) in found.items():
        assert head == list(expected[name][0])
        for row, told in zip(rows, expected[name], strict=True):
            assert row == ["" if v is None else as_json(v) if isinstance(v, list | dict) else v for v in told.values()]
    again = export_runs([folder], tmp_path / "c", "xlsx").files["runs"]
    assert again.read_bytes() == files["runs"].read_bytes()


def test_what_excel_cannot_hold_is_told(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, [{**utterance(1, PEOPLE[0]), "text": "t" * 40_000}])
    refused(lambda: export_runs([folder], tmp_path / "out", "xlsx"), "32,767 characters")
    assert not (tmp_path / "out").exists()


# The codebook


def test_no_column_is_without_an_explanation() -> None:
    def check(table: Any) -> None:
        explained = tables.columns(table)
        assert [column.name for column in explained] == [
            field.alias or name for name, field in table.model_fields.items()
        ]
        assert [column.name for column in explained if len(column.meaning) < 4 or column.meaning == "None"] == []
        assert [column.name for column in explained if not column.kind] == []
        measures = [column for column in explained if column.kind in ("number", "whole number")]
        assert [column.name for column in measures if not column.unit] == ["seed", "max_messages"]

    check_each(TABLES.values(), check)


def test_the_codebook_says_how_to_read_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [utterance(1, "NA", "None"), utterance(2, "null", "-3")], [])
    done = export_runs([folder], tmp_path / "out")
    for words in ('keep_default_na=False, na_values=[""]', 'na.strings = ""', "dtype=", "colClasses"):
        assert words in done.codebook.read_text(encoding="utf-8")
    # As read so: a cell is missing only if it is empty.
    said = [(row["speaker"] or None, row["text"] or None) for row in read_table(done.files["utterances"])]
    assert said == [("NA", "None"), ("null", "-3")]


def test_the_codebook_lists_every_column_of_every_file(tmp_path: Path) -> None:
    done = export_runs([write_debate(tmp_path, 4), write_steered(tmp_path, run="steered")], tmp_path / "out")
    text = done.codebook.read_text(encoding="utf-8")
    common, *parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    by_table = {part.partition("\n")[0]: part for part in parts}
    for table, path in done.files.items():
        with path.open(encoding="utf-8", newline="") as file:
            heading = next(csv.reader(file))
        assert [name for name in heading if f"| `{name}` |" not in common + by_table[table]] == []
        assert path.name in by_table[table]
    assert "| `response_time_s` | number | seconds | 0 or more |" in text
    assert "| `coherence` | number | points | 0–10 |" in text
    assert "| `confidence` | number | share | 0–1 |" in text


# Exports of runs that people steered and joined, and exports for one participant's eyes


STORY = ("happenings", "rooms", "standings", "closeness", "beliefs", "ballots")


def test_every_request_is_a_row_without_its_answer(tmp_path: Path) -> None:
    done = export_runs([write_steered(tmp_path), write_run(tmp_path, run="old")], tmp_path / "out", "jsonl")
    asked = read_records(done.files["calls"])
    assert len(asked) == 15
    assert {row["kind"] for row in asked} == {"request"}
    first, last = asked[0], asked[-1]
    assert (first["turn"], first["agent"], first["module"], first["n"]) == (0, PEOPLE[0], "emotion", 0)
    assert (first["seconds"], first["calls"], first["input_tokens"], first["failed"]) == (0.25, 1, 10, None)
    assert (last["called_model"], last["cost_usd"], last["failed"]) == ("offline", None, f"refused {MARKER}")
    assert "An answer that no table holds" not in done.files["calls"].read_text(encoding="utf-8")


def test_damaged_requests_are_left_out_and_said(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    break_seals(folder, "kind = 'asked_model' AND turn > 0")
    done = export_runs([folder], tmp_path / "out")
    assert done.counts["calls"] == 2
    (note,) = done.notes
    assert "run.sqlite is damaged: 13 requests are left out, the first is event" in note
    assert note.partition(": ")[2] in done.codebook.read_text(encoding="utf-8")


def test_whispers_silences_and_interventions(tmp_path: Path) -> None:
    eva, bo, li = PEOPLE
    out = export_runs([write_steered(tmp_path)], tmp_path / "out", "jsonl").files
    said = read_records(out["utterances"])
    assert [row["heard_by"] for row in said] == [None, [bo], None, None, [eva], None]
    assert [row["given"] for row in said] == [False, True, False, True, True, False]
    assert (said[1]["response_time_s"], said[1]["output_tokens"], said[1]["happiness"]) == (None, None, None)
    (run,) = read_records(out["runs"])
    assert (run["people"], run["branch_of"], run["branch_turn"], run["resumed"]) == ([li], "tea-0000", 1, 1)
    assert [(row["turn"], row["agent"], row["step"]) for row in read_records(out["silences"])] == [
        (3, eva, "hear"),
        (6, li, "speak"),
    ]
    done = read_records(out["interventions"])
    assert [row["do"] for row in done] == ["say", "hand", "answer", "topic", "floor", "wave"]
    assert (done[0]["heard_by"], done[0]["agent"], done[0]["details"]) == ([bo], None, None)
    assert (done[1]["agent"], done[1]["details"]) == (li, {"raised": True})
    assert (done[3]["text"], done[5]["details"]) == ("Water or wine?", {"with": MARKER})


@pytest.mark.proof
def test_tables_of_rare_things_are_there_only_where_there_are_any(tmp_path: Path, refused: Refused) -> None:
    steered, plain, out = write_steered(tmp_path), write_run(tmp_path, run="plain"), tmp_path / "out"
    done = export_runs([steered, plain], out)
    assert set(done.files) == set(TABLES) - {
        "judgements",
        "stances",
        "polls",
        "interviews",
        "questions",
        "themes",
        "pruning",
        "pruning_checks",
        "own",
        *STORY,
    }
    assert "## silences" in done.codebook.read_text(encoding="utf-8")
    refused(lambda: export_runs([plain], out), "--force")
    again = export_runs([plain], out, force=True)
    assert set(again.files) == set(again.counts) == set(ALWAYS)
    assert sorted(path.name for path in out.iterdir()) == sorted([*(f"{table}.csv" for table in ALWAYS), "codebook.md"])
    assert "## silences" not in again.codebook.read_text(encoding="utf-8")


# For one participant's eyes


@pytest.mark.parametrize("form", ["csv", "jsonl", "md", "html", "parquet", "xlsx"])
@pytest.mark.parametrize("name", [PEOPLE[0], PEOPLE[2]])
def test_what_was_whispered_to_another_is_nowhere(tmp_path: Path, form: str, name: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = write_steered(tmp_path / "runs")
    done = export_runs([folder], tmp_path / "out", form, eyes=name)
    for path in (tmp_path / "out").iterdir():
        assert MARKER.encode() not in bytes_of(path), path.name
    everything = export_runs([folder], tmp_path / "all", form)
    assert MARKER.encode() in bytes_of(everything.files["utterances"])
    assert set(done.files) == set(SEEN) - {*STORY, "own"}


async def whispering(out: Path) -> Path:
    """A real run in which the moderator whispers a marker to the second participant, who then says nothing more."""
    control = Control()
    scenario = make_scenario("Tea or coffee?", default_participants(3))
    settings = Settings(model="offline", max_messages=2, closing="off")
    folder = ""
    async for event in run_simulation(scenario, settings, out=out, control=control):
        if event.event == "utterance" and event.turn == 1:
            control.change_topic("Water or wine?")
            control.whisper(scenario.participants[1].name, f"Say something about a {MARKER}.")
        if event.event == "stopped":
            folder = event.folder or ""
    return Path(folder)


@pytest.mark.proof
async def test_a_real_whisper_is_in_its_hearers_export_alone(tmp_path: Path) -> None:
    folder = await whispering(tmp_path / "runs")
    record = read_run(folder)
    whisper = next(said for said in record.utterances if said.heard_by is not None)
    hearer = next(participant.name for participant in record.manifest.scenario.participants[1:2])
    assert (whisper.heard_by, whisper.is_given) == ([hearer], True)
    assert not any(MARKER in said.text for said in record.utterances if said.heard_by is None)
    for number, name in enumerate(p.name for p in record.manifest.scenario.participants):
        out = tmp_path / str(number)
        export_runs([folder], out, "jsonl", eyes=name)
        written = b"".join(path.read_bytes() for path in out.iterdir())
        assert (MARKER.encode() in written) == (name == hearer), name


def test_the_one_it_was_whispered_to_has_it(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    out = export_runs([folder], tmp_path / "out", "jsonl", eyes="Bo").files
    said = read_records(out["utterances"])
    assert [row["turn"] for row in said] == [1, 2, 3, 4, 6]
    assert MARKER in said[1]["text"]
    for table in ("minds", "memories"):
        assert {row["agent"] for row in read_records(out[table])} == {PEOPLE[1]}, table


def test_own_eyes_see_nothing_of_others_minds(tmp_path: Path) -> None:
    eva = PEOPLE[0]
    out = export_runs([write_steered(tmp_path)], tmp_path / "out", "jsonl", eyes=eva).files
    own, *_ = [row for row in read_records(out["utterances"]) if row["speaker"] == eva]
    others = [row for row in read_records(out["utterances"]) if row["speaker"] != eva]
    assert (own["need_to_talk"], own["needs_to_talk"], own["happiness"]) == (7, {eva: 7}, 3)
    for row in others:
        inner = ("need_to_talk", "needs_to_talk", "happiness", "response_time_s", "input_tokens", "output_tokens")
        assert [row[name] for name in inner if row[name]] == []
    assert [row["turn"] for row in read_records(out["utterances"])] == [1, 3, 4, 5, 6]
    (run,) = read_records(out["runs"])
    unseen = ("stop_detail", "answer", "consensus", "calls", "input_tokens", "cost_usd", "branch_of")
    assert [run[name] for name in unseen if run[name]] == []
    assert (run["stop_reason"], run["utterances"], run["settings"]["max_messages"]) == ("budget", 5, 9)
    (topic,) = read_records(out["interventions"])
    assert (topic["do"], topic["text"], topic["details"]) == ("topic", "Water or wine?", None)


def test_eyes_that_did_not_take_part(tmp_path: Path, refused: Refused) -> None:
    folder = write_steered(tmp_path)
    for name in ("Moderator", "Zoe", ""):
        refused(lambda name=name: export_runs([folder], tmp_path / "out", eyes=name), str(folder))  # type: ignore[misc]
    assert not (tmp_path / "out").exists()


# The tables of what utterances were worded without: pieces of information with their scores, and checks
