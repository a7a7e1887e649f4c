"""Exports of runs that people steered and joined, and exports for one participant's eyes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import read_records
from run_folders import MARKER, PEOPLE, call, lines, write_run, write_steered

from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.control import Control
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.export import SEEN, export_runs
from persimchat.runs.reports.export_story import TABLES as STORY_TABLES
from persimchat.runs.reports.export_tables import RARE, TABLES
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

Refused = Callable[..., str]
ALWAYS = [table for table in TABLES if table not in RARE]


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


@pytest.mark.parametrize("last", ['{"turn": 1, "mod', json.dumps(call(1, "A"))], ids=["torn", "whole"])
def test_a_request_that_was_being_written_is_torn_or_whole(tmp_path: Path, last: str) -> None:
    folder = write_steered(tmp_path)
    with (folder / "calls.jsonl").open("a", encoding="utf-8") as file:
        file.write(last)
    done = export_runs([folder], tmp_path / "out")
    whole = last.endswith("}")
    assert done.counts["calls"] == 15 + whole
    assert [note for note in done.notes if "calls.jsonl" in note] == done.notes
    assert len(done.notes) == (not whole)


def test_damaged_requests_are_left_out_and_said(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    (folder / "calls.jsonl").write_text("{\n" + lines([call(0, "A"), call(1, "B", seconds=-1)]), encoding="utf-8")
    done = export_runs([folder], tmp_path / "out")
    assert done.counts["calls"] == 1
    (note,) = done.notes
    assert "calls.jsonl is damaged: 2 lines are left out, the first is line 1" in note
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
        *STORY_TABLES,
    }
    assert "## silences" in done.codebook.read_text(encoding="utf-8")
    refused(lambda: export_runs([plain], out), "--force")
    again = export_runs([plain], out, force=True)
    assert set(again.files) == set(again.counts) == set(ALWAYS)
    assert sorted(path.name for path in out.iterdir()) == sorted([*(f"{table}.csv" for table in ALWAYS), "codebook.md"])
    assert "## silences" not in again.codebook.read_text(encoding="utf-8")


def test_minds_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path)
    read, opened = Path.open, []

    def counting(self: Path, *given: Any, **more: Any) -> Any:
        if self.parent == folder:
            opened.append(self.name)
        return read(self, *given, **more)

    monkeypatch.setattr(Path, "open", counting)
    export_runs([folder], tmp_path / "out")
    assert sorted(opened) == sorted(set(opened))
    assert "minds.jsonl" in opened


# For one participant's eyes


@pytest.mark.parametrize("form", ["csv", "jsonl", "md", "html", "parquet"])
@pytest.mark.parametrize("name", [PEOPLE[0], PEOPLE[2]])
def test_what_was_whispered_to_another_is_nowhere(tmp_path: Path, form: str, name: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = write_steered(tmp_path / "runs")
    done = export_runs([folder], tmp_path / "out", form, eyes=name)
    for path in (tmp_path / "out").iterdir():
        assert MARKER.encode() not in path.read_bytes(), path.name
    everything = export_runs([folder], tmp_path / "all", form)
    assert MARKER.encode() in everything.files["utterances"].read_bytes()
    assert set(done.files) == set(SEEN) - set(STORY_TABLES)


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
