"""A small experiment, for tests to vary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persimchat.experiments import Experiment
from persimchat.experiments.api import Results, report_on
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan

Capsys = pytest.CaptureFixture[str]
Make = Callable[..., Experiment]
"""Write an experiment's file, the small one's with other fields: `make(**fields)`."""
Command = Callable[..., Any]
"""Give a command: `command("run", "small.yaml", code=2)` has what was printed, `out` and `err`."""
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


def planned(experiment: Experiment, path: Path) -> Results:
    """The results of an experiment that nobody has run."""
    place = Place(path)
    with place.driven():
        place.keep(plan(experiment))
    return report_on(experiment, place)


def report_of(results: Results) -> str:
    """The report that was written of results."""
    return (results.folder / "report.html").read_text(encoding="utf-8")
