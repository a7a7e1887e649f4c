"""The server as a whole, in a process of its own: how it stops while somebody follows a run."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest
from run_files import run_json
from web.conftest import Server


@pytest.mark.proof
def test_ctrl_c_stops_runs_at_once_and_quietly(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    server = Server(tmp_path, "--out", "runs")
    wanted = {"topic": "Tea or coffee?", "settings": {"model": "offline", "max_messages": 500, "closing": "off"}}
    run = httpx.post(f"{server.url}/api/runs", json=wanted, timeout=60).json()["run"]
    with httpx.stream("GET", f"{server.url}/api/runs/{run}/events", timeout=60) as response:
        lines = response.iter_lines()
        assert next(line for line in lines if line == "event: utterance")
        server.process.send_signal(signal.SIGINT)
        events = [line for line in lines if line.startswith("event: ")]
    assert events[-1] == "event: stopped"  # whoever follows it is told, and waits for nothing else
    assert server.process.wait(60) == 0
    assert capfd.readouterr().err == ""  # the server's own
    record = run_json(tmp_path / "runs" / run)
    assert record["stop_reason"] == "stopped"
