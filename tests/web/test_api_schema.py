"""The REST API keeps to its own description: schemathesis sends it what fits and what does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from web.conftest import Server
from web.experiment_folders import hold_cell, write_experiment

WITHOUT = "positive_data_acceptance"
"""A check that asks that whatever has the right form is accepted; nobody has the name of a random participant."""

KNOWN = """
[parameters]
"path.run" = ["{run}", "no-run", "small:{cell}"]
"path.name" = ["small", "none"]
"path.table" = ["cells.csv", "none.csv"]
"path.cell" = ["{cell}", "none"]

[[operations]]
include-name = "DELETE /api/runs/{{run}}"
parameters = {{ "path.run" = "no-run" }}
"""
"""Configuration of schemathesis: a run that there is, and is not deleted."""


@pytest.mark.proof
def test_it_keeps_to_its_description(tmp_path: Path):
    served = Server(
        tmp_path, PERSIMCHAT_MAX_MESSAGES="1", PERSIMCHAT_MODEL="offline", PERSIMCHAT_STORE="ephemeral"
    )  # what it starts is short
    try:
        place, (cell, *_) = write_experiment(tmp_path / "results")
        hold_cell(place, cell)
        run = httpx.post(f"{served.url}/api/runs", json={"topic": "Tea?"}, timeout=60).json()["run"]
        (tmp_path / "schemathesis.toml").write_text(KNOWN.format(run=run, cell=cell))
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{served.url}/api/openapi.json"]
        options = ["--max-examples=10", "--seed=7", "--phases=fuzzing", "--no-color", f"--exclude-checks={WITHOUT}"]
        done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    finally:
        served.close()
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
