"""Test the lower bounds of pyproject.toml: a fresh virtual environment with the oldest versions they allow.

Run: `make lowest`, or `python tools/lowest.py [--uv uv] [--python python3] [-- arguments for pytest]`. It needs uv and
a package index. Every package that pyproject.toml names gets the oldest version that fits; their own requirements get
the newest. The package is built and installed as a wheel, and the fast tests of the rooms run against it.

A bound below the oldest version that could be installed is untested: it is named, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
NOT_TRIED = {"minilm", "pruning-torch"}
"""Extras left out: these bring PyTorch."""
HELD_BACK = ("kubernetes<36",)
"""Required by Chroma, unused by our code. Its newest version asks for newer pydantic and PyYAML than we do."""
TESTS = (
    "tests/state",
    "tests/prompts",
    "tests/models",
    "tests/memory",
    "tests/personas",
    "tests/nodes",
    "tests/graph",
    "tests/runs/test_run_folder.py",
    "tests/runs/test_checkpoints.py",
    "tests/runs/test_resume.py",
    "tests/runs/test_branch.py",
    "tests/runs/test_export.py",
    "tests/evaluation",
    "tests/experiments",
    "tests/app/test_command_line.py",
    "tests/app/test_running.py",
)


def bounds(project: dict[str, Any]) -> dict[str, set[Version]]:
    """The lower bounds of all requirements in a project's table, extras included, by the package's normalised name.

    Raises:
        ValueError: a requirement has no lower bound.
    """
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(text for extra in extras if extra not in NOT_TRIED for text in extras[extra])]
    found: dict[str, set[Version]] = {}
    for requirement in map(Requirement, named):
        least = [Version(part.version) for part in requirement.specifier if part.operator == ">="]
        if not least:
            raise ValueError(f"{requirement} has no lower bound")
        found.setdefault(canonicalize_name(requirement.name), set()).add(max(least))
    return found


def pinned(lines: Iterable[str]) -> dict[str, Version]:
    """Versions by normalised name, from lines `name==version`; comments and empty lines are ignored."""
    asked = [Requirement(line) for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return {canonicalize_name(each.name): Version(next(iter(each.specifier)).version) for each in asked}


def untried(project: dict[str, Any], pins: dict[str, Version]) -> list[str]:
    """One line for every lower bound that differs from the installed version."""
    return [
        f"{name}>={bound}: the oldest that could be installed is {pins.get(name, 'none')}"
        for name, least in sorted(bounds(project).items())
        for bound in sorted(least)
        if pins.get(name) != bound
    ]


def main() -> int:
    """Resolve, install, test.

    Returns:
        0 when all bounds were tried and the tests pass.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uv", default="uv", help="the program uv")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environment")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "lowest", help="made anew every time")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    listed, held, python = folder / "lowest.txt", folder / "held_back.txt", folder / "venv" / "bin" / "python"
    held.write_text("".join(f"{line}\n" for line in HELD_BACK), encoding="utf-8")

    def uv(*arguments: str | Path) -> None:
        subprocess.run([given.uv, *arguments, "--quiet"], check=True, cwd=ROOT)

    uv("venv", "--python", given.python, folder / "venv")
    uv(
        *("pip", "compile", "pyproject.toml", "--extra", "dev", "--resolution", "lowest-direct"),
        *("--constraint", held, "--python", python, "--no-annotate", "--no-header", "--output-file", listed),
    )
    uv("pip", "sync", "--python", python, listed)
    uv("build", "--no-build-isolation", "--python", python, "--out-dir", folder / "dist")
    uv("pip", "install", "--python", python, "--no-deps", *(folder / "dist").glob("*.whl"))

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left = untried(project, pinned(listed.read_text(encoding="utf-8").splitlines()))
    for line in left:
        print(f"not tried: {line}", file=sys.stderr)
    cache = ("-p", "no:cacheprovider", "-m", "not proof and not real")
    tested = subprocess.run([folder / "venv" / "bin" / "pytest", "-q", *cache, *given.pytest, *TESTS], cwd=ROOT)
    return int(bool(left)) or tested.returncode


if __name__ == "__main__":
    sys.exit(main())
