"""`persimchat experiment` says on one line what is wrong, before anything is held."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from persimchat.app.cli import main
from persimchat.experiments import Experiment

Make = Callable[..., Experiment]
Capsys = pytest.CaptureFixture[str]


def test_an_estimate(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    make()
    monkeypatch.chdir(tmp_path)
    assert main(["experiment", "estimate", "small.yaml"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("small: 4 conversations (method 2 × seed 2)\noffline: about ")
    assert main(["experiment", "estimate", "small.yaml", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["cells"], data["done"]) == (4, 0)
    assert f"about {data['missing']['calls']} calls" in told
    assert not (tmp_path / "results").exists()


def test_what_is_wrong(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    make(grid={"memroy_filtering": [True]})
    monkeypatch.chdir(tmp_path)
    for arguments, words in (
        (["run", "missing.yaml"], "there is no such file"),
        (["run", "small.yaml"], "Did you mean 'memory_filtering'?"),
        (["report", "."], "experiment.yaml"),
    ):
        assert main(["experiment", *arguments]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert words in said.err
    assert not (tmp_path / "results").exists()


def test_a_small_budget_is_refused(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    make()
    monkeypatch.chdir(tmp_path)
    assert main(["experiment", "run", "small.yaml", "--yes", "--budget-calls", "3"]) == 2
    assert "budget_calls=3 is below what the smallest cell is expected to use" in capsys.readouterr().err


def test_it_asks_where_it_is_long(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys):
    make(grid={"seed": {"from": 0, "count": 200}})
    monkeypatch.chdir(tmp_path)
    with Path(os.devnull).open(encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        assert main(["experiment", "run", "small.yaml"]) == 2
    assert "Add --yes." in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
