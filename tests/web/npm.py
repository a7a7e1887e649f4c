"""What tests of the web app take from npm: installed once, into pytest's cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

_WANTED: Final = Path(__file__).with_name("package.json")
_LONGEST_S: Final = 120


def axe_core(config: pytest.Config) -> str:
    """The source of axe-core; the test is skipped where it is not there and cannot be fetched."""
    wanted = _WANTED.read_text(encoding="utf-8")
    version = json.loads(wanted)["devDependencies"]["axe-core"]
    assert config.cache is not None
    folder = config.cache.mkdir(f"axe-core-{version}")
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        _install(folder, wanted)
    return script.read_text(encoding="utf-8")


def _install(folder: Path, wanted: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    (folder / "package.json").write_text(wanted, encoding="utf-8")
    command = [npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        pytest.skip(f"axe-core could not be fetched from npm within {_LONGEST_S} seconds")
    if done.returncode:
        pytest.skip(f"axe-core could not be fetched from npm: {done.stderr[-300:]}")
