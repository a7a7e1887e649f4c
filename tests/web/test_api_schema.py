"""The REST API keeps to its own description: schemathesis sends it what fits and what does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from web.conftest import Server


@pytest.mark.slow
def test_it_keeps_to_its_description(tmp_path: Path):
    served = Server(
        tmp_path, PERSIMCHAT_MAX_MESSAGES="1", PERSIMCHAT_MODEL="offline", PERSIMCHAT_STORE="ephemeral"
    )  # what it starts is short
    try:
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{served.url}/api/openapi.json"]
        options = ["--max-examples=6", "--seed=7", "--phases=examples,coverage,fuzzing", "--no-color", "--workers=1"]
        done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    finally:
        served.close()
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
