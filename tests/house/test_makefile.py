"""Set-up from nothing says what it lacks, and knows when it has to be renewed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def make(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run make as if from a fresh shell (not as a part of the make that may be running the tests)."""
    unset = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "VENV", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(["make", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("target", TARGETS)
def test_targets_expand(target: str, tmp_path: Path):
    done = make("--dry-run", target, f"VENV={tmp_path / 'venv'}")
    assert done.returncode == 0, done.stderr


def test_help_lists_the_targets():
    assert {"run", "test", "check", "quick", "lock", "dist", "docs", "benchmarks", "clean"} <= set(TARGETS)
    shown = make().stdout
    assert [target for target in TARGETS if f"make {target} " not in shown] == []


@pytest.mark.parametrize("version", ["Python 3.9.2", ""])
def test_an_old_or_missing_python_is_named(tmp_path: Path, version: str):
    python = tmp_path / "python3"
    if version:
        python.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit 0\nexit 1\n')
        python.chmod(0o755)
    done = make("setup", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert version in done.stderr
    assert not (tmp_path / "venv").exists()


def test_a_new_file_renews_the_editable_install(tmp_path: Path):
    """A strict editable install links files one by one: without renewal mypy would not see a new one."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"))
    for room in ("state", "prompts", "models", "memory", "personas", "nodes", "graph", "runs", "app", "src/persimchat"):
        (tmp_path / room).mkdir(parents=True)
    for name in ("pyproject.toml", "requirements.lock"):
        (tmp_path / name).touch()
    venv = tmp_path / "venv"
    pip = venv / "bin/pip"
    pip.parent.mkdir(parents=True)
    pip.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/installs\n')
    pip.chmod(0o755)
    (venv / ".dependencies").touch()

    def installs() -> int:
        done = make("setup", f"VENV={venv}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return len((tmp_path / "installs").read_text().splitlines())

    assert installs() == 1
    assert installs() == 1
    (tmp_path / "state/emotion.py").touch()
    assert installs() == 2
    (tmp_path / "state/emotion.py").unlink()
    assert installs() == 3
    assert installs() == 3
