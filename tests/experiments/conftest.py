"""What tests of experiments share: a small experiment's data, and a file of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from persimchat.experiments import Experiment

SMALL: dict[str, Any] = {
    "name": "small",
    "base": {
        "topic": "Tea or coffee?",
        "participants": ["Jarmila", "Zeynep"],
        "settings": {"model": "offline", "max_messages": 2},
    },
    "grid": {"method": ["need_to_talk", "round_robin"], "seed": [0, 1]},
    "measures": {"evaluators": ["balance"]},
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Experiment]:
    """Write an experiment's file, the small one's with other fields, and load it."""

    def _make(**fields: Any) -> Experiment:
        path = tmp_path / "small.yaml"
        given = {name: value for name, value in {**SMALL, **fields}.items() if value is not None}
        path.write_text(yaml.safe_dump(given, allow_unicode=True, sort_keys=False), encoding="utf-8")
        return Experiment.load(path)

    return _make
