"""What an estimate says besides calls: room on the disk, and what the comparisons can find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.app.cli import main
from persimchat.experiments import Experiment, foresight, run_experiment
from persimchat.experiments.foresight import disk_bytes, foreseen
from persimchat.experiments.plan import plan

Make = Callable[..., Experiment]
Capsys = pytest.CaptureFixture[str]


def test_tasks_are_counted_as_they_are_compared(make: Make):
    """Seeds and wordings make tasks; an axis that is compared, or any other, does not."""
    grid = {"method": ["need_to_talk", "single_agent"], "memory_tokens": [200, 400], "seed": {"from": 0, "count": 4}}
    compare = [{"by": "method"}, {"by": "seed"}, {"by": "memory_tokens", "within": {"method": "single_agent"}}]
    found = foreseen(plan(make(grid=grid, compare=compare)))
    assert [each.tasks for each in found] == [4, 1, 4]
    assert [(each.needed, each.share) for each in found] == [(199, None)] * 3


def test_an_estimate_says_it(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    make(grid={"method": ["need_to_talk", "round_robin"], "seed": {"from": 0, "count": 6}}, compare=[{"by": "method"}])
    monkeypatch.chdir(tmp_path)
    assert main(["experiment", "estimate", "small.yaml"]) == 0
    told = capsys.readouterr()
    assert "compare by method: 6 tasks, finds a level that is better in 96 % of them; " in told.out
    assert "one that is better in 60 % needs 199 (sign test, power 80 %)" in told.out
    assert "disk: about 9 MB, as run folders are; " in told.out
    assert told.err == ""
    monkeypatch.setattr(foresight, "disk_free", lambda _: 1_000_000)
    assert main(["experiment", "estimate", "small.yaml"]) == 0
    told = capsys.readouterr()
    assert "1 MB are free" in told.out and "the disk lacks the room" in told.err


def test_a_story_takes_the_room_of_its_utterances(make: Make, root: Path):
    """It has no message limit; its stages say how many utterances there are."""
    base = {"scenario": str(root / "personas/stories/tiny.yaml"), "settings": {"model": "offline"}}
    assert 1_000_000 < disk_bytes(plan(make(base=base, grid={})).cells) < 3_000_000


SHAPES: list[dict[str, Any]] = [
    {"max_messages": 12},
    {"max_messages": 30, "cognition": "lean"},
    {"max_messages": 12, "baseline": "single_agent"},
    {"max_messages": 12, "baseline": "group_chat"},
]


@pytest.mark.proof
@pytest.mark.parametrize("settings", SHAPES, ids=str)
@pytest.mark.parametrize("people", [["Jarmila", "Zeynep"], ["Jarmila", "Zeynep", "Rowan", "Inés"]], ids=len)
def test_folders_have_the_size_that_was_foreseen(
    make: Make, tmp_path: Path, people: list[str], settings: dict[str, Any]
):
    base = {"topic": "Tea?", "participants": people, "settings": {"model": "offline", **settings}}
    wanted = make(base=base, grid={})
    results = run_experiment(wanted, tmp_path)
    taken = sum(path.stat().st_blocks * 512 for path in (results.folder / "runs").rglob("*") if path.is_file())
    assert disk_bytes(plan(wanted).cells) == pytest.approx(taken, rel=0.25)
