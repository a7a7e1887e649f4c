"""Branches under their origins, and the alternatives of a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from run_folders import PEOPLE, utterance, write_run

from persimchat.runs.folder.family import Tree, family, trees
from persimchat.runs.folder.listing import ListedRun, list_runs
from persimchat.runs.reports.alternatives import alternatives


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
    (b / "transcript.jsonl").write_text("{}\n{}\n")
    assert [place[2] for place in told(a, listed(tmp_path))] == ["l:a y:c"]
