"""Python with a package installed beside this one, as users have it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Persimchat = Callable[..., subprocess.CompletedProcess[str]]


def path_with(site: Path) -> str:
    """The environment's PYTHONPATH, with the folder in which a package is installed."""
    return os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))


def register(site: Path, name: str, points: str) -> None:
    """Write what an installed package says of itself: its entry points, as in entry_points.txt."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def persimchat_with(site: Path, folder: Path) -> Persimchat:
    """Run Python in a folder; `installed=False` leaves the package out.

    Args:
        site: where the package is installed.
        folder: where Python runs.
    """
    path = path_with(site)

    def run(*arguments: str, code: int = 0, installed: bool = True) -> subprocess.CompletedProcess[str]:
        made = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **({"PYTHONPATH": path} if installed else {}), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == code, made.stderr
        return made

    return run
