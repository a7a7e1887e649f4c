"""A user without a home, as containers with a number for a user have, and a terminal without UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.proof

UNKNOWN = """
import pwd

def nobody(number):
    raise KeyError(f"getpwuid(): uid not found: {number}")

pwd.getpwuid = nobody
"""
COMMANDS = (
    ("run", "Tea?", "-n", "2", "--messages", "2", "--quiet"),
    ("resume", "latest", "--messages", "3", "--quiet"),
    ("branch", "latest", "--at", "1", "--quiet"),
    ("doctor",),
    ("models", "list"),
    ("models", "remove", "smollm2", "--yes"),
)


@pytest.fixture
def homeless(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose user has no home."""
    (tmp_path / "sitecustomize.py").write_text(UNKNOWN, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "PYTHONUTF8": "1",
    }


@pytest.mark.long
def test_every_command_does_without(homeless: dict[str, str], tmp_path: Path) -> None:
    for words in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "persimchat", *words],
            cwd=tmp_path, env=homeless, capture_output=True, text=True, timeout=200,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, (words, done.stderr[-2000:])
        assert done.returncode == (2 if "remove" in words else 0), (words, done.stderr)
    assert not (tmp_path / "persimchat-models").exists()


def test_the_server_does_without(homeless: dict[str, str], tmp_path: Path) -> None:
    serving = subprocess.Popen(
        [sys.executable, "-m", "persimchat", "serve", "--port", "0"],
        cwd=tmp_path, env=homeless, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert serving.stdout is not None
        url = serving.stdout.readline().split()[1].rstrip("/")
        for path in ("/", "/models", "/api/models", "/api/health"):
            assert httpx.get(f"{url}{path}", timeout=90).status_code == 200, path
    finally:
        serving.terminate()
        serving.wait(60)


READ_ONLY = """
for folder in /tmp /var/tmp /dev/shm; do  # what lies there, as this Python may, can be read on
  mount --bind "$folder" "$folder" && mount -o remount,ro,bind "$folder" || exit 99
done
mount --bind "$1" "$1" && mount -o remount,ro,bind / || exit 99
unset HOME
cd "$2" && shift 2 && exec "$@"
"""
"""A container with a read-only file system: one folder can be written, and another is begun in."""


@pytest.fixture
def beside() -> Iterator[Path]:
    """A folder that is not in /tmp."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        yield Path(folder)


@pytest.mark.long
def test_where_little_can_be_written(beside: Path) -> None:
    """As in a container with a read-only file system: one folder can be written, and no place for temporary files."""
    alone = ["unshare", "-m", "bash", "-c", READ_ONLY, "bash", str(beside)]
    program = [sys.executable, "-m", "persimchat"]
    started = [*alone, str(beside), *program]
    simulated = "import persimchat; persimchat.simulate('Tea?', model='offline', max_messages=1, participants=2)"
    for words in [[*program, *words] for words in COMMANDS[:4]] + [[sys.executable, "-c", simulated]]:
        done = subprocess.run([*alone, str(beside), *words], capture_output=True, text=True, timeout=200)
        if "unshare" in done.stderr or done.returncode == 99:
            pytest.skip("this user may not mount anything")
        assert done.returncode == 0, (words, done.stderr[-2000:])
        assert "Traceback" not in done.stderr
    nowhere = [*alone, "/dev/shm", *program, *COMMANDS[0], "--out", str(beside / "runs")]
    done = subprocess.run(nowhere, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    serving = subprocess.Popen([*started, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        address = next(word for line in serving.stdout for word in line.split() if word.startswith("http://"))
        assert httpx.get(address, timeout=60).status_code == 200
    finally:
        serving.terminate()
        serving.wait(60)


ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize(("folder", "topic", "code"), [("plain", "Tea?", 0), ("plain", "Té?", 2), ("ärger", "Tea?", 2)])
def test_a_terminal_without_utf_8(tmp_path: Path, folder: str, topic: str, code: int) -> None:
    """What it can do works; what it cannot is told in one sentence, with the remedy, which works."""
    (tmp_path / folder).mkdir()
    for ended, more in ((code, ASCII), (0, {"LC_ALL": "C.UTF-8"})):
        done = subprocess.run(
            [sys.executable, "-m", "persimchat", "run", topic, "-n", "2", "--messages", "1", "--model", "offline"],
            cwd=tmp_path / folder, env={**os.environ, **more}, capture_output=True, timeout=200,
        )  # fmt: skip
        told = done.stderr.decode()
        assert done.returncode == ended, told
        assert (told.count("\n") == 1 and "export LC_ALL=C.UTF-8" in told) == bool(ended), told
