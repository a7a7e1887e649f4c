"""The lock file pins what pyproject.toml asks for, says nothing of where it came from, and pip can use it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NOT_PINNED = {"minilm", "pruning-torch"}
"""Extras left out of the lock: these bring PyTorch."""


@pytest.fixture
def pins(root: Path) -> list[Requirement]:
    lines = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line.strip() and not line.lstrip().startswith("#")]


def test_every_line_is_a_plain_pin(pins: list[Requirement]):
    assert len(pins) > 50
    for pin in pins:
        assert [s.operator for s in pin.specifier] == ["=="], pin
        assert not pin.extras, f"pip refuses extras in constraints: {pin}"
        assert pin.url is None, pin


def test_no_address_is_written_down(root: Path):
    assert re.findall(r"https?:|file:|//|--index|--find-links", (root / "requirements.lock").read_text()) == []


def test_what_is_asked_for_is_pinned_within_its_bounds(root: Path, pins: list[Requirement]):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"]]
    for extra, requirements in project["optional-dependencies"].items():
        asked += [] if extra in NOT_PINNED else requirements
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        versions = [next(iter(p.specifier)).version for p in pins if canonicalize_name(p.name) == name]
        assert versions, f"{name} is not in requirements.lock; run: make lock"
        assert all(requirement.specifier.contains(v, prereleases=True) for v in versions), (requirement, versions)
