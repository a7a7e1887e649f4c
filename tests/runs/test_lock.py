"""One process works on a run, and a killed one holds nothing: with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from persimchat.runs.folder.lock import LOCK, PID, check_free, held, holder, is_held

HOLDS = """
import sys
from pathlib import Path
from persimchat.runs.folder.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(folder: Path) -> subprocess.Popen[str]:
    """A process that holds a run until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def enter(folder: Path) -> None:
    with held(folder):
        pass


def test_another_process_is_refused_and_told_by_whom(tmp_path: Path, refused: Callable[..., str]) -> None:
    process = holding(tmp_path)
    try:
        assert is_held(tmp_path)
        assert holder(tmp_path) == process.pid
        refused(lambda: enter(tmp_path), f"process {process.pid}", str(tmp_path))
        refused(lambda: check_free(tmp_path), f"process {process.pid}")
    finally:
        process.communicate()
    assert not is_held(tmp_path)
    enter(tmp_path)


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    process = holding(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (tmp_path / PID).read_text() == f"{process.pid}\n"  # it could not tidy up
    assert holder(tmp_path) is None
    with held(tmp_path):
        assert holder(tmp_path) == os.getpid()
    assert not (tmp_path / PID).exists()


def test_a_second_holder_in_this_process_is_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    with held(tmp_path):
        refused(lambda: enter(tmp_path), "this process")
        assert is_held(tmp_path)  # the refused one has taken nothing away
    enter(tmp_path)


def test_a_failing_body_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), held(tmp_path):
        raise RuntimeError
    assert not is_held(tmp_path)


def test_looking_makes_no_files(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("noted", ["", "12x", "\x00", "-"])
def test_a_damaged_note_is_no_obstacle(tmp_path: Path, noted: str, refused: Callable[..., str]) -> None:
    with held(tmp_path):
        (tmp_path / PID).write_text(noted)
        assert is_held(tmp_path)
        assert holder(tmp_path) is None
        refused(lambda: enter(tmp_path), "another process")


def test_a_folder_that_is_not_there(tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "file").write_text("")
    refused(lambda: enter(tmp_path / "file"), "cannot be locked")
    assert LOCK not in {path.name for path in tmp_path.iterdir()}
