"""What tests of experiments share: files of a small experiment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_experiment import SMALL, Capsys, Command

from persimchat.app.cli import main
from persimchat.experiments import Experiment


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Experiment]:
    """Write an experiment's file, the small one's with other fields, and load it."""

    def _make(**fields: Any) -> Experiment:
        path = tmp_path / "small.yaml"
        given = {name: value for name, value in {**SMALL, **fields}.items() if value is not None}
        path.write_text(yaml.safe_dump(given, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return Experiment.load(path)

    return _make


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> Command:
    """Give a command of experiments in the test's own folder, which ends with this code: what was printed."""
    monkeypatch.chdir(tmp_path)

    def _command(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main(["experiment", *words]) == code
        return capsys.readouterr()

    return _command
