"""Engines: the same driver, in one process or in several of Ray."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from experiment_tables import VARYING, rows
from loopback.scripted import task_of
from loopback.server import LoopbackServer, natural_answer
from run_files import logged
from small_experiment import Command, Make

from persimchat.experiments import Experiment, ray_engine, run_cell, run_experiment
from persimchat.experiments.base import Origin
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan
from persimchat.experiments.ray_worker import Failure, Task, about
from persimchat.experiments.run_cell import Attempt, EngineChoice
from persimchat.models import limits
from persimchat.models.limits import ModelLimit
from persimchat.runs.folder.lock import is_held
from persimchat.state.errors import InputError, MachineError, MissingExtraError, ModelError

SECRET = "a-password-of-somebody"


def attempt(make: Make, tmp_path: Path, **settings: Any) -> Attempt:
    planned = plan(make()).cells[0]
    given = planned.settings.model_copy(update=settings)
    place = Place(tmp_path / "small")
    own = {"budget_calls": 50}
    return Attempt(planned.cell.id, place.path, None, place.runs, "a-run", planned.scenario, given, None, own)


def test_an_attempt_comes_through_as_it_was(make: Make, tmp_path: Path):
    sent = attempt(make, tmp_path, temperature=0.3)
    assert pickle.loads(pickle.dumps(Task.of(sent))).complete() == sent


def test_no_password_goes_to_a_worker(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It takes the password from its own environment, if the address there is the same."""
    address = f"postgresql://me:{SECRET}@db.example/town"
    task = Task.of(attempt(make, tmp_path, checkpoints=address))
    assert SECRET not in str(task)
    monkeypatch.delenv("PERSIMCHAT_CHECKPOINTS", raising=False)
    assert task.complete().settings.checkpoints == "postgresql://me@db.example/town"
    monkeypatch.setenv("PERSIMCHAT_CHECKPOINTS", address)
    assert task.complete().settings.checkpoints == address
    monkeypatch.setenv("PERSIMCHAT_CHECKPOINTS", "postgresql://me:x@other.example/town")
    assert task.complete().settings.checkpoints == "postgresql://me@db.example/town"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InputError("what", where="where", remedy="Do it."), InputError),
        (MachineError("what", where="where"), MachineError),
        (ModelError("what", model="m", agent="a"), Exception),
    ],
)
def test_a_failure_says_the_same_on_the_driver(error: InputError | MachineError | ModelError, kind: type[Exception]):
    again = pickle.loads(pickle.dumps(Failure.of(error))).error()
    assert isinstance(again, kind)
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("python", "another version of Python than this machine: other and "),
        ("persimchat", "another version of PerSimChat"),
        ("prompts", "another version of the prompts"),
        ("place", "does not see the experiment's folder"),
    ],
)
def test_a_worker_that_differs_is_refused(field: str, words: str):
    own = about(None)
    assert ray_engine._different(own, own) is None
    refused = ray_engine._different(replace(own, machine="far", **{field: "other"}), own)
    assert refused is not None
    assert words in str(refused) and "(machine far)" in str(refused)


def test_no_password_of_a_branch_goes_to_a_worker(make: Make, tmp_path: Path):
    changes = {"checkpoints": f"postgresql://me:{SECRET}@db.example/town", "temperature": 0.3}
    origin = Origin(tmp_path / "a-run", "a-run", 2, None, changes)
    sent = Task.of(replace(attempt(make, tmp_path), origin=origin)).complete()
    assert sent.origin is not None and sent.origin.changes["temperature"] == 0.3
    assert SECRET not in str(sent)


def test_workers_share_slots():
    limits = {"m": ModelLimit(per_second=10.0, at_once=7)}
    assert [ray_engine.shared(limits, 3, number)["m"].at_once for number in range(3)] == [3, 2, 2]
    assert ray_engine.shared(limits, 3, 0)["m"].per_second == 10.0
    with pytest.raises(InputError, match="7 slots for 8 workers"):
        ray_engine.shared(limits, 8, 0)


def test_workers_share_the_rate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits._Sharing, "processes", 1)
    assert limits._rate(10.0).requests_per_second == 10.0
    limits.share_rates(4)
    assert limits._rate(10.0).requests_per_second == 2.5


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (EngineChoice(workers=2), "--workers goes with the engine ray alone"),
        (EngineChoice(address="auto"), "--address goes with the engine ray alone"),
        (EngineChoice("ray", workers=0), "0 workers are not possible"),
        (EngineChoice("ray", workers=10_000), "10000 workers are not possible"),
    ],
)
def test_what_does_not_go_together(choice: EngineChoice, words: str):
    with pytest.raises(InputError, match=words):
        choice.check()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_cell, "find_spec", lambda name: None if name == "ray" else find_spec(name))
    with pytest.raises(MissingExtraError, match=r"pip install 'persimchat\[ray\]'"):
        EngineChoice("ray").check()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:1", "no Ray cluster can be reached: Connection refused (--address 127.0.0.1:1). Start one with: "),
        ("ray://127.0.0.1:10001", "is not the address of a Ray cluster (--address). Give HOST:PORT"),
        ("nowhere", "is not the address of a Ray cluster"),
    ],
)
def test_an_address_without_a_cluster(make: Make, tmp_path: Path, command: Command, address: str, words: str):
    make(grid={})
    told = command("run", "small.yaml", "--yes", "--engine", "ray", "--address", address, code=2).err
    assert words in told and told.count("\n") == 1
    assert not (tmp_path / "results").exists()


@contextmanager
def with_ray(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The experiment `small` in two workers; whatever is left at the end is killed."""
    command = [sys.executable, "-m", "persimchat", "experiment", "run", str(folder / "small.yaml"), "--yes", "--json"]
    command += ["--out", str(folder / "ray"), "--engine", "ray", "--workers", "2", *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        for left in [*psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []:
            left.kill()
        process.kill()
        process.communicate()


def asked(folder: Path) -> bool:
    """Whether a conversation has had an answer."""
    try:
        return bool(logged(folder, "asked_model"))
    except InputError:  # it is just being made
        return False


def holding(process: subprocess.Popen[str], runs: Path, least: int) -> list[psutil.Process]:
    """The workers, once so many conversations have had answers and are under way."""
    while process.poll() is None:
        if sum(is_held(path.parent) and asked(path.parent) for path in runs.glob("*/run.sqlite")) >= least:
            below = psutil.Process(process.pid).children(recursive=True)
            return [child for child in below if child.cmdline() and child.cmdline()[0].startswith("ray::CellWorker")]
        time.sleep(0.05)
    raise AssertionError(process.communicate())


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.long
def test_a_killed_worker_of_ray(make: Make, tmp_path: Path):
    """One of two is killed while it holds conversations; they go on, and the tables are those of one process."""
    goes_on = Event()
    goes_on.set()

    def answer(body: dict[str, Any]) -> Any:
        if task_of(body) == "utterance":
            assert goes_on.wait(120)
        return natural_answer(body)

    folder = tmp_path / "ray" / "small"
    with LoopbackServer(answer=answer) as server:
        settings = {"model": server.model(), "max_messages": 4}
        make(base={**make().base.model_dump(exclude_unset=True), "settings": settings})
        whole = run_experiment(Experiment.load(tmp_path / "small.yaml"), tmp_path / "whole").folder
        goes_on.clear()
        with with_ray(tmp_path) as process:
            workers = holding(process, folder / "runs", 4)
            assert len(workers) == 2
            assert {worker.environ().get("RAY_USAGE_STATS_ENABLED") for worker in workers} == {"0"}
            everybody = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            listening = [each for one in everybody for each in one.net_connections() if each.status == "LISTEN"]
            assert {each.laddr.ip.removeprefix("::ffff:") for each in listening} == {"127.0.0.1"}
            workers[0].kill()
            goes_on.set()
            out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert json.loads(out)["done"] == 4  # and nothing of Ray's among it
    assert "CellWorker" not in err
    assert rows(folder, "cells", without=VARYING) == rows(whole, "cells", without=VARYING)
    for table in ("measures", "comparisons"):
        assert rows(folder, table) == rows(whole, table)
    events = Place(folder).told()
    assert sorted(event.cell for event in events if event.status == "done") == sorted(
        row["cell"] for row in rows(whole, "cells")
    )
    assert {event.resumed for event in events[4:] if event.status == "started"} == {True}
    assert not [one for one in everybody if is_alive(one)]


@pytest.mark.long
@pytest.mark.proof
def test_ctrl_c_with_ray(make: Make, tmp_path: Path):
    """Workers stop their conversations in good order and end; the line that goes on names the engine."""
    make(grid={"seed": {"from": 0, "count": 8}}, limits={"cells": 1})
    place = Place(tmp_path / "ray" / "small")
    with with_ray(tmp_path) as process:
        workers = holding(process, place.runs, 2)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert "--engine ray --workers 2" in err and err.count("\n") == 2
    assert not [worker for worker in workers if is_alive(worker)]
    standings = [place.standing(cell.id) for cell in place.locked().cells]
    begun = [standing.manifest for standing in standings if standing.status == "begun"]
    assert begun and {manifest.stop_reason for manifest in begun if manifest} == {"stopped"}
