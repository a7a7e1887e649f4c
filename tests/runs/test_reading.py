"""Reading a run's folder back: every version, every ending, and whatever may be wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_files import run_json
from run_folders import PEOPLE, call, lines, mind, score, utterance, write_debate, write_run, write_steered

from persimchat.runs.folder.manifest import RUN_FORMAT
from persimchat.runs.folder.reading import calls_of, read_run

Refused = Callable[..., str]


def test_a_folder_of_the_first_version(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path))
    assert [(u.turn, u.speaker) for u in record.utterances] == list(enumerate(PEOPLE, start=1))
    assert record.utterances[0].tokens["output"] == 7
    assert (record.utterances[0].corrections, record.utterances[0].answer) == ([], None)
    assert len(record.minds) == 12
    assert record.minds[0].openness is None
    assert record.manifest.stop_reason == "message_limit"
    assert (record.manifest.stop_source, record.manifest.conclusion) == ("", None)
    assert (record.verdicts, record.scores, record.notes) == ([], [], [])


def test_a_folder_with_everything(tmp_path: Path) -> None:
    record = read_run(write_debate(tmp_path, 9))
    assert record.manifest.stop_source == "judge"
    assert record.manifest.conclusion is not None
    assert record.manifest.conclusion.supporters == list(PEOPLE)
    assert [v.turn for v in record.verdicts] == list(range(3, 10))
    assert record.verdicts[-1].consensus
    assert [s.turn for s in record.scores] == list(range(1, 10))
    assert all(m.openness is not None for m in record.minds)
    assert any(m.plan for m in record.minds)
    assert any(len(m.insights) == 5 for m in record.minds)


def test_a_folder_of_a_run_that_people_steered(tmp_path: Path) -> None:
    eva, bo, li = PEOPLE
    record = read_run(write_steered(tmp_path))
    assert [u.heard_by for u in record.utterances] == [None, [bo], None, None, [eva], None]
    assert [u.turn for u in record.utterances if u.is_given] == [2, 4, 5]
    manifest = record.manifest
    assert (manifest.people, manifest.state_version, len(manifest.resumed)) == ([li], 2, 1)
    assert manifest.branch is not None
    assert (manifest.branch.of, manifest.branch.turn, manifest.branch.why) == ("tea-0000", 1, "branch")
    assert [(s.turn, s.agent, s.step) for s in record.silences] == [(3, eva, "hear"), (6, li, "speak")]
    assert record.interventions[1].more == {"agent": li, "raised": True}
    assert [c.module for c in calls_of(record)][-1] == "plan"
    assert record.notes == []


def test_a_folder_of_format_1_has_none_of_it(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path))
    assert (record.silences, record.interventions, record.calls) == ([], [], None)
    assert list(calls_of(record)) == []
    assert (record.manifest.branch, record.manifest.resumed, record.manifest.people) == (None, [], [])
    assert {u.heard_by for u in record.utterances} == {None}


def test_what_was_recalled_is_read_where_it_is_wanted(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    assert not any(mind.recalled or mind.percept or mind.action for mind in read_run(folder).minds)
    minds = read_run(folder, whole=True).minds
    assert [m.recalled[0].theme for m in minds if m.recalled][:1] == ["Tea was praised"]


def test_requests_are_read_one_by_one(tmp_path: Path) -> None:
    folder = write_steered(tmp_path)
    with (folder / "calls.jsonl").open("a", encoding="utf-8") as file:
        file.write("no JSON\n" + lines([call(7, "A")]))
    record = read_run(folder)
    calls = calls_of(record)
    assert [next(calls).turn for _ in range(15)][:3] == [0, 0, 1]
    assert [one.turn for one in calls] == [7]
    assert record.notes == ["calls.jsonl is damaged: 1 line is left out, the first is line 16."]


def test_null_says_the_same_as_absent(tmp_path: Path) -> None:
    empty = dict.fromkeys(("need_to_talk", "openness", "emotion", "plan", "insights", "did", "short_term_memory"))
    said = [utterance(1, PEOPLE[0], emotion=None, need_to_talk={PEOPLE[0]: None, PEOPLE[1]: 3}, response_time_s=None)]
    record = read_run(write_run(tmp_path, said, [mind(0, PEOPLE[0], **empty)], conclusion=None, stop_source=None))
    assert record.minds[0].need_to_talk is None
    assert record.minds[0].insights == []
    assert record.utterances[0].need_to_talk == {PEOPLE[1]: 3}
    assert record.utterances[0].took_s is None


def test_what_newer_versions_add_is_ignored(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [utterance(1, PEOPLE[0], mood="blue")], [mind(0, PEOPLE[0], aura=3)], shoes=2)
    assert len(read_run(folder).utterances) == 1


def test_a_baseline_has_no_minds(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path, [utterance(1, PEOPLE[0], answer="yes", confidence=0.8)], []))
    assert record.minds == []
    assert (record.utterances[0].answer, record.utterances[0].confidence) == ("yes", 0.8)
    assert record.notes == []


def test_the_mind_of_a_judge(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    assert read_run(folder).judge_minds == []
    (folder / "judge_mind.jsonl").write_text(lines([mind(1, "Judge"), mind(2, "Judge")]), encoding="utf-8")
    record = read_run(folder)
    assert [m.turn for m in record.judge_minds] == [1, 2]
    assert all(m.agent != "Judge" for m in record.minds)


def test_a_killed_run(tmp_path: Path) -> None:
    record = read_run(write_run(tmp_path, stop_reason=None, ended=None, usage={}))
    assert record.manifest.stop_reason is None
    assert record.manifest.usage.total is None


@pytest.mark.parametrize("name", ["silences.jsonl", "control.jsonl", "calls.jsonl"])
@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_torn_last_line_of_the_newer_files(tmp_path: Path, name: str, cut: int) -> None:
    folder = write_steered(tmp_path)
    whole, last = (folder / name).read_bytes()[:-1].rpartition(b"\n")[::2]
    (folder / name).write_bytes(whole + b"\n" + last[:cut])
    record = read_run(folder)
    assert [name in note for note in record.notes] == [True]
    parts = {"silences.jsonl": record.silences, "control.jsonl": record.interventions}
    assert len(parts.get(name) or list(calls_of(record))) == whole.count(b"\n") + 1


@pytest.mark.parametrize("name", ["transcript.jsonl", "minds.jsonl", "verdicts.jsonl", "analysis.jsonl"])
@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_torn_last_line_is_left_out_and_said(tmp_path: Path, name: str, cut: int) -> None:
    folder = write_debate(tmp_path, 6)
    data = (folder / name).read_bytes()
    before = data.count(b"\n") - 1
    whole, last = data[:-1].rpartition(b"\n")[::2]
    (folder / name).write_bytes(whole + b"\n" + (last[:cut]))
    record = read_run(folder)
    parts = {"transcript.jsonl": record.utterances, "minds.jsonl": record.minds, "verdicts.jsonl": record.verdicts}
    assert len(parts.get(name, record.scores)) == before
    assert [note for note in record.notes if name in note] == record.notes
    assert len(record.notes) == 1


def test_a_line_torn_within_a_letter(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    data = (folder / "transcript.jsonl").read_bytes()
    (folder / "transcript.jsonl").write_bytes(data[: data.rindex("李".encode()) + 1])
    record = read_run(folder)
    assert len(record.utterances) == 2
    assert len(record.notes) == 1


def test_a_whole_last_line_without_its_end_counts(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    path = folder / "transcript.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    record = read_run(folder)
    assert len(record.utterances) == 3
    assert record.notes == []


@given(st.integers(0, 10_000))
def test_a_transcript_cut_anywhere_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, place: int) -> None:
    """Whatever a kill leaves of a file, its whole lines are read."""
    folder = write_run(tmp_path_factory.mktemp("cut"))
    path = folder / "transcript.jsonl"
    data = path.read_bytes()
    left = data[: place % (len(data) + 1)]
    path.write_bytes(left)
    record = read_run(folder)
    whole = left.count(b"\n")
    assert len(record.utterances) in (whole, whole + 1)
    assert [u.turn for u in record.utterances] == list(range(1, len(record.utterances) + 1))


def test_missing_minds_are_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    (folder / "minds.jsonl").unlink()
    record = read_run(folder)
    assert record.minds == []
    assert "minds.jsonl is missing" in record.notes[0]


@pytest.mark.parametrize("missing", ["run.json", "transcript.jsonl"])
def test_a_missing_file(tmp_path: Path, refused: Refused, missing: str) -> None:
    folder = write_run(tmp_path)
    (folder / missing).unlink()
    refused(lambda: read_run(folder), missing, str(folder))


def test_no_folder_and_a_file(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: read_run(tmp_path / "nowhere"), "no folder to read", "nowhere")
    refused(lambda: read_run(tmp_path / ("x" * 5000)), "no folder to read")
    folder = write_run(tmp_path)
    refused(lambda: read_run(folder / "run.json"), "not a run's folder", str(folder))


@pytest.mark.parametrize("form", [RUN_FORMAT + 1, 0, -1, "1", None, True, 1.0])
def test_another_version_of_the_folder(tmp_path: Path, refused: Refused, form: Any) -> None:
    folder = write_run(tmp_path, format=form)
    refused(lambda: read_run(folder), "format", "run.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"run"', "\x00\x00", "[" * 100_000, '{"format": 1}'])
def test_a_run_json_that_is_none(tmp_path: Path, refused: Refused, text: str) -> None:
    folder = write_run(tmp_path)
    (folder / "run.json").write_text(text, encoding="utf-8")
    refused(lambda: read_run(folder), "run.json")


@pytest.mark.parametrize(
    ("name", "row", "field"),
    [
        ("transcript.jsonl", utterance(0, "A"), "turn"),
        ("transcript.jsonl", utterance(2, "A", response_time_s=-1), "response_time_s"),
        ("transcript.jsonl", utterance(2, "A", response_time_s=float("nan")), "response_time_s"),
        ("transcript.jsonl", utterance(2, "A", emotion={"anger": 11}), "emotion.anger"),
        ("transcript.jsonl", {"turn": 2, "speaker": "A"}, "text"),
        ("transcript.jsonl", utterance(2, "A", confidence=1.5), "confidence"),
        ("minds.jsonl", mind(2, "A", need_to_talk=11), "need_to_talk"),
        ("minds.jsonl", mind(2, "A", insights=[5]), "insights.0"),
        ("verdicts.jsonl", {"turn": 2}, "consensus"),
        ("analysis.jsonl", score(2, "A", 10.5), "coherence"),
        ("transcript.jsonl", utterance(2, "A", heard_by="Bo"), "heard_by"),
        ("silences.jsonl", {"turn": 2, "step": "hear"}, "agent"),
        ("control.jsonl", {"turn": 2, "say": "x"}, "do"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, refused: Refused, name: str, row: dict[str, Any], field: str) -> None:
    folder = write_steered(tmp_path)
    good = (folder / name).read_text(encoding="utf-8").splitlines()[0]
    (folder / name).write_text(f"{good}\n{lines([row])}", encoding="utf-8")
    refused(lambda: read_run(folder), f"{name}, line 2, field {field}")


def test_a_broken_line_in_the_middle_is_no_torn_one(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path)
    path = folder / "transcript.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(rows[0] + rows[1][:30] + "\n" + rows[2], encoding="utf-8")
    refused(lambda: read_run(folder), "transcript.jsonl, line 2", "not JSON")


def test_an_unreadable_file(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path)
    (folder / "transcript.jsonl").unlink()
    (folder / "transcript.jsonl").mkdir()
    refused(lambda: read_run(folder), "cannot be read", "transcript.jsonl")


def test_hostile_values_do_not_steer_the_terminal(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, [utterance(1, "A", response_time_s="\x1b[2J" * 50)])
    message = refused(lambda: read_run(folder), "response_time_s")
    assert "\x1b" not in message
    assert len(message) < 500


def test_a_real_run_reads_back(tmp_path: Path) -> None:
    """What the writing side writes, this side reads: no field has another name or range."""
    import persimchat

    result = persimchat.simulate("Tea or coffee?", 3, model="offline", max_messages=4, out=tmp_path)
    record = read_run(Path(result.folder or ""))
    assert [(u.turn, u.speaker, u.text) for u in record.utterances] == [
        (u.turn, u.speaker, u.text) for u in result.utterances
    ]
    assert [(m.turn, m.agent, m.need_to_talk, m.emotion) for m in record.minds] == [
        (m.turn, m.agent, m.need_to_talk, m.emotion) for m in result.minds
    ]
    assert record.manifest.usage.total == result.totals
    assert record.notes == []
    written = run_json(record.path)
    assert record.manifest.settings.max_messages == written["settings"]["max_messages"] == 4
