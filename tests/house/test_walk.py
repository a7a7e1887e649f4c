"""docs/architecture.md walks through the code; every step of the walk names a function or class that is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
WALK = TEXT[TEXT.index("## A walk through the code") : TEXT.index("## Where to add what")]
HOP = re.compile(r"\[`([\w.]+)`\s+in\s+`([\w/]+\.py)`\]\(\.\./([\w/]+\.py)\)")
LINK = re.compile(r"\]\(([^)]*)\)")


def defined(source: str) -> set[str]:
    """The functions and classes of a module; those of a class as `Class.name`."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{part.name}" for part in inner}
    return found


def stale(walk: str, root: Path) -> list[str]:
    """The hops of a walk whose file is gone, is another one than the text says, or does not define the name."""
    wrong = []
    for name, shown, target in HOP.findall(walk):
        path = root / target
        if shown != target or not path.is_file() or name not in defined(path.read_text(encoding="utf-8")):
            wrong.append(f"{name} in {shown} ({target})")
    return wrong


def test_every_hop_is_in_the_code():
    assert stale(WALK, ROOT) == []


def test_every_link_is_a_hop():
    """A link of another form would not be looked at."""
    assert [link for link in LINK.findall(WALK) if link not in {f"../{hop[2]}" for hop in HOP.findall(WALK)}] == []
    assert len(LINK.findall(WALK)) == len(HOP.findall(WALK))


@pytest.mark.parametrize("part", ["### One utterance", "### One model call"])
def test_both_walks_are_there(part: str):
    hops = HOP.findall(WALK[WALK.index(part) :].partition("\n### ")[0])
    assert len(hops) >= 10


@pytest.mark.parametrize(
    ("hop", "wrong"),
    [
        ("[`speak` in `talk.py`](../talk.py)", []),
        ("[`Mouth.open` in\n   `talk.py`](../talk.py)", []),
        ("[`whisper` in `talk.py`](../talk.py)", ["whisper in talk.py (talk.py)"]),
        ("[`Mouth.shut` in `talk.py`](../talk.py)", ["Mouth.shut in talk.py (talk.py)"]),
        ("[`speak` in `gone.py`](../gone.py)", ["speak in gone.py (gone.py)"]),
        ("[`speak` in `mouth.py`](../talk.py)", ["speak in mouth.py (talk.py)"]),
    ],
)
def test_a_stale_hop_is_found(tmp_path: Path, hop: str, wrong: list[str]):
    (tmp_path / "talk.py").write_text(
        "async def speak(): ...\nclass Mouth:\n    def open(self): ...\n", encoding="utf-8"
    )
    assert stale(hop, tmp_path) == wrong
