"""Imports point one way: a room may import itself and the rooms to its left, and nothing else of the package.

The areas of the page (app/web) and the parts of runs/ keep the same rule among themselves.
"""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rooms import ROOMS

AREAS = (
    "shared",
    "models",
    "panel",
    "personas",
    "setup",
    "chat",
    "past",
    "experiments",
    "api",
    "v1",
)
"""The areas of the page. Modules beside them serve all areas and stand left of them, but for those that join them."""
JOINING = ("addresses", "pages", "served_world", "serving")
PARTS = {
    "folder": ("folder", "events", "kinds", "log"),
    "run": ("run", "folder", "events", "control", "kinds", "log", "threads"),
    "companion": ("companion", "folder", "log", "threads"),
}
"""What the parts of runs/ may import of runs/: reports read folders, and never run anything."""
WEB = ("persimchat", "app", "web")
ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


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
    allowed = ROOMS[: ROOMS.index(room) + 1]
    found = []
    for line, name in imported(source, package):
        parts = name.split(".")
        if parts[0] != "persimchat" or name == "persimchat.__version__":
            continue
        if len(parts) == 1 or (parts[1] not in allowed and not (room == "app" and parts[1] not in ROOMS)):
            found.append(f"line {line}: {room} imports {name}")
    return found


def areas_wrong_way(source: str, module: str) -> list[str]:
    """The imports of a module of the page that point from its area to the right.

    Args:
        source: the module's text.
        module: its name within the page, for example "chat.lines" or "board".
    """
    area, _, rest = module.partition(".")
    if area in JOINING:
        return []
    package = ".".join((*WEB, area) if rest else WEB)
    allowed = AREAS[: AREAS.index(area) + 1] if rest else ()
    found = []
    for line, name in imported(source, package):
        parts = tuple(name.split("."))
        to = parts[3] if parts[:3] == WEB and len(parts) > 3 else ""
        if (to in AREAS and to not in allowed) or to in JOINING:
            found.append(f"line {line}: {area} imports {name}")
    return found


def parts_wrong_way(source: str, part: str) -> list[str]:
    """The imports of a module of runs/ that point from its part (folder, run, reports) to one that it must not know."""
    found = []
    for line, name in imported(source, f"persimchat.runs.{part}"):
        parts = name.split(".")
        if parts[:2] == ["persimchat", "runs"] and len(parts) > 2 and parts[2] not in PARTS[part]:
            found.append(f"line {line}: {part} imports {name}")
    return found


def package_of(path: Path) -> str:
    return ".".join(["persimchat", *path.relative_to(ROOT).parent.parts])


def test_every_room_is_there():
    assert [room for room in ROOMS if not (ROOT / room / "__init__.py").is_file()] == []
    assert len(FILES) > len(ROOMS)


def test_imports_point_left():
    found = {str(path): wrong_way(path.read_text(encoding="utf-8"), package_of(path)) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_every_area_is_known():
    web = ROOT / "app" / "web"
    assert {path.parent.name for path in web.glob("*/__init__.py")} == set(AREAS)
    assert [name for name in JOINING if not (web / f"{name}.py").is_file()] == []


def test_areas_of_the_page_point_left():
    web = ROOT / "app" / "web"
    modules = {".".join(path.relative_to(web).with_suffix("").parts): path for path in web.rglob("*.py")}
    found = {module: areas_wrong_way(path.read_text(encoding="utf-8"), module) for module, path in modules.items()}
    assert {module: lines for module, lines in found.items() if lines} == {}


def test_parts_of_runs_point_left():
    runs = ROOT / "runs"
    assert {path.parent.name for path in runs.glob("*/__init__.py")} == set(PARTS)
    modules = [path for part in PARTS for path in (runs / part).glob("*.py")]
    found = {str(path): parts_wrong_way(path.read_text(encoding="utf-8"), path.parent.name) for path in modules}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert parts_wrong_way("from persimchat.runs.run.resume import x", "folder") != []


@pytest.mark.parametrize(
    ("source", "module", "wrong"),
    [
        ("from persimchat.app.web.chat.lines import put_in", "past.compare_page", 0),
        ("from persimchat.app.web.past.actions import x", "chat.composer", 1),
        ("from persimchat.app.web.past import actions", "setup.new_page", 1),
        ("from persimchat.app.web import past", "setup.new_page", 1),
        ("from ..chat import lines", "panel.tiles", 1),
        ("from .figures import x", "panel.tiles", 0),
        ("from persimchat.app.web.shared.formats import x", "panel.cards", 0),
        ("from persimchat.app.web.board import Board", "shared.runs", 0),
        ("from persimchat.app.web.shared.formats import x", "board", 1),
        ("from persimchat.app.web.pages import register", "past.actions", 1),
        ("from persimchat.app.web.past.actions import x", "pages", 0),
    ],
)
def test_the_rule_of_areas_itself(source: str, module: str, wrong: int):
    assert len(areas_wrong_way(source, module)) == wrong


@pytest.mark.parametrize(
    ("source", "package", "wrong"),
    [
        ("from persimchat.state.minds.mind import Mind", "persimchat.memory", 0),
        ("from persimchat.memory.store import x", "persimchat.memory", 0),
        ("from persimchat.nodes.minds.appraising import feel", "persimchat.memory", 1),
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


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, directly or around: the graph's cyclic components, sorted."""
    order = graphlib.TopologicalSorter(imports)
    try:
        order.prepare()
    except graphlib.CycleError as error:
        around = error.args[1][:-1]
        rest = {one: {to for to in found if {one, to} - set(around)} for one, found in imports.items()}
        return sorted([sorted(around), *circles(rest)])
    return []


def test_no_circles_inside_rooms():
    """Imports within functions and for type checkers count: two modules that know each other are one thought."""
    modules = {".".join(["persimchat", *path.relative_to(ROOT).with_suffix("").parts]): path for path in FILES}
    imports = {}
    for module, path in modules.items():
        names = {name for _, name in imported(path.read_text(encoding="utf-8"), package_of(path))}
        found = {name if name in modules else name.rpartition(".")[0] for name in names}
        imports[module] = {name for name in found if name in modules and name != module}
    assert circles(imports) == []


def test_the_rule_of_circles_itself():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"d"}}) == [["a", "b", "c"], ["d", "e"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_imports_inside_the_package_are_relative():
    """`graph/studio.py` is loaded by its path, where nothing is relative; a docstring's example is no import."""
    found = {
        str(path): absolute
        for path in FILES
        if path != ROOT / "graph" / "studio.py"
        and (
            absolute := [
                node.lineno
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").startswith("persimchat")
            ]
        )
    }
    assert found == {}


def test_retrieval_does_not_know_chroma():
    names = {
        name.split(".")[0] for _, name in imported((ROOT / "memory/retrieval.py").read_text(), "persimchat.memory")
    }
    assert names <= {"__future__", "collections", "dataclasses", "functools", "math", "typing", "numpy", "persimchat"}


def test_scipy_is_used_for_statistics_alone():
    """All tests and intervals are in one place; and what needs the extra `evaluation` is found by that place."""
    using = {path.parent.relative_to(ROOT).as_posix() for path in FILES if uses(path.read_text("utf-8"), "scipy")}
    assert using == {"evaluation/statistics"}


def uses(source: str, library: str) -> bool:
    """Whether a module imports a library, or names it or a part of it in text as `import_module` takes it."""
    if library not in source:
        return False
    named = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    names = [*(name for _, name in imported(source, "persimchat.any")), *(n for n in named if isinstance(n, str))]
    return any(re.fullmatch(rf"{library}(?:\.\w+)*", name) for name in names)


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("import scipy", True),
        ("def f():\n    from scipy.stats import t", True),
        ("module = import_module('scipy.stats')", True),
        ("import scipyx", False),
        ('"""What scipy.stats does."""', False),
        ("from persimchat.evaluation.statistics.intervals import stats", False),
    ],
)
def test_the_rule_of_libraries_itself(source: str, used: bool):
    assert uses(source, "scipy") == used


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("persimchat.state.settings", ("chromadb", "langgraph", "langchain_openai", "openai", "nicegui")),
        ("persimchat.memory.retrieval", ("chromadb", "langchain_openai", "openai")),
        ("persimchat", ("chromadb", "langchain_openai", "openai", "langgraph", "langchain_core", "pydantic", "numpy")),
        ("persimchat", ("nicegui", "fastapi", "starlette", "uvicorn", "persimchat.app", "rich", "typer")),
        ("persimchat.evaluation.statistics.effects", ("scipy",)),
        ("persimchat.reports.estimate", ("persimchat.models.offline",)),
        pytest.param("persimchat.app.web.serving", ("chromadb", "langchain_openai", "openai"), marks=pytest.mark.proof),
        ("persimchat.runs.api", ("nicegui", "fastapi", "persimchat.app", "typer", "langchain_openai", "openai")),
    ],
)
def test_importing_stays_light(module: str, absent: tuple[str, ...]):
    """What a module does not need is not loaded with it: `import persimchat` must not cost seconds."""
    code = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "docs")
    assert done.stdout.strip() == "[]"
