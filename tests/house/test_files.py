"""Every file keeps to the house's rules of size and finish."""

from __future__ import annotations

import re
from pathlib import Path

from rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (*ROOMS, "src")
CODE = sorted(path for folder in (*FOLDERS, "tools", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
PACKAGE = [path for path in CODE if path.relative_to(ROOT).parts[0] in FOLDERS]
MAX_LINES = 600
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|raise NotImplementedError\s*$|^\s*\.\.\.\s*$", re.MULTILINE)


TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in CODE}


def test_files_are_short():
    assert {name: lines for name, text in TEXTS.items() if (lines := len(text.splitlines())) > MAX_LINES} == {}


def test_nothing_is_left_unfinished():
    found = {str(path.relative_to(ROOT)): UNFINISHED.findall(path.read_text(encoding="utf-8")) for path in PACKAGE}
    assert {name: words for name, words in found.items() if words} == {}


def test_every_room_is_linked_into_the_package(root: Path):
    links = {path.name: path.readlink() for path in (root / "src/persimchat").iterdir() if path.is_symlink()}
    assert links == {name: Path("../..") / name for name in (*ROOMS, "__init__.py", "__main__.py", "py.typed")}


def test_every_folder_of_modules_is_a_package():
    """A folder without `__init__.py` would be missing from the wheel."""
    folders = {path.parent for path in PACKAGE} - {ROOT / "src"}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []
