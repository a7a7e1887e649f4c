"""Experiments come to their end: again at no cost, elsewhere alike, within a budget, after kills and failures."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from experiment_tables import VARYING, rows
from fixtures import Refused, Serve
from hypothesis import given
from hypothesis import strategies as st
from loopback.answering import Fault, natural_answer
from loopback.server import LoopbackServer
from run_files import logged, run_json
from run_folders import call, rewrite, write_run
from small_experiment import SMALL, Capsys, Command, Make

from persimchat.app.cli import main
from persimchat.experiments import Experiment, estimate, run_experiment
from persimchat.experiments.api import prepare, report_on
from persimchat.experiments.driver import Admission
from persimchat.experiments.estimate import disk_bytes, foreseen
from persimchat.experiments.place import LOG, Place, stale, stale_cells
from persimchat.experiments.plan import plan
from persimchat.experiments.run_cell import Attempt, LocalEngine
from persimchat.runs.api import collected
from persimchat.runs.folder.reading import read_manifest
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError, ModelError


@pytest.mark.long
def test_the_example(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    """Twelve cells; again, no call; in another folder, the same tables but for times."""
    monkeypatch.chdir(root)
    run = ["experiment", "run", "examples/experiments/tea.yaml", "--yes", "--out"]
    assert main([*run, str(tmp_path / "one")]) == 0
    assert "12 of 12 done, 912 calls" in capsys.readouterr().out
    assert main([*run, str(tmp_path / "one")]) == 0
    assert "12 of 12 done, 0 calls" in capsys.readouterr().out
    assert main([*run, str(tmp_path / "two")]) == 0
    one, two = tmp_path / "one" / "tea", tmp_path / "two" / "tea"
    assert rows(one, "cells") == rows(two, "cells")
    for table in ("measures", "comparisons"):
        assert (one / "tables" / f"{table}.csv").read_bytes() == (two / "tables" / f"{table}.csv").read_bytes()
    assert [row["status"] for row in rows(one, "cells")] == ["done"] * 12
    assert len(rows(one, "measures")) == 36
    report = (one / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|https?://|url\(|\bon\w+=", report)
    assert "Unit of analysis" in report
    assert "<b>n</b> = 6 tasks (by method), 3 tasks (by wording); none left out" in report
    before = {path.name: path.read_bytes() for path in (one / "tables").iterdir()}
    assert main(["experiment", "report", str(one)]) == 0
    assert {path.name: path.read_bytes() for path in (one / "tables").iterdir()} == before
    runs = {path.name for path in (one / "runs").iterdir()}
    assert runs == {row["cell"] for row in rows(one, "cells")}
    assert main(["show", f"{one}:{min(runs)[:6]}"]) == 0
    assert main(["show", f"{one}:nothing"]) == 2


@pytest.mark.proof
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.long)])
def test_killed_and_started_again(make: Make, tmp_path: Path, kills: int):
    """Killed at random moments, it ends with the tables of an undisturbed one, and no cell is held twice."""
    make(compare=[{"by": "method"}], base={**SMALL["base"], "settings": {"model": "offline", "max_messages": 4}})
    file, torn = str(tmp_path / "small.yaml"), tmp_path / "torn" / "small"
    whole = run_experiment(Experiment.load(file), tmp_path / "whole").folder
    command = ["experiment", "run", file, "--yes", "--json", "--out", str(tmp_path / "torn")]
    started = multiprocessing.get_context("forkserver")  # what takes long to import is imported once
    started.set_forkserver_preload(["persimchat.app.cli", "persimchat.experiments.api", "persimchat.app.following"])
    calls = sum(int(row["calls"]) for row in rows(whole, "cells"))
    for moment in sorted(random.Random(11).sample(range(calls * 9 // 10), kills)):
        process = started.Process(target=main, args=(command,))
        process.start()
        _wait_until_driving(process.is_alive, torn)
        while process.is_alive() and _answered(torn) < moment:
            time.sleep(0.01)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert main(command) == 0
    assert rows(torn, "cells", without=VARYING) == rows(whole, "cells", without=VARYING)
    for table in ("measures", "comparisons"):
        assert rows(torn, table) == rows(whole, table)
    events = Place(torn).told()
    done = [event.cell for event in events if event.status == "done"]
    assert len(done) == len(set(done))
    ended: set[str] = set()
    for event in events:
        assert event.cell not in ended
        ended |= {event.cell} if event.status == "done" else set()
    assert {path.name for path in (torn / "runs").iterdir()} == {row["cell"] for row in rows(torn, "cells")}


def _answered(folder: Path) -> int:
    """How many requests the runs of an experiment have recorded."""
    answered = 0
    for path in folder.glob("runs/*/run.sqlite"):
        with contextlib.suppress(InputError):  # it is being made
            answered += len(logged(path.parent, "asked_model"))
    return answered


def _wait_until_driving(alive: Callable[[], bool], folder: Path) -> None:
    """Wait until a cell has been started since the last kill, or the process is over."""
    before = len(Place(folder).told())
    while alive():
        with contextlib.suppress(InputError):  # it is being made
            if len(Place(folder).told()) > before:
                return
        time.sleep(0.02)


@pytest.mark.proof
def test_ctrl_c(make: Make, tmp_path: Path):
    """It stops in good order, says how to go on, and the cells go on from where they were."""
    make(grid={"seed": {"from": 0, "count": 6}}, limits={"cells": 2})
    command = [sys.executable, "-m", "persimchat", "experiment", "run", str(tmp_path / "small.yaml"), "--yes"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path)
    _wait_until_driving(lambda: process.poll() is None, tmp_path / "results" / "small")
    while process.poll() is None and not _answered(tmp_path / "results" / "small"):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"Go on with: persimchat experiment run {tmp_path / 'small.yaml'}" in told.decode()
    place = Place(tmp_path / "results" / "small")
    assert "planned" in {place.standing(cell.id).status for cell in place.locked().cells}
    outcome = run_experiment(Experiment.load(tmp_path / "small.yaml"), tmp_path / "results").outcome
    assert outcome is not None and len(outcome.done) == 6


def on(server: LoopbackServer, **settings: Any) -> dict[str, Any]:
    model = f"m@{server.url}"
    return {
        "topic": "Tea or coffee?",
        "participants": ["Jarmila", "Zeynep"],
        "settings": {"model": model, "max_messages": 2, **settings},
    }


@pytest.mark.proof
def test_a_budget_of_calls_holds(make: Make, tmp_path: Path, serving: Serve):
    """The server counts no more requests than the budget; what is left is planned, and a higher budget goes on."""
    server = serving(natural_answer)
    grid = {"seed": {"from": 0, "count": 5}}
    first = run_experiment(make(base=on(server), grid=grid, limits={"budget_calls": 80}), tmp_path).outcome
    assert first is not None
    assert 0 < len(first.done) < 5 and len(first.done) + len(first.left) == 5
    asked = first.spent.calls
    assert asked == len(server.bodies()) <= 80
    assert first.stopped == "the budget does not suffice for another cell"
    second = run_experiment(make(base=on(server), grid=grid), tmp_path).outcome
    assert second is not None and len(second.done) == 5


@pytest.mark.proof
def test_a_cell_that_used_up_its_budget_goes_on_with_more(make: Make, tmp_path: Path):
    """Until then it is kept and listed, but not measured."""
    wanted = make(grid={})
    (planned,) = plan(wanted).cells
    place = Place(tmp_path / "small")
    settings = planned.settings.model_copy(update={"budget_calls": 12})
    run = place.new_run(planned.cell.id)
    asyncio.run(collected(run_simulation(planned.scenario, settings, out=place.runs, run=run)))
    place.keep(plan(wanted))
    before = report_on(wanted, place)
    assert [row["status"] for row in before.rows("cells")] == ["budget"]
    assert [row["missing"] for row in before.rows("measures")] == ["the conversation is not complete: budget"]
    results = run_experiment(wanted, tmp_path)
    assert results.outcome is not None and results.outcome.failed == {}
    assert [row["status"] for row in results.rows("cells")] == ["done"]
    assert results.outcome.made == results.outcome.spent.calls - 12


@pytest.mark.proof
def test_many_failures_stop_it(make: Make, tmp_path: Path, serving: Serve, quick_retries: None):
    """A model that refuses everything: five cells fail, the others are not tried, and all of them are missing."""
    server = serving(lambda _: Fault(401))
    wanted = make(base=on(server), grid={"seed": {"from": 0, "count": 12}}, limits={"cells": 1, "retries": 0})
    results = run_experiment(wanted, tmp_path)
    assert results.outcome is not None
    assert len(results.outcome.failed) == 5 and len(results.outcome.left) == 7
    assert "5 of the first 5 cells failed" in results.outcome.stopped
    measured = results.rows("measures")
    assert {row["value"] for row in measured} == {None}
    assert all(row["missing"] for row in measured)


@pytest.mark.proof
def test_results_from_python(make: Make, tmp_path: Path):
    """Rows for data frames, comparisons at will; where a loop runs already, too."""

    async def inside() -> Any:
        return run_experiment(make(grid={"method": ["need_to_talk", "round_robin"]}), tmp_path)

    results = asyncio.run(inside())
    assert [row["method"] for row in results.rows("measures")] == ["need_to_talk", "round_robin"]
    (one,) = results.compare("balance", "method")
    assert (one.a, one.b, one.difference.n) == ("round_robin", "need_to_talk", 1)
    with pytest.raises(InputError, match="no table 'cell'"):
        results.rows("cell")
    with pytest.raises(InputError, match="no measure 'balanced'"):
        results.compare("balanced", "method")


@pytest.mark.proof
def test_baselines_have_their_share_of_a_budget(make: Make, tmp_path: Path, serving: Serve):
    """Their runs end with their reserve, too, so that the whole is kept; those that used it up go on with more."""
    server = serving(natural_answer)
    grid = {"method": ["group_chat", "single_agent"], "seed": {"from": 0, "count": 4}}
    base = on(server, max_messages=4)
    first = run_experiment(make(base=base, grid=grid, limits={"budget_calls": 20}), tmp_path).outcome
    assert first is not None and 0 < len(first.done) < 8
    assert first.spent.calls == len(server.bodies()) <= 20
    manifests = [run_json(path.parent) for path in tmp_path.glob("small/runs/*/run.sqlite")]
    assert all(manifest["settings"]["budget_calls"] for manifest in manifests)
    second = run_experiment(make(base=base, grid=grid), tmp_path).outcome
    assert second is not None and len(second.done) == 8


# `--renew`: stale conversations are held again, and none is lost before the new one is complete


def other_prompts(folder: Path) -> None:
    """Have a run say that it was held with other prompts."""
    rewrite(folder, "begun", lambda begun: {**begun, "prompt_hash": "0" * 64})


def run_like(place: Place, name: str, run: str) -> Path:
    folder = write_run(place.runs, run=run)
    return folder.rename(place.runs / name)


def test_the_new_run_takes_the_place_of_the_old_one(tmp_path: Path):
    place = Place(tmp_path)
    run_like(place, "c1", "old")
    run_like(place, "c1-00", "new")
    place.replace("c1")
    assert [path.name for path in place.runs.iterdir()] == ["c1"]
    assert run_json(place.runs / "c1")["run"] == "new"
    place.replace("c1")
    assert [path.name for path in place.runs.iterdir()] == ["c1"]


def test_killed_between_the_two_the_new_run_is_found_and_the_old_one_removed(tmp_path: Path):
    place = Place(tmp_path)
    run_like(place, ".c1.replaced", "old")
    run_like(place, "c1-00", "new")
    with place.driven():
        assert [path.name for path in place.runs.iterdir()] == ["c1-00"]
        assert place.named("c1") == place.runs / "c1"


def test_what_a_baseline_does_not_heed_makes_nothing_stale(make: Make, tmp_path: Path):
    """Its id leaves such settings out, though its run.json has them."""
    grid = {"method": ["single_agent"], "memory_tokens": [444]}
    results = run_experiment(make(grid=grid), tmp_path)
    assert [row["stale"] for row in results.rows("cells")] == [None]


def test_how_to_prune_makes_nothing_stale_where_nothing_is_left_out(make: Make, tmp_path: Path):
    """The id of a cell without pruning leaves the group out, though its run.json has it."""
    wanted = make(
        base={"topic": "Tea?", "settings": {"pruning": {"method": "embedding"}}}, grid={"pruning.lambda": [0.0, 0.6]}
    )
    for each in plan(wanted).cells:
        folder = write_run(tmp_path, run=each.cell.id, settings=each.settings.model_dump(mode="json", by_alias=True))
        held = read_manifest(folder)
        held = held.model_copy(update={"prompt_hash": held.settings.prompts_now})
        assert not stale(each.cell, held)
        other = {**each.cell.settings, "pruning": {"method": "length", "lambda": 0.9}}
        told = stale(each.cell.model_copy(update={"settings": other}), held)
        assert told == "the default of pruning has changed"


@pytest.mark.proof
def test_stale_conversations_are_held_again(make: Make, tmp_path: Path, command: Command):
    wanted = make()
    first = run_experiment(wanted, tmp_path)
    place = Place(first.folder)
    old, *others = [cell.id for cell in first.tables.locked.cells]
    other_prompts(place.runs / old)
    before = {cell: read_manifest(place.runs / cell).run for cell in (old, *others)}
    run = ["run", "small.yaml", "--out", ".", "--yes"]
    told = command(*run).out
    assert "1 of them stale (it was held with other prompts): they are kept; --renew holds them again." in told
    assert "4 of 4 done, 0 calls" in told
    told = command(*run, "--renew").out
    assert "3 of 4 done, 1 to hold." in told and "they are held again." in told
    after = {cell: read_manifest(place.runs / cell).run for cell in (old, *others)}
    assert {cell for cell in after if after[cell] != before[cell]} == {old}
    assert {path.name for path in place.runs.iterdir()} == {old, *others}
    cells = {each.cell.id: each.cell for each in plan(wanted).cells}
    assert not stale_cells(cells.values(), {cell: place.standing(cell) for cell in cells})


@pytest.mark.proof
def test_nothing_is_lost_if_it_fails(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The old conversation stays, complete; what the new one has is gone on with the next time."""
    wanted = make(grid={}, limits={"retries": 0})
    results = run_experiment(wanted, tmp_path)
    (cell,) = results.tables.locked.cells
    place = Place(results.folder)
    other_prompts(place.runs / cell.id)
    held = LocalEngine.hold

    async def failing(self: LocalEngine, attempt: Attempt) -> None:
        await held(self, replace(attempt, own={"budget_calls": 10}))
        raise ModelError("the model is gone", model="m")

    monkeypatch.setattr(LocalEngine, "hold", failing)
    failed = run_experiment(wanted, tmp_path, renew=True)
    assert failed.outcome is not None and failed.outcome.failed.keys() == {cell.id}
    standing = place.standing(cell.id)
    assert standing.status == "done" and standing.manifest is not None
    assert stale(cell, standing.manifest)
    assert place.standing(cell.id, anew=True).status == "budget"
    monkeypatch.setattr(LocalEngine, "hold", held)
    assert prepare(wanted, tmp_path, renew=True).standings[cell.id].status == "budget"
    outcome = run_experiment(wanted, tmp_path, renew=True).outcome
    assert outcome is not None and outcome.done == {cell.id}
    assert [path.name for path in place.runs.iterdir()] == [cell.id]
    assert not prepare(wanted, tmp_path).stale


# The folder: a second driver, another experiment's folder and a torn line; a cell's run folder is the truth


def test_a_second_driver_is_refused(tmp_path: Path, refused: Refused):
    def twice() -> None:
        with Place(tmp_path / "x").driven(), Place(tmp_path / "x").driven():
            pass

    refused(twice, "being run by another process")
    with Place(tmp_path / "x").driven():
        pass


def test_what_is_damaged_of_the_cells_is_left_out(tmp_path: Path):
    place = Place(tmp_path / "x")
    with place.driven():
        (place.path / LOG).touch()  # killed when the file was made
        assert place.tries() == {}
        for run in ("c1-0", "c1-1", "c1-2"):
            place.tell("started", "c1", run=run)
    with sqlite3.connect(place.path / LOG) as log:
        assert log.execute("SELECT cell, status, run FROM cells").fetchall()[1] == ("c1", "started", "c1-1")
        log.execute("UPDATE events SET body = replace(body, 'c1-1', 'c1-9')")
    log.close()
    assert place.tries() == {"c1": 2} and [one.run for one in place.told()] == ["c1-0", "c1-2"]


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
    for cell, asked in (("c1", []), ("c2", [call(0, "A")])):
        write_run(place.runs, run=f"{cell}-00", ended=None, stop_reason=None, more={"asked_model": asked})
    assert place.opened("c1") is None
    assert place.opened("c2") == place.runs / "c2"
    assert [path.name for path in place.runs.iterdir()] == ["c2"]


# Admission under a budget: what runs together cannot pass it


CALLS = {"budget_calls": 40.0}


def test_the_worked_example():
    """A budget of 100 calls and three cells of 40: two start, use 38 and 41, and the third stays planned."""
    account = Admission({"budget_calls": 100}, {})
    assert account.admit("a", CALLS) == {"budget_calls": 50}
    assert account.admit("b", CALLS) == {"budget_calls": 50}
    assert account.admit("c", CALLS) is None
    account.settle("a", {"budget_calls": 38})
    assert account.admit("c", CALLS) is None
    account.settle("b", {"budget_calls": 41})
    assert account.admit("c", CALLS) is None
    assert account.spent == {"budget_calls": 79}


def test_the_last_cell_gets_all_that_is_left():
    account = Admission({"budget_calls": 45}, {})
    assert account.admit("a", CALLS) == {"budget_calls": 45}
    assert account.admit("b", CALLS) is None


def test_without_a_budget_all_start():
    account = Admission({}, {})
    assert [account.admit(name, CALLS) for name in "abc"] == [{}, {}, {}]


def test_a_cell_that_goes_on_counts_what_it_has_used():
    account = Admission({"budget_calls": 100}, {"budget_calls": 30})
    assert account.admit("a", CALLS, {"budget_calls": 30}) == {"budget_calls": 43}


def test_a_short_cell_reserves_a_whole_call():
    """A quarter of three calls is less than one, but an answer may be asked for again."""
    account = Admission({"budget_calls": 100}, {})
    assert account.admit("a", {"budget_calls": 3.0}) == {"budget_calls": 4}
    assert account.admit("b", {"budget_calls": 1.0}, reserve=2.5) == {"budget_calls": 3}


@given(
    limit=st.integers(1, 500),
    cells=st.lists(st.tuples(st.integers(1, 100), st.floats(0, 1)), max_size=20),
)
def test_the_sum_never_passes_the_budget(limit: int, cells: list[tuple[int, float]]):
    """Each cell uses at most its own budget, so all together use at most the whole."""
    account = Admission({"budget_calls": limit}, {})
    running: list[tuple[str, float, float]] = []
    for number, (needed, share) in enumerate(cells):
        own = account.admit(str(number), {"budget_calls": needed})
        if own is not None:
            running.append((str(number), own["budget_calls"], share))
        elif running:
            name, most, part = running.pop(0)
            account.settle(name, {"budget_calls": most * part})
    for name, most, part in running:
        account.settle(name, {"budget_calls": most * part})
    assert account.spent["budget_calls"] <= limit


# What an estimate says besides calls: room on the disk, and what the comparisons can find


def test_tasks_are_counted_as_they_are_compared(make: Make):
    """Seeds and wordings make tasks; an axis that is compared, or any other, does not."""
    grid = {"method": ["need_to_talk", "single_agent"], "memory_tokens": [200, 400], "seed": {"from": 0, "count": 4}}
    compare = [{"by": "method"}, {"by": "seed"}, {"by": "memory_tokens", "within": {"method": "single_agent"}}]
    found = foreseen(plan(make(grid=grid, compare=compare)))
    assert [each.tasks for each in found] == [4, 1, 4]
    assert [(each.needed, each.share) for each in found] == [(199, None)] * 3


@pytest.mark.proof
def test_an_estimate_says_it(make: Make, monkeypatch: pytest.MonkeyPatch, command: Command):
    make(grid={"method": ["need_to_talk", "round_robin"], "seed": {"from": 0, "count": 6}}, compare=[{"by": "method"}])
    told = command("estimate", "small.yaml")
    assert "compare by method: 6 tasks, finds a level that is better in 96 % of them; " in told.out
    assert "one that is better in 60 % needs 199 (sign test, power 80 %)" in told.out
    assert "disk: about 9 MB, as run folders are; " in told.out
    assert told.err == ""
    monkeypatch.setattr(estimate, "disk_free", lambda _: 1_000_000)
    told = command("estimate", "small.yaml")
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


@pytest.mark.proof(cases=2)
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


# One damaged run is a row with its reason


SCRIPT = {**SMALL["base"], "settings": {"model": "offline", "max_messages": 1}}


def in_the_middle(log: Path) -> None:
    """Change a letter of what was said."""
    with sqlite3.connect(log) as database:
        database.execute("UPDATE events SET body = replace(body, 'e', 'a') WHERE kind = 'utterance'")


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "empty": lambda log: log.write_bytes(b""),
    "no database": lambda log: log.write_bytes(b"This is no database. " * 200),
    "half of it": lambda log: log.write_bytes(log.read_bytes()[: log.stat().st_size // 2]),
    "another letter": in_the_middle,
}


@pytest.mark.proof
@pytest.mark.parametrize("way", DAMAGES)
def test_a_damaged_run_is_a_failed_cell_and_the_others_are_reported(
    make: Make, tmp_path: Path, command: Command, way: str
):
    make(grid={"method": ["need_to_talk", "round_robin"], "seed": [0, 1, 2]}, base=SCRIPT)
    command("run", "small.yaml", "--yes")
    folder = tmp_path / "results" / "small"
    damaged = sorted((folder / "runs").iterdir())[0]
    DAMAGES[way](damaged / "run.sqlite")
    for name, code in (("report", 0), ("run", 1)):
        said = command(name, "small.yaml", code=code)
        found = rows(folder, "cells")
        assert [row["status"] for row in found].count("done") == 5
        (failed,) = (row for row in found if row["status"] == "failed")
        assert failed["cell"] == damaged.name and "run.sqlite" in failed["why"]
        assert "move the run's folder away: it is then held again" in failed["why"]
        values = [row["value"] for row in rows(folder, "measures")]
        assert values.count("") == 1 and len(values) == 6
    assert f"cell {damaged.name} failed" in said.err
    shutil.move(damaged, tmp_path / "away")
    command("run", "small.yaml")
    assert {row["status"] for row in rows(folder, "cells")} == {"done"}


@pytest.mark.proof
def test_a_run_without_its_log_is_held_again(make: Make, tmp_path: Path):
    run_experiment(make(base=SCRIPT), tmp_path)
    log = sorted(tmp_path.glob("small/runs/*/run.sqlite"))[0]
    log.unlink()
    place = Place(tmp_path / "small")
    report_on(make(base=SCRIPT), place)
    assert sorted(row["status"] for row in rows(place.path, "cells")) == ["done", "done", "done", "planned"]
    again = run_experiment(make(base=SCRIPT), tmp_path).outcome
    assert again is not None and len(again.done) == 4 and not again.failed
