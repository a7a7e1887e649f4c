"""What tests of experiments share: files of a small experiment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_experiment import SMALL

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
