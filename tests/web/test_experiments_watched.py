"""How far an experiment is, read as it grows; and that nothing outside of the folder of results is read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from web.experiment_folders import begin_cell, hold_cell, write_experiment

import persimchat.app.web.watching as watching
from persimchat.app.web.context import WebContext
from persimchat.app.web.watching import EVERY_S, KEPT, Experiments, NoExperimentError, Watched
from persimchat.experiments.place import LOG, PLAN
from persimchat.state.errors import InputError


class Clock:
    """A clock that stands still between looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def experiments(tmp_path: Path, clock: Clock) -> Experiments:
    return Experiments(tmp_path / "results", clock)


@pytest.fixture
def look(experiments: Experiments, clock: Clock) -> Callable[[], object]:
    """Look at the small experiment, when its folder may be read again."""

    async def _look() -> Watched:
        clock.now += EVERY_S
        return await experiments.look("small")

    return _look


async def test_how_far_cells_are(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    assert (await look()).counts == {"planned": 4}
    hold_cell(place, cells[0])
    with place.driven():
        begin_cell(place, cells[1])
        watched = await look()
        assert watched.counts == {"done": 1, "running": 1, "planned": 2}
        assert watched.driven
        assert watched.seconds_left is not None
        assert watched.cells[cells[1]].run == f"small:{cells[1]}"
        place.tell("failed", cells[2], why="no model")
        assert (await look()).cells[cells[2]].why == "no model"
    watched = await look()
    assert watched.counts == {"done": 1, "begun": 1, "failed": 1, "planned": 1}
    assert not watched.driven
    assert watched.seconds_left is None
    assert watched.spent.calls == 3
    hold_cell(place, cells[3], stop_reason="budget")
    assert (await look()).cells[cells[3]].status == "budget"


async def test_a_cell_that_failed_and_goes_on(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    hold_cell(place, cells[0], stop_reason="error", detail="the server is gone")
    place.tell("failed", cells[0], why="")
    one = (await look()).cells[cells[0]]
    assert (one.status, one.why) == ("failed", "the server is gone")
    with place.driven():
        place.tell("started", cells[0], run=cells[0], resumed=True)
        assert (await look()).cells[cells[0]].status == "running"


async def test_a_cell_that_is_held_again(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    hold_cell(place, cells[0])
    with place.driven():
        begin_cell(place, cells[0])  # beside the run that there is, as with --renew
        assert (await look()).counts == {"running": 1, "planned": 3}
    assert (await look()).counts == {"done": 1, "planned": 3}


async def test_a_run_of_another_process_is_running(tmp_path: Path, look, monkeypatch: pytest.MonkeyPatch):
    place, cells = write_experiment(tmp_path / "results")
    begin_cell(place, cells[0])
    monkeypatch.setattr(watching, "is_held", lambda _: True)
    assert (await look()).cells[cells[0]].status == "running"


async def test_a_damaged_run_is_told_and_the_others_are_shown(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    (hold_cell(place, cells[0]) / "run.sqlite").write_text("{")
    hold_cell(place, cells[1])
    watched = await look()
    assert watched.counts == {"failed": 1, "done": 1, "planned": 2}
    assert "run.sqlite" in watched.cells[cells[0]].why


async def test_a_damaged_log_says_nothing(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    place.tell("failed", cells[0], why="x")
    with sqlite3.connect(place.path / LOG) as log:
        log.execute("UPDATE events SET body = replace(body, 'x', 'y')")
    log.close()
    assert (await look()).counts == {"planned": 4}
    (place.path / LOG).write_text("{")
    assert (await look()).counts == {"planned": 4}


async def test_nothing_is_read_that_has_not_changed(tmp_path: Path, look, monkeypatch: pytest.MonkeyPatch):
    place, cells = write_experiment(tmp_path / "results")
    for cell in cells[:3]:
        hold_cell(place, cell)
    revision = (await look()).revision
    read: list[Path] = []
    real = watching.read_manifest
    monkeypatch.setattr(watching, "read_manifest", lambda folder: read.append(folder) or real(folder))
    monkeypatch.setattr(type(place), "locked", lambda _: pytest.fail("the lock file was read again"))
    monkeypatch.setattr(watching, "summed", lambda _: pytest.fail("all cells were summed again"))
    assert (await look()).revision == revision
    assert read == []
    monkeypatch.undo()
    monkeypatch.setattr(watching, "read_manifest", lambda folder: read.append(folder) or real(folder))
    hold_cell(place, cells[3])
    assert (await look()).revision == revision + 1
    assert [folder.name for folder in read] == [cells[3]]


async def test_the_folder_is_read_at_most_every_two_seconds(experiments: Experiments, clock: Clock, tmp_path: Path):
    place, cells = write_experiment(tmp_path / "results")
    clock.now = 10.0
    watched = await experiments.look("small")
    hold_cell(place, cells[0])
    clock.now += EVERY_S - 0.1
    assert (await experiments.look("small")).counts == {"planned": 4}
    clock.now += 0.1
    assert (await experiments.look("small")) is watched
    assert watched.counts == {"done": 1, "planned": 3}


async def test_a_file_that_grows_keeps_its_cells(tmp_path: Path, look):
    place, cells = write_experiment(tmp_path / "results")
    hold_cell(place, cells[0])
    planned = (await look()).planned
    other, _ = write_experiment(tmp_path / "other", "small", grid={"method": ["need_to_talk"], "seed": [0, 1, 2]})
    (other.path / PLAN).replace(place.path / PLAN)
    watched = await look()
    assert watched.planned == planned + 1
    assert watched.axes == {"method": ["need_to_talk"], "seed": [0, 1, 2]}
    assert watched.counts == {"done": 1, "planned": 2}


async def test_only_some_stay_in_memory(tmp_path: Path):
    experiments = Experiments(tmp_path / "results")
    names = [f"e{number}" for number in range(KEPT + 2)]
    for name in names:
        write_experiment(tmp_path / "results", name)
    assert sorted((await experiments.found()).names) == names
    for name in names:
        assert (await experiments.summary(name)).cells == 4
    assert [*experiments._watched] == names[2:]
    assert (await experiments.summary("e0")).cells == 4
    assert "e0" not in experiments._watched  # nothing has changed, so its folder was not read


async def test_a_folder_whose_lock_file_is_damaged(tmp_path: Path, look):
    place, _ = write_experiment(tmp_path / "results")
    (place.path / PLAN).write_text('{"format": 1}')
    with pytest.raises(InputError, match="lock"):
        await look()


async def test_what_is_listed(tmp_path: Path, experiments: Experiments):
    assert (await experiments.found()).names == []
    place, cells = write_experiment(tmp_path / "results", "old")
    write_experiment(tmp_path / "results", "new")
    os.utime(place.path / PLAN, (1, 1))
    (tmp_path / "results" / "old").joinpath(LOG).touch()
    os.utime(place.path / LOG, (2, 2))
    (tmp_path / "results" / "empty").mkdir()
    (place.path.parent / "old").rename(place.path.parent / "old copy")
    (tmp_path / "outside").mkdir()
    (tmp_path / "results" / "link").symlink_to(tmp_path / "results" / "new")
    found = await experiments.found()
    assert (found.names, found.unread) == (["new"], ["old copy"])


@pytest.mark.parametrize("name", ["", ".", "..", "../secret", "a/b", "a\\b", "nul\0", "x" * 65, "-x", "ü", "small:"])
async def test_a_name_is_never_a_path(tmp_path: Path, experiments: Experiments, name: str):
    write_experiment(tmp_path / "results")
    write_experiment(tmp_path, "secret")
    for ask in (experiments.report, lambda name: experiments.table(name, "cells.csv")):
        with pytest.raises(NoExperimentError):
            ask(name)
    with pytest.raises(NoExperimentError, match="there is no experiment"):
        await experiments.look(name)
    assert experiments.run_of(f"{name}:{'0' * 12}") is None


async def test_links_are_not_followed(tmp_path: Path, experiments: Experiments, look):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    place, cells = write_experiment(tmp_path / "results")
    folder = hold_cell(place, cells[0])
    assert experiments.run_of(f"small:{cells[0]}") == folder
    (place.path / "tables").mkdir()
    (place.path / "tables" / "cells.csv").symlink_to(secret)
    (place.path / "report.html").symlink_to(secret)
    for ask in (lambda: experiments.report("small"), lambda: experiments.table("small", "cells.csv")):
        with pytest.raises(NoExperimentError):
            ask()
    watched = await look()
    assert (watched.report, watched.tables) == (0.0, ())
    (folder / "transcript.md").symlink_to(secret)
    assert experiments.run_of(f"small:{cells[0]}") is None
    with pytest.raises(NoExperimentError):
        experiments.transcript("small", cells[0])
    (place.path.parent / "link").symlink_to(place.path)
    with pytest.raises(NoExperimentError):
        await experiments.look("link")
    outside, _ = write_experiment(tmp_path / "elsewhere", "small")
    hold_cell(outside, cells[1])
    (place.runs / cells[1]).symlink_to(outside.runs / cells[1])
    place.tell("started", cells[1], run=cells[1], resumed=True)
    assert (await look()).cells[cells[1]].run == ""
    assert experiments.run_of(f"small:{cells[1]}") is None


@pytest.mark.parametrize("table", ["", "..", "../experiment.yaml", "cells.csv/..", "cells.exe", "CELLS.csv", ".csv"])
def test_a_table_is_never_a_path(tmp_path: Path, experiments: Experiments, table: str):
    place, _ = write_experiment(tmp_path / "results")
    (place.path / "tables").mkdir()
    with pytest.raises(NoExperimentError):
        experiments.table("small", table)


async def test_a_cells_run_is_read_and_never_changed(tmp_path: Path, web: WebContext):
    place, cells = write_experiment(tmp_path / "results")
    folder, run = hold_cell(place, cells[0]), f"small:{cells[0]}"
    assert web.runs.folder(run) == folder
    assert (await web.runs.board(run)).turn == 3
    assert web.runs.experiment_of(run) == "small"
    for change in (web.runs.resume(run), web.runs.branch(run, 1), web.runs.regenerate(run, 1)):
        with pytest.raises(InputError, match="a cell of an experiment"):
            await change
    with pytest.raises(InputError, match="there is no run"):
        web.runs.folder(f"small:{cells[1]}")


async def test_a_cell_that_is_being_held_is_found(tmp_path: Path, web: WebContext):
    place, cells = write_experiment(tmp_path / "results")
    folder = begin_cell(place, cells[0])
    assert web.runs.folder(f"small:{cells[0]}") == folder
