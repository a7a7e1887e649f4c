"""The folder: a second driver, another experiment's folder and a torn line; a cell's run folder is the truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from run_folders import manifest

from persimchat.experiments import Experiment
from persimchat.experiments.place import EVENTS, Place
from persimchat.experiments.plan import plan

Make = Callable[..., Experiment]


def test_a_second_driver_is_refused(tmp_path: Path, refused: Callable[..., str]):
    def twice() -> None:
        with Place(tmp_path / "x").driven(), Place(tmp_path / "x").driven():
            pass

    refused(twice, "being run by another process")
    with Place(tmp_path / "x").driven():
        pass


def test_another_experiments_folder_is_refused(tmp_path: Path, make: Make, refused: Callable[..., str]):
    place = Place(tmp_path / "x")
    with place.driven():
        place.keep(plan(make()))
    refused(lambda: place.changes(plan(make(name="other"))), "another experiment, 'small'")


def test_changed_cells_are_counted(tmp_path: Path, make: Make):
    place = Place(tmp_path / "x")
    assert place.changes(plan(make())) is None
    with place.driven():
        place.keep(plan(make()))
    changes = place.changes(plan(make(grid={"method": ["need_to_talk", "round_robin"], "seed": [1, 2, 3]})))
    assert changes is not None
    assert (changes.kept, changes.new, changes.gone) == (2, 4, 2)


def test_a_torn_line_is_cut_off(tmp_path: Path):
    place = Place(tmp_path / "x")
    with place.driven():
        place.tell("started", "c1", run="c1-0")
    with (place.path / EVENTS).open("a") as file:
        file.write('{"event": "star')
    with place.driven():
        place.tell("started", "c1", run="c1-0")
    assert place.tries() == {"c1": 2}


def test_what_never_began_is_removed(tmp_path: Path):
    place = Place(tmp_path)
    (place.runs / "c1-00").mkdir(parents=True)
    assert place.standing("c1").status == "planned"
    assert place.new_run("c1").startswith("c1-")
    assert list(place.runs.iterdir()) == []


def test_the_lock_file_says_what_was_resolved(tmp_path: Path, make: Make):
    place = Place(tmp_path / "x")
    planned = plan(make())
    with place.driven():
        place.keep(planned)
    locked = place.locked()
    assert locked.cells == [each.cell for each in planned.cells]
    assert locked.defaults["discussion"]["utterance_words"]
    assert "timeout_s" not in locked.defaults["discussion"]
    assert json.loads((place.path / "experiment.lock.json").read_text())["versions"]["persimchat"]


def test_a_run_that_was_killed_before_it_asked_anything_begins_again(tmp_path: Path):
    """Its checkpoints may be empty; one that has asked is gone on with."""
    place = Place(tmp_path)
    for cell, asked in (("c1", ""), ("c2", "{}\n")):
        folder = place.runs / f"{cell}-00"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(
            json.dumps(manifest(f"{cell}-00", ended=None, stop_reason=None)), encoding="utf-8"
        )
        (folder / "calls.jsonl").write_text(asked, encoding="utf-8")
    assert place.opened("c1") is None
    assert place.opened("c2") == place.runs / "c2"
    assert [path.name for path in place.runs.iterdir()] == ["c2"]
