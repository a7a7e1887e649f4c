"""Which runs there are, as lists and trees, what their users call them, and deleting one with its memories."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures import Refused
from run_files import conversation, logged
from run_folders import PEOPLE, put, set_format, utterance, write_debate, write_events, write_run

from persimchat.memory.store import release, store
from persimchat.reports.diff_parting import alternatives
from persimchat.runs.folder.answers import LONGEST_NAME, LONGEST_TAG, MOST_TAGS, Labels, labels
from persimchat.runs.folder.listing import (
    UNFINISHED,
    ListedRun,
    Tree,
    deletable,
    delete_run,
    family,
    list_runs,
    matching,
    trees,
)
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.reading import read_labels
from persimchat.runs.folder.run_folder import MEMORIES, write_labels
from persimchat.state.minds.memory import new_memory


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
    for name, data in {"torn": b"SQLite format 3\0", "empty": b"", "list": b"[]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.sqlite").write_bytes(data)
    set_format(write_run(tmp_path, run="newer"), 99)
    listing = list_runs(tmp_path)
    assert [run.run for run in listing.runs] == ["good"]
    assert len(listing.unread) == 4
    assert all(any(name in line for line in listing.unread) for name in ("torn", "newer", "list", "empty"))


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
    assert (folder / "run.sqlite").is_file()


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
    folder = write_run(tmp_path, run="outer")
    write_run(folder, run="inner")
    refused(lambda: deletable(folder), "another run", "inner")
    run = write_run(tmp_path, run="run")
    (tmp_path / "link").symlink_to(run)
    refused(lambda: deletable(tmp_path / "link"), "link")
    monkeypatch.chdir(run)
    refused(lambda: deletable(Path()), "folder you are in")
    newer = write_run(tmp_path, run="newer")
    set_format(newer, 99)
    refused(lambda: deletable(newer), "format 99")


def grow(out: Path, run: str, words: str, of: tuple[str, int] | None = None, **more: Any) -> Path:
    """A run that says these letters, one an utterance; perhaps a branch."""
    said = [utterance(turn, PEOPLE[0], letter) for turn, letter in enumerate(words, 1)]
    if of is not None:
        more["branch"] = {"of": of[0], "turn": of[1], "why": "branch", "changed": {}}
    return write_run(out, said, run=run, **more)


def listed(out: Path) -> list[ListedRun]:
    return list_runs(out).runs


def shape(tree: Tree) -> Any:
    return {tree.run.run: [shape(branch) for branch in tree.branches]} if tree.branches else tree.run.run


def test_branches_stand_under_their_origin(tmp_path: Path) -> None:
    grow(tmp_path, "a", "one", started="2026-01-01T00:00:00+00:00")
    grow(tmp_path, "b", "two", ("a", 1), started="2026-01-02T00:00:00+00:00")
    grow(tmp_path, "c", "three", ("b", 2), started="2026-01-04T00:00:00+00:00")
    grow(tmp_path, "d", "four", ("a", 1), started="2026-01-03T00:00:00+00:00")
    grow(tmp_path, "e", "five", ("gone", 1), started="2026-01-05T00:00:00+00:00")
    runs = list_runs(tmp_path).runs
    assert [shape(tree) for tree in trees(runs)] == ["e", {"a": ["d", {"b": ["c"]}]}]
    assert [run.run for run in family(tmp_path / "c", runs)] == ["a", "b", "d", "c"]
    assert [run.run for run in family(tmp_path / "e", runs)] == ["e"]


def test_a_branch_of_the_same_second_comes_after_its_origin(tmp_path: Path) -> None:
    second, before = "2026-01-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00"
    for run, of, started in (("c", None, second), ("b", ("c", 1), before), ("a", ("b", 1), second)):
        grow(tmp_path, run, f"k{run}", of, started=started)
    assert [run.run for run in family(tmp_path / "a", listed(tmp_path))] == ["c", "b", "a"]
    assert told(tmp_path / "a", listed(tmp_path)) == [(2, 2, "c:c b:b a:a")]


def test_who_names_each_other_is_nobodys_branch(tmp_path: Path) -> None:
    grow(tmp_path, "a", "x", ("b", 1))
    grow(tmp_path, "b", "x", ("a", 1))
    grow(tmp_path, "c", "x", ("c", 1))
    grow(tmp_path, "d", "x", ("a", 1))
    assert {tree.run.run for tree in trees(list_runs(tmp_path).runs)} == {"a", "b", "c"}


def told(folder: Path, runs: list[ListedRun]) -> list[tuple[int, int, str]]:
    """Turn, place of the run's own line, and first letters with the runs that said them first."""
    return [
        (one.turn, one.shown, " ".join(f"{line.text}:{line.run}" for line in one.lines))
        for one in alternatives(folder, runs)
    ]


def test_alternatives_are_lines_after_the_same_past(tmp_path: Path) -> None:
    for day, (run, words, of) in enumerate(
        [("a", "klmn", None), ("b", "kxyz", ("a", 1)), ("c", "klzz", ("a", 2)), ("d", "kxqq", ("b", 2))], 1
    ):
        grow(tmp_path, run, words, of, started=f"2026-01-0{day}T00:00:00+00:00")
    grow(tmp_path, "alone", "kqqq")
    runs = listed(tmp_path)
    assert told(tmp_path / "a", runs) == [(2, 0, "l:a x:b"), (3, 0, "m:a z:c")]
    assert told(tmp_path / "d", runs) == [(2, 1, "l:a x:b"), (3, 1, "y:b q:d")]
    assert told(tmp_path / "alone", runs) == []


def test_a_branch_that_says_the_same_has_no_other_line(tmp_path: Path) -> None:
    grow(tmp_path, "a", "klm")
    grow(tmp_path, "b", "klm", ("a", 1))
    grow(tmp_path, "c", "kl", ("a", 1))
    assert told(tmp_path / "a", listed(tmp_path)) == []


def test_a_damaged_relative_is_left_out(tmp_path: Path) -> None:
    a = grow(tmp_path, "a", "kl")
    b = grow(tmp_path, "b", "kx", ("a", 1))
    grow(tmp_path, "c", "ky", ("a", 1))
    put(b, "utterance", [{}, {}])
    assert [place[2] for place in told(a, listed(tmp_path))] == ["l:a y:c"]


def test_they_change_nothing_else(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    before = conversation(folder)
    write_labels(folder, labels("First try", ["pilot", "Říjen"]))
    assert read_labels(folder) == Labels(name="First try", tags=["pilot", "Říjen"])
    assert conversation(folder) == before
    write_labels(folder, labels("", []))
    assert logged(folder, "labels") == []
    assert read_labels(folder) == Labels()


def test_they_are_plain_lines_and_a_tag_is_there_once() -> None:
    given = labels("  One\n\x1b[31mtwo\u202e ", ["Pilot", " pilot ", "", "pílot", "two"])
    assert given == Labels(name="One two", tags=["Pilot", "two"])
    assert given.with_tags(["three"], ["PILOT"]).tags == ["two", "three"]


def test_they_are_bounded(refused: Refused) -> None:
    refused(lambda: labels("x" * (LONGEST_NAME + 1), []), "name", str(LONGEST_NAME))
    refused(lambda: labels("", ["x" * (LONGEST_TAG + 1)]), "tag", str(LONGEST_TAG))
    refused(lambda: labels("", ["a, b"]), "commas")
    refused(lambda: labels("", map(str, range(MOST_TAGS + 1))), "tags", str(MOST_TAGS))


@pytest.mark.parametrize("given", [{"tags": "pilot"}, {"name": "x" * 200}])
def test_damaged_labels_hide_no_run(tmp_path: Path, given: dict[str, Any]) -> None:
    folder = write_run(tmp_path)
    write_events(folder, [("labels", given)])
    listing = list_runs(tmp_path)
    assert [run.run for run in listing.runs] == [folder.name]
    assert len(listing.unread) == 1


def test_no_other_folder_gets_any(tmp_path: Path, refused: Refused) -> None:
    refused(lambda: write_labels(tmp_path, labels("x", [])), "not a run's folder")
    assert list(tmp_path.iterdir()) == []


def test_runs_are_found_by_them(tmp_path: Path) -> None:
    for name, tags in {"a": ["pilot", "debate"], "b": ["Pilot"], "c": []}.items():
        write_labels(write_run(tmp_path, run=name), labels(f"Number {name * 3}", tags))
    runs = list_runs(tmp_path).runs

    def found(**wanted: Any) -> set[str]:
        return {run.run for run in matching(runs, **wanted)}

    assert found(tags=["PILOT"]) == {"a", "b"}
    assert found(tags=["pilot", "debate"]) == {"a"}
    assert found(tags=["pil"]) == set()
    assert found(text="number CCC") == {"c"}
    assert found(text="debate tea") == {"a"}
