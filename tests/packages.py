"""Python with a package installed beside this one, as users have it: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Persimchat = Callable[..., subprocess.CompletedProcess[str]]


def persimchat_with(site: Path, folder: Path) -> Persimchat:
    """Run Python in a folder; `installed=False` leaves the package out.

    Args:
        site: where the package is installed.
        folder: where Python runs.
    """
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))

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
