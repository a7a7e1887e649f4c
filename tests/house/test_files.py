"""Every file keeps to the house's rules of size and finish."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("state", "prompts", "models", "memory", "personas", "nodes", "graph", "runs", "app", "src")
CODE = sorted(path for folder in (*ROOMS, "tools", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
PACKAGE = [path for path in CODE if path.relative_to(ROOT).parts[0] in ROOMS]
MAX_LINES = 400
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError\s*$|^\s*\.\.\.\s*$", re.MULTILINE)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", CODE, ids=name)
def test_files_are_short(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", PACKAGE, ids=name)
def test_nothing_is_left_unfinished(path: Path):
    assert UNFINISHED.findall(path.read_text(encoding="utf-8")) == []


def test_every_package_folder_is_packaged(root: Path):
    """A folder with modules that pyproject.toml does not list would be missing from the wheel."""
    listed = (root / "pyproject.toml").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(root) for path in PACKAGE} - {Path("src/persimchat")}
    missing = [str(f) for f in folders if f'"persimchat.{".".join(f.parts)}"' not in listed]
    assert missing == []
