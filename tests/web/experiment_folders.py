"""Folders of experiments, made up as their driver leaves them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml
from run_folders import write_run
from small_experiment import SMALL

from persimchat.experiments.file import Experiment
from persimchat.experiments.place import Place
from persimchat.experiments.plan import plan


def write_experiment(results: Path, name: str = "small", **fields: Any) -> tuple[Place, list[str]]:
    """Write the folder of an experiment of which nothing was held; its place, and the ids of its cells."""
    place = Place(results / name)
    place.runs.mkdir(parents=True)
    file = place.path / "given.yaml"
    file.write_text(yaml.safe_dump({**SMALL, "name": name, **fields}, allow_unicode=True), encoding="utf-8")
    planned = plan(Experiment.load(file))
    place.keep(planned)
    file.unlink()
    return place, [each.cell.id for each in planned.cells]


def begin_cell(place: Place, cell: str) -> Path:
    """Begin a cell, as the driver does; the folder of its run, which still has the run's name."""
    run = f"{cell}-0123abcd"
    place.tell("started", cell, run=run, resumed=False)
    return write_run(place.runs, run=run, stop_reason=None, ended=None, turn=1)


def hold_cell(place: Place, cell: str, **about: Any) -> Path:
    """Hold a cell to its end."""
    shutil.rmtree(begin_cell(place, cell))
    folder = write_run(place.runs, run=cell, **about)
    place.tell("done", cell)
    return folder
