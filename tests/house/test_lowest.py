"""Every requirement says which versions it takes, the same everywhere; and a bound that nobody tried is named."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.version import Version


@pytest.fixture(scope="module")
def lowest(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("lowest", root / "tools/lowest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_every_requirement_has_one_lower_bound(lowest: ModuleType, project: dict[str, Any]):
    found = lowest.bounds(project)
    assert {"chromadb", "langgraph", "pydantic", "pytest"} <= set(found)
    assert {name: least for name, least in found.items() if len(least) > 1} == {}


def test_all_that_an_extra_brings_is_tried(lowest: ModuleType, project: dict[str, Any]):
    """The environment has the extra `dev` alone, so what other extras name has to be in it."""
    extras = project["optional-dependencies"]
    own = lowest.bounds({"dependencies": project["dependencies"], "optional-dependencies": {"dev": extras["dev"]}})
    assert set(lowest.bounds(project)) == set(own)


def test_a_bound_that_was_not_tried_is_named(lowest: ModuleType):
    table = {"dependencies": ["Numpy>=2.0", "rich>=14.0,<15", "typer>=0.20"], "optional-dependencies": {}}
    pins = lowest.pinned(["# by uv", "", "numpy==2.0.0 ; sys_platform == 'linux'", "rich==14.1.0"])
    assert pins == {"numpy": Version("2"), "rich": Version("14.1")}
    left = lowest.untried(table, pins)
    assert [line.split(":")[0] for line in left] == ["rich>=14.0", "typer>=0.20"]
    assert "14.1.0" in left[0]
    assert "none" in left[1]


def test_a_requirement_without_a_bound_is_refused(lowest: ModuleType):
    with pytest.raises(ValueError, match="rich<15 has no lower bound"):
        lowest.bounds({"dependencies": ["rich<15"], "optional-dependencies": {}})


def test_the_chosen_tests_are_there(lowest: ModuleType, root: Path):
    assert [path for path in lowest.TESTS if not (root / path).exists()] == []
