"""Tools that read the code find the package in a fresh clone in which nothing is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYRIGHT = "pyright@1.1.414"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, a virtual environment with nothing in it, and a module that uses what a room defines."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: there is no .git")
    folder = tmp_path_factory.mktemp("clone") / "persimchat"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True)
    (folder / "src" / "probe.py").write_text(
        "from persimchat.graph.routing import draw\n"
        "from persimchat.state.emotion import nothing_there\n"
        "reveal_type(draw)\n"
    )
    return folder


def test_a_clone_keeps_the_links(clone: Path):
    assert (clone / "src/persimchat/graph").is_symlink()
    assert (clone / "src/persimchat/graph/routing.py").samefile(clone / "graph/routing.py")


@pytest.mark.proof
def test_mypy_finds_the_rooms(clone: Path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", ".venv/bin/python", "--follow-imports", "silent"]
        + ["src/probe.py"],
        cwd=clone,
        capture_output=True,
        text=True,
    )
    found(done.stdout)


@pytest.mark.proof
def test_pyright_finds_the_rooms(clone: Path, tmp_path: Path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, by which pyright comes")
    got = subprocess.run(
        [npm, "install", "--silent", "--prefix", str(tmp_path), PYRIGHT], capture_output=True, text=True, timeout=240
    )
    if got.returncode:
        pytest.skip(f"npm could not get {PYRIGHT}: {got.stderr[-200:]}")
    done = subprocess.run(
        [str(tmp_path / "node_modules/.bin/pyright"), "--pythonpath", ".venv/bin/python", "src/probe.py"],
        cwd=clone,
        capture_output=True,
        text=True,
    )
    found(done.stdout)


def found(output: str) -> None:
    """The function's signature is known; of the package, what does not exist is the one thing not found."""
    shown = output.replace('"', "")
    assert "probe.py:3" in shown and "purpose: str" in shown, output
    assert "nothing_there" in shown
    assert not [line for line in shown.splitlines() if "persimchat.graph" in line and "resolved" in line], output
