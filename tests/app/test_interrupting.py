"""Ctrl-C, signals and readers that go away: the run stops in good order."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.server import LoopbackServer
from run_files import read_records, run_json

pytestmark = pytest.mark.proof

Serve = Callable[..., LoopbackServer]
LONG = ("run", "Tea?", "-n", "3", "--messages", "500", "--out", "o")


def stopped_run(run: Path) -> int:
    """Check that a run was stopped in good order; the number of its utterances."""
    manifest = run_json(run)
    assert manifest["stop_reason"] == "stopped"
    assert manifest["ended"]
    text = (run / "transcript.jsonl").read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n")
    turns = [json.loads(line)["turn"] for line in text.splitlines()]
    assert turns == list(range(1, len(turns) + 1))
    assert manifest["turn"] == len(turns)
    assert "stopped before its end" in (run / "transcript.md").read_text(encoding="utf-8")
    assert all(read_records(run / "minds.jsonl"))
    return len(turns)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_middle(
    number: signal.Signals, process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--model", serve(delay_s=0.02, token_delay_s=0.02).model())
    while not (line := child.stdout.readline()).startswith(("Jarmila", "Ad", "In")):
        assert line, child.stderr.read()
    child.send_signal(number)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert err == "persimchat: interrupted\n"
    assert "# Ended: it was stopped before its end, after " in out
    assert stopped_run(only_run(tmp_path / "o")) >= 1


def test_json_ends_with_stopped(
    process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--json", "--model", serve(delay_s=0.02).model())
    while '"event": "turn_ended"' not in (line := child.stdout.readline()):
        assert line, child.stderr.read()
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert child.returncode == 130
    last = json.loads(out.splitlines()[-1])
    assert (last["event"], last["reason"]) == ("stopped", "stopped")
    assert last["totals"]["calls"] > 0
    assert stopped_run(only_run(tmp_path / "o")) == last["turn"]


def test_a_reader_that_goes_away(
    process: Callable[..., Any], serve: Serve, only_run: Callable[[Path], Path], tmp_path: Path
):
    child = process(*LONG, "--model", serve().model())
    assert child.stdout.readline() == "# Topic: Tea?\n"
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(timeout=20)
    assert child.returncode == 130
    assert err == ""
    stopped_run(only_run(tmp_path / "o"))


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("personas", "list"), ("graph",)])
def test_output_that_nobody_reads(arguments: tuple[str, ...], process: Callable[..., Any]):
    reader, writer = os.pipe()
    os.close(reader)
    child = process(*arguments, stdout=writer)
    os.close(writer)
    _, err = child.communicate(timeout=20)
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert child.returncode == 130


def test_a_full_disk_is_no_traceback(finished: Callable[..., Any], serve: Serve):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = finished("run", "Tea?", "-n", "2", "--messages", "1", "--model", serve().model(), stdout=full)
    assert done.code == 4
    assert "No space left on device" in done.error
