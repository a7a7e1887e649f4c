"""Which runs there are, and deleting one with its memories, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from run_folders import PEOPLE, lines, manifest, mind, write_debate, write_run

from persimchat.memory.store import release, store
from persimchat.runs.folder.listing import UNFINISHED, deletable, delete_run, list_runs, matching
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.run_folder import MEMORIES
from persimchat.state.memory import new_memory

Refused = Callable[..., str]


def remembered(place: Path, run: str) -> None:
    """Put a memory of this run into a store."""
    memory = new_memory(PEOPLE[0], 0, "topic", "Tea", [], 5, [0] * 6)
    vector = np.ones((1, 3), dtype=np.float32) / np.sqrt(np.float32(3))
    store(str(place)).save(run, PEOPLE[0], "lexical", [memory], vector)


def test_what_is_said_of_a_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    (run,) = list_runs(tmp_path).runs
    assert (run.run, run.folder, run.mode, run.model) == (folder.name, str(folder), "discussion", "offline")
    assert (run.topic, run.participants, run.utterances) == ("Tea or coffee?", list(PEOPLE), 3)
    assert (run.ended, run.cost_usd, run.started) == ("message_limit", 0.0125, "2026-01-01T12:00:00+00:00")


def test_the_latest_is_first_and_what_is_no_run_is_left_out(tmp_path: Path) -> None:
    write_run(tmp_path, run="a", started="2026-01-02T00:00:00+00:00")
    write_run(tmp_path, run="b", started="2026-03-02T00:00:00+00:00")
    write_run(tmp_path, run="c", started="2026-02-02T00:00:00+00:00")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    listing = list_runs(tmp_path)
    assert [run.run for run in listing.runs] == ["b", "c", "a"]
    assert listing.unread == []


def test_a_damaged_run_hides_no_other(tmp_path: Path) -> None:
    write_run(tmp_path, run="good")
    for name, text in {"torn": '{"run', "newer": '{"format": 99}', "list": "[]", "bare": '{"format": 1}'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    listing = list_runs(tmp_path)
    assert [run.run for run in listing.runs] == ["good"]
    assert len(listing.unread) == 4
    assert all(any(name in line for line in listing.unread) for name in ("torn", "newer", "list", "bare"))


def test_no_folder_has_no_runs_and_a_file_is_refused(tmp_path: Path, refused: Refused) -> None:
    assert list_runs(tmp_path / "nowhere").runs == []
    (tmp_path / "file").write_text("")
    refused(lambda: list_runs(tmp_path / "file"), "file", "--out")


def test_filters_go_together(tmp_path: Path) -> None:
    write_run(tmp_path, run="talk", stop_reason=None, usage={})
    write_debate(tmp_path, 4, run="debate")
    runs = list_runs(tmp_path).runs

    def names(**wanted: str) -> set[str]:
        return {run.run for run in matching(runs, **wanted)}

    assert names() == {"talk", "debate"}
    assert names(mode="debate") == {"debate"}
    assert names(ended=UNFINISHED) == {"talk"}
    assert names(ended="consensus", mode="discussion") == set()
    assert names(text="HORAKOVA tea") == {"talk", "debate"}
    assert names(text="talk tea") == {"talk"}
    assert names(text="wine") == set()
    assert next(run for run in runs if run.run == "talk").cost_usd is None


def test_deleting_takes_folder_and_memories_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "memories"
    out = tmp_path / "runs"
    folder = write_run(out, run="going", settings={"store": str(place)})
    write_run(out, run="staying", settings={"store": str(place)})
    for run in ("going", "staying"):
        remembered(place, run)
    asyncio.run(delete_run(deletable(folder)))
    assert [path.name for path in out.iterdir()] == ["staying"]
    assert store(str(place)).agents("going") == []
    assert store(str(place)).agents("staying") == [PEOPLE[0]]


def test_memories_can_be_kept(tmp_path: Path) -> None:
    place = tmp_path / "memories"
    remembered(place, "going")
    found = deletable(write_run(tmp_path, run="going", settings={"store": str(place)}), keep_memories=True)
    assert str(place) in found.kept
    asyncio.run(delete_run(found))
    assert store(str(place)).agents("going") == [PEOPLE[0]]


def test_memories_that_a_copy_still_needs_are_kept(tmp_path: Path) -> None:
    place = tmp_path / "memories"
    remembered(place, "one")
    out = tmp_path / "runs"
    write_run(out, run="one", settings={"store": str(place)})
    copy = write_run(out / "x", run="one", settings={"store": str(place)}).rename(out / "copy")
    found = deletable(copy)
    assert "one" in found.kept
    asyncio.run(delete_run(found))
    assert store(str(place)).agents("one") == [PEOPLE[0]]


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, settings={"store": str(tmp_path / "lost")})
    refused(lambda: deletable(folder), "lost", "--keep-memories")
    assert not (tmp_path / "lost").exists()
    assert folder.is_dir()


def test_where_the_memories_cannot_go_the_folder_stays(tmp_path: Path) -> None:
    folder = write_run(tmp_path, settings={"store": "http://127.0.0.1:9"})
    with pytest.raises(Exception, match="Chroma"):
        asyncio.run(delete_run(deletable(folder)))
    assert (folder / "run.json").is_file()


def test_a_run_that_is_worked_on_is_listed_as_such_and_not_deleted(tmp_path: Path, refused: Refused) -> None:
    folder = write_run(tmp_path, run="busy")
    write_run(tmp_path, run="idle")
    found = deletable(folder)
    with held(folder):
        assert {run.run: run.active for run in list_runs(tmp_path).runs} == {"busy": True, "idle": False}
        refused(lambda: deletable(folder), "worked on", "busy")
        refused(lambda: asyncio.run(delete_run(found)), "worked on")
    assert not any(run.active for run in list_runs(tmp_path).runs)
    assert asyncio.run(delete_run(deletable(folder))) == ""
    assert [path.name for path in tmp_path.iterdir()] == ["idle"]


def test_memories_in_the_runs_own_folder_go_with_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path, run="own", settings={"store": "run"})
    remembered(folder / MEMORIES, "own")
    assert release(str(folder / MEMORIES))
    for keep in (True, False):
        found = deletable(folder, keep_memories=keep)
        assert (found.store, found.kept, found.checkpoints) == (None, "", None)
    asyncio.run(delete_run(found))
    assert list(tmp_path.iterdir()) == []


def test_checkpoints_that_a_copy_still_needs_are_kept(tmp_path: Path) -> None:
    place = "postgresql://eva@127.0.0.1:1/db"
    write_run(tmp_path, run="one", settings={"store": "run", "checkpoints": place})
    copy = write_run(tmp_path / "x", run="one", settings={"store": "run", "checkpoints": place})
    found = deletable(copy.rename(tmp_path / "copy"))
    assert found.checkpoints is None
    assert "checkpoints" in found.kept
    assert "memories" not in found.kept
    assert deletable(write_run(tmp_path, run="two", settings={"checkpoints": place})).checkpoints == place


def test_what_is_no_run_is_not_deleted(tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    refused(lambda: deletable(plain), "not a run's folder")
    (plain / "run.json").write_text(json.dumps(manifest()))
    refused(lambda: deletable(plain), "transcript.jsonl")
    folder = write_run(tmp_path, run="outer")
    write_run(folder, run="inner")
    refused(lambda: deletable(folder), "another run", "inner")
    run = write_run(tmp_path, run="run")
    (tmp_path / "link").symlink_to(run)
    refused(lambda: deletable(tmp_path / "link"), "link")
    monkeypatch.chdir(run)
    refused(lambda: deletable(Path()), "folder you are in")
    newer = write_run(tmp_path, run="newer", format=99)
    refused(lambda: deletable(newer), "format 99")


def test_lines_are_counted_whole(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    with (folder / "transcript.jsonl").open("a") as file:
        file.write(lines([mind(1, "A")])[:20])
    assert list_runs(tmp_path).runs[0].utterances == 3
