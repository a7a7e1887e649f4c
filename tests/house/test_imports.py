"""Imports point one way: a room may import itself and the rooms to its left, and nothing else of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ORDER = ("state", "prompts", "models", "memory", "personas", "nodes", "graph", "runs", "evaluation", "app")
ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for room in ORDER for path in (ROOT / room).rglob("*.py"))


def imported(source: str, package: str) -> list[tuple[int, str]]:
    """Line and full name of all that a module imports, wherever in the file, relative imports resolved.

    Args:
        source: the module's text.
        package: the package that it is in, for example "persimchat.models".
    """
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return found


def wrong_way(source: str, package: str) -> list[str]:
    """The imports of a module that point to the right, or to the package's root (which imports all rooms)."""
    room = package.split(".")[1]
    allowed = ORDER[: ORDER.index(room) + 1]
    found = []
    for line, name in imported(source, package):
        parts = name.split(".")
        if parts[0] != "persimchat" or name == "persimchat.__version__":
            continue
        if len(parts) == 1 or (parts[1] not in allowed and not (room == "app" and parts[1] not in ORDER)):
            found.append(f"line {line}: {room} imports {name}")
    return found


def package_of(path: Path) -> str:
    return ".".join(["persimchat", *path.relative_to(ROOT).parent.parts])


def test_every_room_is_there():
    assert [room for room in ORDER if not (ROOT / room / "__init__.py").is_file()] == []
    assert len(FILES) > len(ORDER)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_left(path: Path):
    assert wrong_way(path.read_text(encoding="utf-8"), package_of(path)) == []


@pytest.mark.parametrize(
    ("source", "package", "wrong"),
    [
        ("from persimchat.state.mind import Mind", "persimchat.memory", 0),
        ("from persimchat.memory.store import x", "persimchat.memory", 0),
        ("from persimchat.nodes.emotion import feel", "persimchat.memory", 1),
        ("import persimchat.graph.routing as r", "persimchat.nodes", 1),
        ("def f():\n    from persimchat.app import cli", "persimchat.runs", 1),
        ("from ..app import cli", "persimchat.runs", 1),
        ("from .. import app", "persimchat.runs", 1),
        ("from .emotion import x", "persimchat.state", 0),
        ("from ...runs import x", "persimchat.models.offline", 1),
        ("from persimchat import simulate", "persimchat.runs", 1),
        ("from persimchat import simulate", "persimchat.app", 0),
        ("import persimchat", "persimchat.nodes", 1),
        ("from persimchat import __version__", "persimchat.runs", 0),
        ("import chromadb, numpy", "persimchat.state", 0),
    ],
)
def test_the_rule_itself(source: str, package: str, wrong: int):
    assert len(wrong_way(source, package)) == wrong


def test_retrieval_does_not_know_chroma():
    names = {
        name.split(".")[0] for _, name in imported((ROOT / "memory/retrieval.py").read_text(), "persimchat.memory")
    }
    assert names <= {"__future__", "collections", "dataclasses", "functools", "math", "typing", "numpy", "persimchat"}


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("persimchat.state.settings", ("chromadb", "langgraph", "langchain_openai", "openai", "nicegui")),
        ("persimchat.memory.retrieval", ("chromadb", "langchain_openai", "openai")),
        ("persimchat", ("chromadb", "langchain_openai", "openai", "langgraph", "langchain_core", "pydantic", "numpy")),
        ("persimchat", ("nicegui", "fastapi", "starlette", "uvicorn", "persimchat.app", "rich", "typer")),
        ("persimchat.runs.api", ("nicegui", "fastapi", "persimchat.app", "typer", "langchain_openai", "openai")),
    ],
)
def test_importing_stays_light(module: str, absent: tuple[str, ...]):
    """What a module does not need is not loaded with it: `import persimchat` must not cost seconds."""
    code = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "docs")
    assert done.stdout.strip() == "[]"
