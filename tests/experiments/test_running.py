"""Experiments come to their end: again at no cost, elsewhere alike, within a budget, after kills and failures."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from experiment_tables import VARYING, rows
from loopback.answering import Fault, natural_answer
from loopback.server import LoopbackServer
from small_experiment import SMALL

from persimchat.app.cli import main
from persimchat.experiments import Experiment, run_experiment
from persimchat.experiments.api import report_on
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan
from persimchat.runs.folder.calls import CALLS
from persimchat.runs.result import collected
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError

Make = Callable[..., Experiment]


@pytest.mark.proof
def test_the_example(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
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
def test_killed_and_started_again(make: Make, tmp_path: Path):
    """Killed at ten random moments, it ends with the tables of an undisturbed one, and no cell is held twice."""
    make(compare=[{"by": "method"}], base={**SMALL["base"], "settings": {"model": "offline", "max_messages": 4}})
    file, torn = str(tmp_path / "small.yaml"), tmp_path / "torn" / "small"
    whole = run_experiment(Experiment.load(file), tmp_path / "whole").folder
    command = ["experiment", "run", file, "--yes", "--json", "--out", str(tmp_path / "torn")]
    started = multiprocessing.get_context("forkserver")  # what takes long to import is imported once
    started.set_forkserver_preload(["persimchat.app.cli", "persimchat.experiments.api", "persimchat.app.following"])
    calls = sum(int(row["calls"]) for row in rows(whole, "cells"))
    for moment in sorted(random.Random(11).sample(range(calls * 9 // 10), 10)):
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
    events = [json.loads(line) for line in (torn / "cells.jsonl").read_text().splitlines()]
    done = [event["cell"] for event in events if event["event"] == "done"]
    assert len(done) == len(set(done))
    ended: set[str] = set()
    for event in events:
        assert event["cell"] not in ended
        ended |= {event["cell"]} if event["event"] == "done" else set()
    assert {path.name for path in (torn / "runs").iterdir()} == {row["cell"] for row in rows(torn, "cells")}


def _answered(folder: Path) -> int:
    """How many requests the runs of an experiment have recorded."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob(f"runs/*/{CALLS}"))


def _wait_until_driving(alive: Callable[[], bool], folder: Path) -> None:
    """Wait until a cell has been started since the last kill, or the process is over."""
    path = folder / "cells.jsonl"
    before = path.stat().st_size if path.is_file() else 0
    while alive() and not (path.is_file() and path.stat().st_size > before):
        time.sleep(0.02)


@pytest.mark.proof
def test_ctrl_c(make: Make, tmp_path: Path):
    """It stops in good order, says how to go on, and the cells go on from where they were."""
    make(grid={"seed": {"from": 0, "count": 6}}, limits={"cells": 2})
    command = [sys.executable, "-m", "persimchat", "experiment", "run", str(tmp_path / "small.yaml"), "--yes"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path)
    _wait_until_driving(lambda: process.poll() is None, tmp_path / "results" / "small")
    time.sleep(0.3)
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
def test_a_budget_of_calls_holds(make: Make, tmp_path: Path, serving: Callable[..., LoopbackServer]):
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
def test_many_failures_stop_it(make: Make, tmp_path: Path, serving: Callable[..., LoopbackServer], quick_retries: None):
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
def test_baselines_have_their_share_of_a_budget(make: Make, tmp_path: Path, serving: Callable[..., LoopbackServer]):
    """Their runs end with their reserve, too, so that the whole is kept; those that used it up go on with more."""
    server = serving(natural_answer)
    grid = {"method": ["group_chat", "single_agent"], "seed": {"from": 0, "count": 4}}
    base = on(server, max_messages=4)
    first = run_experiment(make(base=base, grid=grid, limits={"budget_calls": 20}), tmp_path).outcome
    assert first is not None and 0 < len(first.done) < 8
    assert first.spent.calls == len(server.bodies()) <= 20
    manifests = [json.loads(path.read_text()) for path in tmp_path.glob("small/runs/*/run.json")]
    assert all(manifest["settings"]["budget_calls"] for manifest in manifests)
    second = run_experiment(make(base=base, grid=grid), tmp_path).outcome
    assert second is not None and len(second.done) == 8
