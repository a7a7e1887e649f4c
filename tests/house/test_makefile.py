"""Set-up from nothing says what it lacks, and knows when it has to be renewed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from offenders import check_each

ROOT = Path(__file__).resolve().parents[2]
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def make(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run make as if from a fresh shell (not as a part of the make that may be running the tests)."""
    unset = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "VENV", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(["make", *arguments], cwd=cwd, env=environment, capture_output=True, text=True)


def test_targets_expand(tmp_path: Path) -> None:
    def check(target: str) -> None:
        done = make("--dry-run", target, f"VENV={tmp_path / 'venv'}")
        assert done.returncode == 0, done.stderr

    check_each(TARGETS, check)


def test_help_lists_the_targets():
    assert {"run", "test", "check", "proof", "lock", "dist", "docs", "benchmarks", "clean"} <= set(TARGETS)
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


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with the Makefile, and a virtual environment whose pip writes down how it was called."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text(encoding="utf-8"))
    for name in ("pyproject.toml", "requirements.lock"):
        (tmp_path / name).touch()
    program(tmp_path / "venv/bin/python", "exit 0")
    program(tmp_path / "venv/bin/pip", f'echo "pip $@" >> {tmp_path}/installs')
    program(tmp_path / "venv/bin/persimchat", "exit 0")
    program(tmp_path / "venv/bin/pytest", "exit 0")
    return tmp_path


def program(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def installed(folder: Path, target: str, uv: str = "/nowhere/uv") -> list[str]:
    """What `make target` installed: who was asked, and for what."""
    done = make(target, f"VENV={folder / 'venv'}", f"UV={uv}", cwd=folder)
    assert done.returncode == 0, done.stderr
    log = folder / "installs"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [f"{line.split()[0]} {line.split()[-1]}" for line in lines]


def test_running_needs_less_than_testing(bare: Path):
    assert installed(bare, "run") == ["pip setuptools", "pip ."]
    assert installed(bare, "run") == []
    assert installed(bare, "test") == ["pip setuptools", "pip .[dev]"]
    assert installed(bare, "run") == installed(bare, "test") == []
    (bare / "requirements.lock").touch()
    assert installed(bare, "test") == ["pip setuptools", "pip .[dev]"]
    assert installed(bare, "run") == []


def test_uv_is_used_where_it_is_and_pip_where_it_fails(bare: Path):
    program(bare / "uv", f'echo "uv $@" >> {bare}/installs')
    assert installed(bare, "run", str(bare / "uv")) == ["uv setuptools", "uv ."]
    program(bare / "uv", "echo this index is unknown >&2; exit 2")
    assert installed(bare, "test", str(bare / "uv")) == ["pip setuptools", "pip .[dev]"]
